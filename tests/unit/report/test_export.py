"""Results in other tools' formats: what stands in the files, and what is refused."""

import csv
import gzip
import hashlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from nanobench.errors import UsageError
from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.pipeline.artifacts import AGENT_PATCH, PROMPT
from nanobench.report.attempts import Attempts
from nanobench.report.export.columns import COLUMNS
from nanobench.report.export.files import Export
from nanobench.report.export.table import csv_table, parquet_table
from nanobench.report.pairing import Results

Make = Callable[..., Record]
PATCH = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+caf\xe9\n"


@pytest.fixture
def results_of(tmp_path: Path) -> Callable[..., tuple[Results, Attempts]]:
    """`results_of(*records)`: on disk, each with a prompt, a report and a patch."""

    def make(*records: Record) -> tuple[Results, Attempts]:
        kept = []
        for record in records:
            record = record.model_copy(
                update={"agent_patch_sha256": hashlib.sha256(PATCH).hexdigest()}
            )
            home = tmp_path / "cells" / record.cell.cell_id / f"attempt-{record.attempt}"
            (home / "outputs").mkdir(parents=True)
            (home / "record.json").write_text(record.to_json())
            (home / PROMPT).write_text("Mend it.\n\nKey files to focus on:\na.py\n")
            (home / AGENT_PATCH).write_bytes(PATCH)
            (home / "outputs" / "agent-report.log.gz").write_bytes(
                gzip.compress(json.dumps(report()).encode())
            )
            kept.append(record)
        results = Results.of("r", None, kept)
        return results, Attempts(results.records, [tmp_path])

    return make


def report() -> dict[str, Any]:
    return {
        "kind": "success",
        "exitCode": 0,
        "finalText": "Done.",
        "toolCalls": [
            {"name": "read_file", "arguments": {"path": "a.py"}, "result": "x = 1"},
            {"name": "write_file", "arguments": "{not json", "error": "malformed"},
        ],
    }


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_cell_is_a_row_missing_ones_included(make_record: Make) -> None:
    cells = [
        Cell(model=ModelRef.parse("acme/one"), task_id="t1", mode="hinted", run=run)
        for run in (1, 2, 3)
    ]
    task = PlanTask(task_id="t1", origin="dataset", sha256="a" * 64, tier=4)
    plan = Plan(tasks=(task,), cells=tuple(cells))
    records = [make_record(0.5, "acme/one t1 1"), make_record(None, "acme/one t1 2")]
    found = rows(csv_table(Results.of("r", plan, records)))
    assert [(row["state"], row["score"], row["tier"]) for row in found] == [
        ("present", "0.5", "4"),
        ("infrastructure", "", "4"),
        ("missing", "", "4"),
    ]
    assert (found[0]["input_tokens"], found[0]["nanocoder"]) == ("7", "1.30.0")
    assert found[2]["nanocoder"] == ""


def test_evidence_of_the_agent_is_inert_in_csv_and_whole_in_parquet(make_record: Make) -> None:
    evidence = '=HYPERLINK("x")\n\x1b[31m'
    results = Results.of("r", None, [make_record(0.0, verdict={"evidence": [evidence]})])
    assert rows(csv_table(results))[0]["evidence"] == '\'=HYPERLINK("x")'
    table = parquet.read_table(io.BytesIO(parquet_table(results)))
    assert table.column("evidence").to_pylist() == [evidence]


def test_parquet_has_the_columns_of_csv_with_their_types(make_record: Make) -> None:
    results = Results.of("r", None, [make_record(1.0), make_record(None, "acme/one t1 2")])
    data = parquet_table(results)
    assert parquet_table(results) == data
    table = parquet.read_table(io.BytesIO(data))
    assert table.column_names == [column.name for column in COLUMNS]
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert (types["score"], types["run"], types["solved"]) == ("double", "int64", "bool")
    assert table.column("score").to_pylist() == [1.0, None]


def test_parquet_without_pyarrow_says_what_to_install(
    make_record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError) as failure:
        parquet_table(Results.of("r", None, [make_record(1.0)]))
    assert "nanobench[parquet]" in failure.value.remedy


def test_predictions_are_a_file_per_model_mode_and_run(
    make_record: Make, results_of: Callable[..., tuple[Results, Attempts]]
) -> None:
    results, attempts = results_of(
        make_record(1.0, "acme/one t1 1"),
        make_record(0.0, "acme/one t2 1"),
        make_record(0.0, "acme/one t1 2"),
        make_record(None, "acme/one t2 2"),
    )
    export = Export(results, attempts)
    files = [[json.loads(line) for line in text.splitlines()] for _, text in export.predictions()]
    assert [[line["instance_id"] for line in lines] for lines in files] == [["t1", "t2"], ["t1"]]
    assert files[0][0]["model_name_or_path"] == "acme/one"
    assert files[0][0]["model_patch"].endswith("+caf\ufffd\n")
    assert export.problems == []


