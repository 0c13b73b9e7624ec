import json
import os
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent import report_file
from nanobench.agent.report_file import read_bounded, read_report

REPORT: dict[str, Any] = {
    "kind": "success",
    "exitCode": 0,
    "finalText": "done",
    "reasoning": None,
    "toolCalls": [],
    "filesChanged": [],
}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pretty(**changes: Any) -> str:
    return json.dumps({**REPORT, **changes}, indent=2, ensure_ascii=False) + "\n"


def test_a_plain_report_is_complete_with_nothing_beside_it(tmp_path: Path) -> None:
    text = pretty(finalText="é")
    found = read_report(write(tmp_path / "r", text))
    assert (found.state, found.size, found.trailing) == ("complete", len(text.encode()), 0)
    assert found.report is not None
    assert found.report.final_text == "é"


def test_log_lines_around_the_report_are_counted_in_bytes(tmp_path: Path) -> None:
    before, after = "AI SDK é {\n  model: 'm',\n}\n{ not: json }\n", "Shutting down é\n"
    found = read_report(write(tmp_path / "r", before + pretty() + after))
    assert found.state == "complete"
    assert found.trailing == len((before + after).encode())


def test_an_object_without_a_kind_is_a_log_line(tmp_path: Path) -> None:
    found = read_report(write(tmp_path / "r", '{"level": 30}\n' + pretty()))
    assert found.state == "complete"
    assert found.trailing == len('{"level": 30}\n')


@pytest.mark.parametrize("content", ["", "\n", "  \n\n"])
def test_nothing_on_stdout_is_missing(tmp_path: Path, content: str) -> None:
    assert read_report(write(tmp_path / "r", content)).state == "missing"


def test_a_file_that_does_not_exist_is_missing(tmp_path: Path) -> None:
    found = read_report(tmp_path / "r")
    assert (found.state, found.size) == ("missing", 0)


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_report_cut_at_the_size_of_a_pipe_is_truncated(tmp_path: Path, blocks: int) -> None:
    text = pretty(finalText="x" * 200_000)[: 65_536 * blocks]
    found = read_report(write(tmp_path / "r", text))
    assert (found.state, found.claimed_kind) == ("truncated", "success")


def test_a_report_cut_elsewhere_is_malformed(tmp_path: Path) -> None:
    found = read_report(write(tmp_path / "r", pretty()[:40]))
    assert (found.state, found.report, found.claimed_kind) == ("malformed", None, "success")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "triumph"},
        {"toolCalls": [3]},
        {"toolCalls": None},
        {"finalText": None},
        {"exitCode": "none"},
        {"filesChanged": [1]},
    ],
)
def test_a_report_of_another_shape_is_malformed(tmp_path: Path, change: dict[str, Any]) -> None:
    assert read_report(write(tmp_path / "r", pretty(**change))).state == "malformed"


def test_fields_of_later_versions_do_not_cost_the_report(tmp_path: Path) -> None:
    assert read_report(write(tmp_path / "r", pretty(turns=3))).state == "complete"


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    found = read_report(write(tmp_path / "r", pretty().encode().replace(b"done", b"d\xffne")))
    assert found.report is not None
    assert found.report.final_text == "d?ne"
    assert found.trailing == 0


def test_half_a_character_cut_by_nanocoder_is_replaced(tmp_path: Path) -> None:
    text = pretty(finalText="MARK").replace("MARK", r"cut \ud83d")
    found = read_report(write(tmp_path / "r", text))
    assert found.report is not None
    assert found.report.final_text == "cut ?"


def test_deep_nesting_is_malformed_and_no_crash(tmp_path: Path) -> None:
    deep = "[" * 200_000 + "]" * 200_000
    text = pretty(toolCalls=[]).replace('"toolCalls": []', f'"toolCalls": {deep}')
    found = read_report(write(tmp_path / "r", text))
    assert (found.state, found.claimed_kind) == ("malformed", "success")


def test_an_enormous_number_is_malformed_and_no_crash(tmp_path: Path) -> None:
    text = pretty().replace('"exitCode": 0', '"exitCode": ' + "9" * 5000)
    assert read_report(write(tmp_path / "r", text)).state == "malformed"


def test_many_opening_braces_are_given_up(tmp_path: Path) -> None:
    assert read_report(write(tmp_path / "r", "{\n" * 100_000)).state == "malformed"


@pytest.mark.parametrize("depth", [250, *range(900, 1000)])
def test_what_nests_too_deep_is_malformed(tmp_path: Path, depth: int) -> None:
    """Readers of the arguments are called from deeper places than the one that decodes them."""
    text = pretty(toolCalls=[{"name": "x", "arguments": 0}])
    deep = text.replace('"arguments": 0', '"arguments": ' + "[" * depth + "]" * depth)
    assert deep != text
    assert read_report(write(tmp_path / "r", deep)).state == "malformed"


def test_a_huge_report_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_file, "MAX_REPORT_BYTES", 1000)
    text = pretty(finalText="x" * 5000)
    found = read_report(write(tmp_path / "r", text))
    assert (found.state, found.claimed_kind, found.size) == ("truncated", "success", len(text))


def test_reading_stops_at_the_limit_of_a_sparse_file(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)
    size, data = read_bounded(path, 10)
    assert (size, data) == (1 << 40, b"\0" * 10)


def test_a_link_or_a_pipe_in_the_place_of_the_report_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "target", pretty())
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "pipe")
    assert read_report(tmp_path / "link").state == "missing"
    assert read_report(tmp_path / "pipe").state == "missing"
    assert read_report(tmp_path).state == "missing"
