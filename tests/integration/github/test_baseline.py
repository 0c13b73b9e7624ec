"""`nanobench baseline put|get`: where baselines are looked for, and what is not believed."""

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nanobench.github.baselines import pack
from nanobench.pipeline.records import read_record
from nanobench.pipeline.store import load_results

RECORD = Path(__file__).parents[2] / "fixtures/records/1.0/lines-counted.json"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results with two attempts at one cell, beside their outputs."""
    found = read_record(RECORD)
    assert not isinstance(found, str)
    directory = tmp_path / "results"
    for attempt in (1, 2):
        home = directory / f"merged/cells/{found.cell.cell_id}/attempt-{attempt}"
        (home / "outputs").mkdir(parents=True)
        (home / "outputs/big.txt.gz").write_bytes(os.urandom(100))
        document = {**json.loads(RECORD.read_bytes()), "attempt": attempt}
        (home / "record.json").write_text(json.dumps(document))
    return directory


@pytest.fixture
def packed(job: Any, results: Path, tmp_path: Path) -> bytes:
    """A baseline as an archive."""
    assert job.run("baseline", "put", results, "--out", tmp_path / "kept").code == 0
    pack(tmp_path / "kept", tmp_path / "kept.zip")
    return (tmp_path / "kept.zip").read_bytes()


def test_a_baseline_holds_the_standing_records_alone_and_where_they_are_from(
    job: Any, results: Path, tmp_path: Path
) -> None:
    done = job.run("baseline", "put", results, "--out", tmp_path / "kept")
    assert done.code == 0
    files = sorted(p.name for p in (tmp_path / "kept").rglob("*") if p.is_file())
    assert files == ["baseline.json", "record.json"]
    manifest = json.loads((tmp_path / "kept/baseline.json").read_bytes())
    assert (manifest["repository"], manifest["commit"]) == ("nano/bench", "d" * 40)
    assert done.outputs["digest"] in done.out
    (record,) = load_results([tmp_path / "kept"]).records
    assert record.attempt == 2


def test_the_same_baseline_gives_the_same_archive(packed: bytes, tmp_path: Path) -> None:
    for path in (tmp_path / "kept").rglob("*"):
        os.utime(path, (1, 1))
    pack(tmp_path / "kept", tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packed


def get(job: Any, tmp_path: Path, source: object, *more: object) -> Any:
    return job.run("baseline", "get", "--from", source, "--out", tmp_path / "got", *more)


def test_the_default_branchs_last_good_run_is_taken(
    job: Any, hub: Any, packed: bytes, tmp_path: Path
) -> None:
    evil = b"never unpacked"
    hub.add_artifact("nanobench-baseline", b"older", {"id": 1})
    hub.add_artifact("nanobench-baseline", packed, {"id": 2, "event": "schedule"})
    for number, run in enumerate(
        (
            {"conclusion": "failure"},
            {"event": "pull_request"},
            {"event": "pull_request", "head_repository_id": 666},  # a fork with a branch `main`
            {"head_repository_id": 666},
            {"head_branch": "topic"},
        )
    ):
        hub.add_artifact("nanobench-baseline", evil, {"id": 10 + number, **run})
    hub.add_artifact("nanobench-baseline", evil, {"id": 20}, expired=True)
    hub.add_artifact("another", evil, {"id": 21})
    done = get(job, tmp_path, "artifact")
    assert (done.code, done.outputs["found"]) == (0, "true"), done.err
    assert "of run 2" in done.out
    assert len(load_results([tmp_path / "got"]).records) == 1
    assert len(hub.seen_by_store) == 1
    assert "Authorization" not in hub.seen_by_store[0]
    assert hub.requests("GET", "zip$")


def test_many_artifacts_of_pull_requests_do_not_hide_the_baseline(
    job: Any, hub: Any, packed: bytes, tmp_path: Path
) -> None:
    hub.add_artifact("nanobench-baseline", packed, {"id": 2})
    for number in range(150):
        hub.add_artifact("nanobench-baseline", b"", {"id": 10 + number, "head_branch": "x"})
    assert get(job, tmp_path, "artifact").outputs["found"] == "true"
    assert len(hub.requests("GET", "actions/artifacts$")) == 2
    assert len(hub.requests("GET", r"actions/runs/\d+$")) == 1


@pytest.mark.parametrize("source", ["artifact", "release", "release:v9", "absent/path"])
def test_no_baseline_is_a_first_run_and_fails_nothing(
    job: Any, hub: Any, tmp_path: Path, source: str
) -> None:
    done = get(job, tmp_path, source)
    assert (done.code, done.outputs) == (0, {"found": "false", "digest": ""})
    assert "this is a first run" in done.out
    assert not (tmp_path / "got").exists()


def test_a_release_keeps_a_baseline_and_gives_it_back(
    job: Any, hub: Any, results: Path, tmp_path: Path
) -> None:
    hub.add_release("v1")
    hub.add_release("v2")
    put = ("baseline", "put", results, "--release", "v1", "--out")
    assert job.run(*put, tmp_path / "one").code == 0
    done = get(job, tmp_path, "release:v1")
    assert (done.code, done.outputs["found"]) == (0, "true")
    assert job.run(*put, tmp_path / "two").code == 0  # the same once more
    assert len(hub.requests("POST", "assets$")) == 1
    record = next((results / "merged").rglob("attempt-2/record.json"))
    record.write_text(record.read_text() + "\n")
    done = job.run(*put, tmp_path / "three")
    assert done.code == 3
    assert "never replaced" in done.err


def test_a_release_is_compared_with_the_one_before_and_not_with_itself(
    job: Any, hub: Any, results: Path, tmp_path: Path
) -> None:
    """GitHub calls a release the latest as soon as it is published, before it has a baseline."""
    hub.add_release("v1")
    hub.add_release("v2")
    hub.add_release("v3-rc", prerelease=True)
    for tag in ("v1", "v3-rc"):
        put = ("baseline", "put", results, "--release", tag, "--out", tmp_path / tag)
        assert job.run(*put).code == 0
    job.event("release", {"release": {"tag_name": "v2"}})
    assert "of release v1," in get(job, tmp_path / "first", "release").out
    assert job.run("baseline", "put", results, "--release", "v2", "--out", tmp_path / "2").code == 0
    assert "of release v1," in get(job, tmp_path / "again", "release").out
    job.event("push")
    assert "of release v2," in get(job, tmp_path / "push", "release").out


def test_a_baseline_is_taken_from_a_directory_or_an_archive(
    job: Any, packed: bytes, tmp_path: Path
) -> None:
    assert get(job, tmp_path / "a", tmp_path / "kept").outputs["found"] == "true"
    assert get(job, tmp_path / "b", tmp_path / "kept.zip").outputs["found"] == "true"
    assert get(job, tmp_path / "a", tmp_path / "kept").code == 2  # not empty


def test_another_digest_than_asked_for_is_refused(job: Any, packed: bytes, tmp_path: Path) -> None:
    digest = get(job, tmp_path / "a", tmp_path / "kept").outputs["digest"]
    assert get(job, tmp_path / "b", tmp_path / "kept", "--digest", digest).code == 0
    done = get(job, tmp_path / "c", tmp_path / "kept", "--digest", "0" * 64)
    assert done.code == 3
    assert not (tmp_path / "c/got").exists()


def repacked(content: bytes, change: Any) -> bytes:
    """The archive with its entries, by name, as `change` leaves them."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    change(entries)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as new:
        for name, text in entries.items():
            new.writestr(name, text)
    return made.getvalue()


