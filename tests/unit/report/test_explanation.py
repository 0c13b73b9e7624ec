"""One run on one screen: what was seen, and each rule's answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.record import Record
from nanobench.pipeline.records import parse_record
from nanobench.pipeline.regrading import rejudged
from nanobench.report.explanation import explain_record, render_explanation

FIXTURES = Path(__file__).parents[2] / "fixtures" / "records" / "1.0"
SCREEN = 32  # lines: a terminal shows them at once


def real(name: str) -> Record:
    return parse_record((FIXTURES / f"{name}.json").read_bytes())


def lines(record: Record, ruleset: str = "1.1", width: int = 100) -> dict[str, list[str]]:
    """The text by what each paragraph is about; rule 2 has two."""
    text = render_explanation(explain_record(record, ruleset), width)
    assert all(len(line) <= width for line in text.splitlines())
    found: dict[str, list[str]] = {}
    about = ""
    for line in text.splitlines():
        begins = line[:11].strip()
        if begins:
            about = begins
            found.setdefault(about, []).append(line[11:])
        else:
            found[about][-1] += f" {line[11:]}"
    return found


@pytest.mark.parametrize("name", ["bytes-counted", "lines-counted"])
@pytest.mark.parametrize("width", [80, 100])
def test_a_real_run_fits_on_a_screen(name: str, width: int) -> None:
    text = render_explanation(explain_record(real(name), "1.1"), width)
    assert len(text.splitlines()) <= SCREEN + (8 if width == 80 else 0)


def test_what_a_real_run_is_told_to_be() -> None:
    told = lines(real("lines-counted"))
    assert told["run"] == ["scripted/partial sample-tempo hinted #1, attempt 1"]
    assert told["verdict"] == ["0.5 partial_fix_only (rule 5) by ruleset 1.1; level 1 + 2"]
    assert "recorded" not in told
    assert told["agent"] == ["completed, exit 0, report complete, replies 2, no error"]
    assert told["edits"] == [
        "3 by the diff; edited 2 of 4 required: js/src/notation.js, js/src/units.js"
    ]
    assert told["tests"][0].startswith(
        "5 of 8 target tests pass; node (JavaScript) ok, exit 0, 5/5, 0 regressed; pytest"
    )
    assert told["solved?"] == ["no, not: every target test passes (5 of 8 target tests pass)"]
    assert told["rule 3"] == [
        "hallucinated_api no, not: full failure (5 of 8 target tests pass; it takes less than half)"
    ]
    assert told["rule 5"][0].startswith("partial_fix_only MATCHES: 5 of 8 target tests pass")
    assert [len(told[f"rule {number}"]) for number in range(1, 7)] == [1, 2, 1, 1, 1, 1]


def test_by_another_ruleset_the_recorded_verdict_stands_beside() -> None:
    record = real("lines-counted")
    told = lines(record, "1.0")
    assert told["recorded"] == ["0.5 partial_fix_only (rule 5) by ruleset 1.1"]
    assert told["edits"][0].startswith("3 by the report; ")
    older = record.verdict.model_copy(update={"evidence": ("as an older version told it",)})
    told = lines(record.model_copy(update={"verdict": older}))
    assert told["recorded"] == ["0.5 partial_fix_only (rule 5) by ruleset 1.1, on other facts"]


def changed(record: Record, **signals: Any) -> Record:
    document = record.signals.model_dump() | signals
    fresh = record.model_copy(update={"signals": type(record.signals).model_validate(document)})
    return rejudged(fresh, "1.1")


def test_an_infrastructure_run(make_record: Callable[..., Record]) -> None:
    record = changed(make_record(0.5), infrastructure=("disk: full",))
    told = lines(record)
    assert told["verdict"] == [
        "infrastructure: environment by ruleset 1.1; the machine, the sandbox, a registry or the "
        "repository failed; its tree would have scored 0.5"
    ]
    assert told["trouble?"] == [
        "YES: the machine, the sandbox, a registry or the repository failed (disk: full)"
    ]
    assert told["rule 5"][0].startswith("partial_fix_only would hold, but was not asked: ")


def test_an_unverified_run(make_record: Callable[..., Record]) -> None:
    impossible = {"possible": False, "impossible_because": "no node"}
    told = lines(changed(make_record(0.5), verification=impossible))
    assert told["tests"] == ["not run: no node"]


def test_an_unclassified_run_says_why(make_record: Callable[..., Record]) -> None:
    base = make_record(0.0)
    document = base.signals.model_dump()["verification"]
    document["suites"][0]["targets"] = [
        {"id": name, "status": "failed", "message": "ValueError: no"} for name in "abc"
    ]
    told = lines(changed(base, verification=document))
    meaning = "target tests fail with errors that the symptom tables do not know"
    assert told["no rule"] == [f"unclassified: no_symptom, {meaning}"]


def test_what_would_also_match_is_told_and_changes_nothing(
    make_record: Callable[..., Record],
) -> None:
    base = make_record(0.0)
    agent = base.signals.agent.model_dump() | {
        "ending": "provider_error",
        "error_class": "context_size",
        "error_source": "gateway",
        "error_message": "too long" + "x" * 400,
    }
    edits = {"source": "diff", "reported": None}
    told = lines(changed(base, agent=agent, edits=edits))
    assert told["agent"][0].startswith(
        "provider_error, exit 0, report complete, replies unknown, error context_size (gateway): "
    )
    assert told["agent"][0].endswith("x… (408 characters)")
    assert told["edits"] == ["0 by the diff; edited 0 of 1 required; nothing reported"]
    assert told["rule 1"] == [
        "context_window_exceeded MATCHES: ended on: context_size; edited nothing"
    ]
    assert told["rule 2"][1].startswith("Zero Signal holds too, and changes nothing: hinted mode")


def test_foreign_text_cannot_steer_a_terminal(make_record: Callable[..., Record]) -> None:
    base = make_record(0.5)
    name = "a\x1b[2J\u202e\nrule 1     forged"
    edits = {
        "source": "diff",
        "reported": [],
        "observed": [{"path": name, "change": "added"}],
        "observed_only": [name],
        "required_observed": [name],
    }
    text = render_explanation(explain_record(changed(base, edits=edits), "1.1"), 100)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert sum(line.startswith("rule 1") for line in text.splitlines()) == 1
    assert "diff and report differ in 1" in text
