import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.errors import StateError, UsageError
from nanobench.github.actions import (
    ANNOTATIONS,
    SUMMARY_BYTES,
    Annotation,
    annotation_lines,
    mask_lines,
    secrets_in,
    summary_room,
    write_outputs,
    write_summary,
)


def read_outputs(path: Path) -> dict[str, str]:
    """As the runner does: a value ends at the line that is its delimiter."""
    found, rest = {}, path.read_text()
    while rest:
        name, delimiter, rest = re.fullmatch(r"(.*?)<<(\S+)\n(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]
        value, _, rest = rest.partition(f"\n{delimiter}\n")
        found[name] = value
    return found


def test_a_value_cannot_end_itself_and_name_another_output(tmp_path: Path) -> None:
    file = tmp_path / "output"
    evil = "one\nnb-00\nEOF\nverdict<<EOF\nfine\nEOF"
    write_outputs({"GITHUB_OUTPUT": str(file)}, {"told": evil, "verdict": "regression"})
    assert read_outputs(file) == {"told": evil, "verdict": "regression"}
    delimiters = re.findall(r"<<(nb-\w{32})$", file.read_text(), re.MULTILINE)
    assert len(set(delimiters)) == 2


def test_outputs_are_appended_and_lacking_actions_none_are_written(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("before<<x\n1\nx\n")
    write_outputs({"GITHUB_OUTPUT": str(file)}, {"after": "2"})
    write_outputs({}, {"nowhere": "3"})
    assert read_outputs(file) == {"before": "1", "after": "2"}


@pytest.mark.parametrize("sign", ["x", "\N{GRINNING FACE}"])
def test_outputs_beyond_what_a_job_hands_on_are_refused_by_size_in_utf_16(
    tmp_path: Path, sign: str
) -> None:
    file, most = tmp_path / "output", 1024 * 1024 // (2 if sign == "x" else 4)
    with pytest.raises(UsageError, match="1,048,576"):
        write_outputs({"GITHUB_OUTPUT": str(file)}, {"matrix": sign * most})
    assert not file.exists()
    write_outputs({"GITHUB_OUTPUT": str(file)}, {"matrix": sign * (most - 20)})


def test_a_file_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="cannot write"):
        write_outputs({"GITHUB_OUTPUT": str(tmp_path)}, {"a": "b"})


def test_the_room_of_a_summary_shrinks_with_what_is_there(tmp_path: Path) -> None:
    environ = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    assert summary_room(environ) == SUMMARY_BYTES
    assert write_summary(environ, "é")
    assert summary_room(environ) == SUMMARY_BYTES - 3
    assert not write_summary({}, "lost")


def test_signs_that_end_a_command_or_a_property_are_escaped() -> None:
    note = Annotation("error", "50%: a,b", "first\nsecond::error::%0A", "tasks/a,b:c.json")
    (line,) = annotation_lines([note])
    assert line == (
        "::error file=tasks/a%2Cb%3Ac.json,title=50%25%3A a%2Cb::first second::error::%250A"
    )


@given(st.text(), st.text(), st.none() | st.text(min_size=1))
def test_an_annotation_is_one_command_whatever_it_tells(
    title: str, message: str, file: str | None
) -> None:
    (line,) = annotation_lines([Annotation("warning", title, message, file)])
    assert len(line.splitlines()) <= 1 or "\n" not in line
    assert "\n" not in line
    assert "\r" not in line
    properties = line.removeprefix("::warning ").partition("::")[0]
    assert {part.partition("=")[0] for part in properties.split(",") if part} <= {"file", "title"}


def test_no_more_of_a_level_than_github_shows() -> None:
    notes = [Annotation("warning", str(n), "") for n in range(30)]
    notes += [Annotation("error", "last", "")]
    lines = list(annotation_lines(notes))
    assert len(lines) == ANNOTATIONS + 1
    assert lines[-1].startswith("::error")


def test_keys_in_a_provider_configuration_are_masked_line_by_line() -> None:
    document = json.loads(
        '{"nanocoder": {"providers": [{"name": "acme", "apiKey": "s3cret\\nline%two",'
        ' "baseUrl": "https://a.example",'
        ' "headers": {"Authorization": ["Bearer t0ken", "Bearer a-long-key"]}}]}}'
    )
    assert list(mask_lines(secrets_in(document))) == [
        "::add-mask::s3cret",
        "::add-mask::line%25two",
        "::add-mask::Bearer t0ken",
        "::add-mask::Bearer a-long-key",
        "::add-mask::a-long-key",
    ]