def test_a_patch_that_is_not_the_recorded_one_is_named_and_left_out(
    tmp_path: Path, make_record: Make, results_of: Callable[..., tuple[Results, Attempts]]
) -> None:
    results, attempts = results_of(
        make_record(1.0, "acme/one t1 1"), make_record(1.0, "acme/one t2 1")
    )
    first, second = (row.cell_id for row in results.report.cells)
    (tmp_path / "cells" / first / "attempt-1" / "agent.patch").write_text("another")
    (tmp_path / "cells" / second / "attempt-1" / "agent.patch").unlink()
    export = Export(results, attempts)
    assert list(export.predictions()) == []
    assert [problem.split(":")[0] for problem in export.problems] == [first, second]


def test_a_trajectory_tells_prompt_calls_and_answer(
    make_record: Make, results_of: Callable[..., tuple[Results, Attempts]]
) -> None:
    ((name, text),) = Export(*results_of(make_record(1.0))).atif()
    found = json.loads(text)
    assert name.startswith("acme-one--t1--hinted--r1-")
    assert [step["source"] for step in found["steps"]] == ["user", "agent", "agent", "agent"]
    assert [step["step_id"] for step in found["steps"]] == [1, 2, 3, 4]
    assert found["steps"][0]["message"].startswith("Mend it.")
    read, write = (step["tool_calls"][0] for step in found["steps"][1:3])
    assert (read["function_name"], read["arguments"]) == ("read_file", {"path": "a.py"})
    assert write["arguments"] == {"raw": "{not json"}
    assert found["steps"][2]["observation"]["results"][0]["content"] == "malformed"
    assert found["steps"][3]["message"] == "Done."
    assert found["final_metrics"]["total_prompt_tokens"] == 7


def test_a_log_for_inspect_has_runs_as_epochs_and_trouble_as_errors(
    make_record: Make, results_of: Callable[..., tuple[Results, Attempts]]
) -> None:
    results, attempts = results_of(
        make_record(1.0, "acme/one t1 1"),
        make_record(None, "acme/one t1 2", verdict={"reason": "quota"}),
        make_record(0.0, "acme/one t1 1", mode="navigation"),
    )
    (_, hinted), (_, navigation) = Export(results, attempts).inspect()
    log = json.loads(hinted)
    assert [(s["id"], s["epoch"]) for s in log["samples"]] == [("t1", 1), ("t1", 2)]
    assert log["samples"][0]["scores"]["nanobench"]["value"] == 1.0
    assert "scores" not in log["samples"][1]
    assert log["samples"][1]["error"]["message"].startswith("quota")
    assert log["results"]["completed_samples"] == 1
    assert log["results"]["scores"][0]["metrics"]["pass_rate"]["value"] == 1.0
    assert json.loads(navigation)["eval"]["task"] == "nanobench navigation"


def test_halves_of_characters_never_reach_a_file(
    tmp_path: Path, make_record: Make, results_of: Callable[..., tuple[Results, Attempts]]
) -> None:
    results, attempts = results_of(make_record(1.0))
    path = next(tmp_path.rglob("agent-report.log.gz"))
    hostile = report()
    hostile["toolCalls"][0]["arguments"] = {"\ud800": ["\udfff"]}
    path.write_bytes(gzip.compress(json.dumps(hostile).encode()))
    ((_, text),) = Export(results, attempts).atif()
    assert "\\ud800" not in text
    assert "\\udfff" not in text


def test_what_did_not_happen_is_empty_and_no_number(make_record: Make) -> None:
    cells = [
        Cell(model=ModelRef.parse("acme/one"), task_id="t1", mode="hinted", run=run)
        for run in (1, 2, 3)
    ]
    task = PlanTask(task_id="t1", origin="dataset", sha256="a" * 64, tier=4)
    records = [make_record(0.0, "acme/one t1 1"), make_record(None, "acme/one t1 2")]
    graded, trouble, missing = rows(
        csv_table(Results.of("r", Plan(tasks=(task,), cells=tuple(cells)), records))
    )
    assert [row["solved"] for row in (graded, trouble, missing)] == ["false", "", ""]
    of_the_run = ("targets", "regressions", "files_edited", "required_edited", "non_deterministic")
    assert [missing[name] for name in of_the_run] == [""] * 5
    assert [trouble[name] for name in of_the_run[:4]] == ["2", "1", "1", "1"]
