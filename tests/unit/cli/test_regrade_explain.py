"""`nanobench regrade` and `nanobench explain` as a user meets them: words, JSON, exit codes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nanobench.cli.explain import explain
from nanobench.cli.regrade import regrade
from nanobench.cli.report import report
from nanobench.errors import InvalidInputError, UsageError
from nanobench.model.record import Record
from nanobench.pipeline.records import RECORD, read_record
from nanobench.report.document import Report

FIXTURES = Path(__file__).parents[2] / "fixtures" / "records" / "1.0"
Run = Callable[..., Result]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The results of two cells, as an older version wrote them; the first has two attempts."""
    root = tmp_path / "out"
    for name, attempts in (("bytes-counted", (1, 2)), ("lines-counted", (1,))):
        for attempt in attempts:
            directory = root / "cells" / name / f"attempt-{attempt}"
            directory.mkdir(parents=True)
            document = json.loads((FIXTURES / f"{name}.json").read_bytes())
            (directory / RECORD).write_text(json.dumps({**document, "attempt": attempt}))
    return root


def run(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def failure(result: Result, kind: type[Exception]) -> Exception:
    assert isinstance(result.exception, kind), result.output
    return result.exception


def test_regrade_only_tells_without_out(out: Path) -> None:
    before = sorted(out.parent.rglob("*"))
    result = run(regrade, out, "--ruleset", "1.0")
    assert (result.exit_code, result.output) == (0, "ruleset 1.0: 3 records, 0 labels moved\n")
    assert sorted(out.parent.rglob("*")) == before


def test_regrade_writes_records_and_a_report_that_others_read(out: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    result = run(regrade, out, "--ruleset", "1.0", "--out", new, "--json")
    assert result.exit_code == 0
    found = json.loads(result.output)
    assert (found["ruleset"], found["records"], found["moved"]) == ("1.0", 3, [])
    written = Report.from_json((new / "report" / "report.json").read_bytes())
    assert written.rulesets == ("1.0",)
    assert [row.attempt for row in written.cells] == [2, 1]
    assert (new / "report" / "report.md").is_file()
    again = run(explain, new, "--cell", "lines-counted", "--json")
    assert json.loads(again.output)["explanation"]["verdict"]["ruleset"] == "1.0"


def test_regrade_judges_the_rest_and_then_names_what_it_could_not_use(out: Path) -> None:
    path = out / "cells" / "lines-counted" / "attempt-1" / RECORD
    path.write_text(path.read_text().replace('"schema_version": "1.0"', '"schema_version": "8.0"'))
    result = run(regrade, out, "--ruleset", "1.1")
    assert "2 records" in result.output
    error = failure(result, InvalidInputError)
    assert error.exit_code == 3  # type: ignore[attr-defined]
    assert "record schema 8.0" in str(error)


def test_a_report_of_records_of_several_versions(out: Path, tmp_path: Path) -> None:
    """Older ones are read, present ones too, a newer one is named."""
    new = tmp_path / "new"
    run(regrade, out, "--ruleset", "1.1", "--out", new)
    older = new / "cells" / "bytes-counted"
    shutil.rmtree(older)
    shutil.copytree(out / "cells" / "bytes-counted", older)
    newer = new / "cells" / "newer" / "attempt-1" / RECORD
    newer.parent.mkdir(parents=True)
    newer.write_text('{"schema_version": "2.0"}')
    result = run(report, new, "--out", tmp_path / "report")
    error = failure(result, InvalidInputError)
    assert "record schema 2.0" in str(error)
    assert "with that version" in str(error)
    found = Report.from_json((tmp_path / "report" / "report.json").read_bytes())
    assert [row.score for row in found.cells] == [0.1, 0.5]
    assert len(found.problems) == 1


def test_regrade_asks_for_a_ruleset_that_exists(out: Path) -> None:
    assert run(regrade, out).exit_code == 2
    assert run(regrade, out, "--ruleset", "9.9").exit_code == 2


@pytest.mark.parametrize("name", ["record", "attempt", "cell", "out"])
def test_explain_finds_a_run_by_any_of_its_names(out: Path, name: str) -> None:
    cell = out / "cells" / "lines-counted"
    arguments = {
        "record": [cell / "attempt-1" / RECORD],
        "attempt": [cell / "attempt-1"],
        "cell": [cell],
        "out": [out, "--cell", "lines-counted"],
    }[name]
    result = run(explain, *arguments)
    assert result.exit_code == 0, result.exception
    first, verdict = result.output.splitlines()[:2]
    assert first == "run        scripted/partial sample-tempo hinted #1, attempt 1"
    assert verdict.startswith("verdict    0.5 partial_fix_only (rule 5) by ruleset 1.1")


def test_explain_takes_the_highest_attempt_unless_one_is_named(out: Path) -> None:
    cell = out / "cells" / "bytes-counted"
    assert run(explain, cell).output.splitlines()[0].endswith("attempt 2")
    assert run(explain, cell, "--attempt", 1).output.splitlines()[0].endswith("attempt 1")


def test_explain_as_json_has_every_part_of_every_condition(out: Path) -> None:
    cell = out / "cells" / "lines-counted"
    found = json.loads(run(explain, cell, "--ruleset", "1.0", "--json").output)
    assert found["recorded"]["ruleset"] == "1.1"
    explanation = found["explanation"]
    assert explanation["verdict"]["ruleset"] == "1.0"
    answers = {rule["rule"]: len(rule["answers"]) for rule in explanation["rules"]}
    assert answers == {1: 2, 2: 2, 3: 4, 4: 4, 5: 2, 6: 4}
    assert {fact["about"] for fact in found["facts"]} == {"agent", "edits", "tests", "symptoms"}


def test_explain_says_what_is_not_there(out: Path, tmp_path: Path) -> None:
    cell = out / "cells" / "lines-counted"
    path = cell / "attempt-1" / RECORD
    failure(run(explain, path, "--attempt", 1), UsageError)
    failure(run(explain, out), UsageError)
    failure(run(explain, tmp_path / "absent"), InvalidInputError)
    shutil.copy(path, cell / "note.txt")
    assert run(explain, cell / "note.txt").exit_code == 0
    path.write_text("{}")
    assert "names no schema version" in str(failure(run(explain, cell), InvalidInputError))
    path.unlink()
    error = failure(run(explain, cell), InvalidInputError)
    assert "there is no record" in str(error)
    assert "--attempt names another" in str(error)


def test_the_old_records_stay_as_they_are(out: Path, tmp_path: Path) -> None:
    paths = sorted(out.rglob(RECORD))
    before = [path.read_bytes() for path in paths]
    run(regrade, out, "--ruleset", "1.1", "--out", tmp_path / "new")
    assert [path.read_bytes() for path in paths] == before
    new = [read_record(tmp_path / "new" / path.relative_to(out)) for path in paths]
    assert all(isinstance(one, Record) and one.schema_version == "1.1" for one in new)