def _in_table(old: bytes, new: bytes) -> Any:
    def change(entries: dict[str, bytes]) -> None:
        assert old in entries["baseline.json"]
        entries["baseline.json"] = entries["baseline.json"].replace(old, new)

    return change


def _change_record(entries: dict[str, bytes]) -> None:
    name = next(name for name in entries if name != "baseline.json")
    entries[name] += b"\n"  # still the same record


DAMAGE = {
    "a file that the table does not name": lambda entries: entries.update({"evil.json": b"{}"}),
    "a changed record": _change_record,
    "no table": lambda entries: entries.pop("baseline.json"),
    "a table of another version": _in_table(b'"1.0"', b'"7.0"'),
    "a table with a path that leads out": _in_table(b'"cells/', b'"../cells/'),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_or_forged_baseline_is_refused_and_nothing_is_left(
    job: Any, hub: Any, packed: bytes, tmp_path: Path, damage: str
) -> None:
    hub.add_artifact("nanobench-baseline", repacked(packed, DAMAGE[damage]), {"id": 2})
    done = get(job, tmp_path / "new", "artifact")
    assert done.code == 3, done.err
    assert not (tmp_path / "new/got").exists()
    assert list((tmp_path / "new").iterdir()) == []


def test_a_link_in_a_directory_is_refused(job: Any, packed: bytes, tmp_path: Path) -> None:
    record = next((tmp_path / "kept").rglob("record.json"))
    (tmp_path / "aside.json").write_bytes(record.read_bytes())
    record.unlink()
    record.symlink_to(tmp_path / "aside.json")
    done = get(job, tmp_path, tmp_path / "kept")
    assert done.code == 3
    assert "does not hold the files" in done.err
    assert not (tmp_path / "got").exists()


def test_a_permission_that_is_missing_is_named(job: Any, hub: Any, tmp_path: Path) -> None:
    from github_fake import Fault

    message = "Resource not accessible by integration"
    hub.state.faults = [Fault("GET", "artifacts", 403, message)]
    done = get(job, tmp_path, "artifact")
    assert done.code == 4
    assert "permission" in done.err
    assert len(hub.requests("GET", "artifacts")) == 1


def test_a_store_that_fails_for_a_moment_is_asked_again(
    job: Any, hub: Any, packed: bytes, tmp_path: Path, pauses: list[float]
) -> None:
    from github_fake import Fault

    hub.add_artifact("nanobench-baseline", packed, {"id": 2})
    hub.state.faults = [Fault("GET", "zip$", 503)]
    assert get(job, tmp_path, "artifact").outputs["found"] == "true"
    assert pauses == [1.0]


def test_a_redirect_to_the_interface_itself_under_another_host_gets_no_token(
    job: Any, hub: Any, packed: bytes, tmp_path: Path
) -> None:
    hub.add_artifact("nanobench-baseline", packed, {"id": 2})
    hub.state.artifacts[0]["archive_download_url"] = f"{hub.store}/artifact-{hub._next}"
    hub.state.blobs[f"artifact-{hub._next}"] = packed
    assert get(job, tmp_path, "artifact").code == 0
    assert all("Authorization" not in headers for headers in hub.seen_by_store)


def test_results_without_records_make_no_baseline(job: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = job.run("baseline", "put", tmp_path / "empty", "--out", tmp_path / "kept")
    assert done.code == 3


def test_what_is_found_again_is_compared_with_and_told(
    job: Any, hub: Any, events: Any, results: Path, packed: bytes, tmp_path: Path
) -> None:
    hub.add_artifact("nanobench-baseline", packed, {"id": 2})
    hub.add_pull(5, "c" * 40)
    job.event("pull_request", events["pull_request"]())
    assert get(job, tmp_path, "artifact").outputs["found"] == "true"
    out = tmp_path / "report"
    done = job.run("report", results, "--baseline", tmp_path / "got", "--out", out, "--no-html")
    assert done.code == 0, done.err
    done = job.run("publish", "review", out)
    assert done.outputs["review"] == "created"
    assert done.outputs["verdict"] in ("not comparable", "not distinguishable from noise")
    (posted,) = hub.state.reviews[5]
    assert "Against the baseline" in posted["body"]
