"""Where the detail of runs goes: into the page, or into files beside it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.record import Record
from nanobench.report.attempts import Attempts
from nanobench.report.html import writing
from nanobench.report.html.writing import write_page
from nanobench.report.pairing import Results

Make = Callable[..., Record]


def write(out: Path, records: list[Record], kept: Mapping[str, Record] | None = None) -> str:
    results = Results.of("results", None, records)
    out.mkdir(exist_ok=True)
    own = results.records if kept is None else kept
    return write_page(results.report, Attempts(own, []), out).read_text()


def index(page: str) -> dict[str, Any]:
    text = page.split('<script type="application/json" id="index">')[1].split("</script>")[0]
    found: dict[str, Any] = json.loads(text)
    return found


def files(page: str) -> dict[str, int | None]:
    found = index(page)
    at = found["columns"].index("file")
    return {row[0]: row[at] for row in found["rows"]}


def loaded(path: Path) -> dict[str, Any]:
    text = path.read_text()
    assert text.startswith("nanobenchDetails([")
    assert text.isascii()
    return dict(json.loads(text.removeprefix("nanobenchDetails(").removesuffix(");\n")))


def test_the_detail_of_a_few_runs_stands_in_the_page(tmp_path: Path, make_record: Make) -> None:
    page = write(tmp_path, [make_record(1.0), make_record(0.0, "acme/one t1 2")])
    assert set(files(page).values()) == {0}
    assert page.count('json" data-run=') == 2
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_detail_of_many_runs_stands_in_files_that_the_page_names(
    tmp_path: Path, make_record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "INLINE_RUNS", 2)
    monkeypatch.setattr(writing, "_FILE_RUNS", 2)
    page = write(tmp_path, [make_record(1.0, f"acme/one t1 {run}") for run in range(1, 6)])
    assert 'json" data-run=' not in page
    named = files(page)
    assert set(named.values()) == {1, 2, 3}
    for cell_id, number in named.items():
        held = loaded(tmp_path / "report-files" / f"{number}.js")
        assert dict(held[cell_id]["facts"])["label"] == "Complete Resolution"


def test_large_details_of_few_runs_go_into_files_as_well(
    tmp_path: Path, make_record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "INLINE_BYTES", 100)
    page = write(tmp_path, [make_record(1.0)])
    assert list(files(page).values()) == [1]


def test_files_that_an_earlier_report_left_are_removed(
    tmp_path: Path, make_record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [make_record(1.0, f"acme/one t1 {run}") for run in range(1, 6)]
    with monkeypatch.context() as patch:
        patch.setattr(writing, "INLINE_RUNS", 2)
        patch.setattr(writing, "_FILE_RUNS", 1)
        write(tmp_path, records)
        (tmp_path / "report-files" / "notes.js").write_text("mine")
        write(tmp_path, records[:3])
    left = sorted(path.name for path in (tmp_path / "report-files").iterdir())
    assert left == ["1.js", "2.js", "3.js", "notes.js"]
    (tmp_path / "report-files" / "notes.js").unlink()
    write(tmp_path, records[:1])
    assert not (tmp_path / "report-files").exists()


def test_a_run_whose_record_went_away_is_listed_without_detail(
    tmp_path: Path, make_record: Make
) -> None:
    from nanobench.model.migrations import UnreadableRecordError

    class Gone(dict[str, Record]):
        def __missing__(self, cell_id: str) -> Record:
            raise UnreadableRecordError("gone")

    page = write(tmp_path, [make_record(1.0)], Gone())
    assert list(files(page).values()) == [None]
