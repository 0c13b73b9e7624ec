"""What was measured survives cut files, a full disk, a cleaned state directory, a jumping clock.

SIGKILL is in test_kill.py; signals, moved directories and a second bench are in test_bench.py.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import NanobenchError
from nanobench.files import StateDirectory
from nanobench.pipeline.pool import unfinished
from nanobench.pipeline.progress import Silent
from nanobench.pipeline.scanning import read_plan
from nanobench.pipeline.store import ResultStore, load_results

pytestmark = pytest.mark.real

PATIENCE = 240.0
OPTIONS = ("bench", "--models", "scripted/noop,scripted/gold", "--tasks", "sample", "--jobs", "1")
FAKETIME = [*Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")]


@dataclass(frozen=True)
class Desk:
    """Benches of two cells, one after another, with a state directory of the test's own."""

    state: Path
    out: Path

    def start(self, **env: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-m", "nanobench", *OPTIONS, "--out", str(self.out)]
        return subprocess.Popen(
            [*argv, "--state-dir", str(self.state)],
            cwd=self.state.parent,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, **env: str) -> tuple[int, str]:
        """Exit code and standard error."""
        return ended(self.start(**env))

    def records(self) -> dict[str, dict[str, Any]]:
        """By model; the highest attempt of each cell."""
        found: dict[str, dict[str, Any]] = {}
        for path in sorted(self.out.glob("cells/*/attempt-*/record.json")):
            with suppress(ValueError):  # one that was cut
                document = json.loads(path.read_text())
                found[document["cell"]["model"]["model"]] = document
        return found

    def scores(self) -> dict[str, float | None]:
        return {name: one["verdict"]["score"] for name, one in self.records().items()}

    @contextmanager
    def held(self, process: "subprocess.Popen[str]", phase: str) -> Iterator[None]:
        """Stop NanoBench for the block, after one cell, while the next is in this phase."""
        deadline = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            if self._phases() == [phase]:
                process.send_signal(signal.SIGSTOP)
                if self._phases() == [phase]:
                    break
                process.send_signal(signal.SIGCONT)
            time.sleep(0.005)
        try:
            yield
        except BaseException:
            process.kill()
            process.communicate()
            raise
        process.send_signal(signal.SIGCONT)

    def _phases(self) -> list[str]:
        """Of cells at work, once the first one has ended."""
        found = []
        for path in self.out.glob("cells/*/attempt-*/status.json"):
            try:
                found.append(str(json.loads(path.read_text())["phase"]))
            except (OSError, ValueError):
                continue
        return found if self.records() else []


def cleaned(directory: Path) -> None:
    """Remove it while commands, which nothing stops, still write into it."""
    deadline = time.monotonic() + PATIENCE
    while directory.exists():
        assert time.monotonic() < deadline
        shutil.rmtree(directory, ignore_errors=True)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    try:
        _, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in err, err
    assert "internal error" not in err, err
    return process.returncode, err


@pytest.fixture
def desk(shared_state: StateDirectory, tmp_path: Path) -> Desk:
    state = tmp_path / "state"
    state.mkdir()
    (state / "tools").symlink_to(shared_state.tools)
    return Desk(state, tmp_path / "out")


@pytest.fixture(scope="module")
def whole(shared_state: StateDirectory, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A bench that nothing disturbed."""
    desk = Desk(shared_state.root, tmp_path_factory.mktemp("whole") / "out")
    code, err = desk.run()
    assert code == 0, err
    assert desk.scores() == {"noop": 0.0, "gold": 1.0}
    return desk


def kept_files(out: Path) -> list[Path]:
    found = (path.relative_to(out) for path in out.rglob("*") if path.is_file())
    return sorted(path for path in found if path.name != ".lock")


def consequence(out: Path) -> str:
    """What a resumed bench makes of a directory: what it reports by name, or runs again."""
    try:
        plan = read_plan(out / "plan.json")
    except NanobenchError as error:
        return f"refused: {error.where}"
    problems = load_results([out]).problems
    again = unfinished(plan, ResultStore(out), Silent())
    return "; ".join([*problems, *(f"again: {cell.cell_id}" for cell in again)])


def test_no_file_can_be_cut_without_being_told_or_made_again(whole: Desk, tmp_path: Path) -> None:
    assert consequence(whole.out) == ""
    files = kept_files(whole.out)
    assert {path.name for path in files} > {"plan.json", "record.json", "agent.patch", "SHA256SUMS"}
    for path in files:
        if path.parts[0] == "report":
            continue  # written anew by every resume
        size = (whole.out / path).stat().st_size
        last = size - 2 if path.suffix == ".json" else size - 1  # whole without its last line end
        for length in sorted({0, 1, size // 2, last} & set(range(size))):
            out = tmp_path / "cut"
            shutil.copytree(whole.out, out)
            os.truncate(out / path, length)
            told = consequence(out)
            assert str(path) in told, (length, told)
            if path.name == "record.json":
                assert f"again: {path.parts[1]}" in told
            shutil.rmtree(out)


@pytest.mark.parametrize("name", ["record.json", "report.json", "agent.patch", "plan.json"])
def test_a_bench_with_a_cut_file_is_resumed(
    whole: Desk, shared_state: StateDirectory, tmp_path: Path, name: str
) -> None:
    desk = Desk(shared_state.root, tmp_path / "out")
    shutil.copytree(whole.out, desk.out)
    path = next(p for p in kept_files(desk.out) if p.name == name and "noop" not in str(p))
    os.truncate(desk.out / path, 10)
    code, err = desk.run()
    if name == "plan.json":
        assert code == 3
        assert f"{desk.out / path}\n  next:  remove the file" in err
        (desk.out / path).unlink()
        code, err = desk.run()
    assert code == 0, err
    assert desk.scores() == {"noop": 0.0, "gold": 1.0}
    again = {"gold": 2} if name == "record.json" else {}
    attempts = {model: one["attempt"] for model, one in desk.records().items()}
    assert attempts == {"noop": 1, "gold": 1, **again}
    report = json.loads((desk.out / "report" / "report.json").read_text())
    told = [problem for problem in report["problems"] if problem.startswith(str(path))]
    assert len(told) == len(report["problems"]) == (name in ("record.json", "agent.patch"))
    assert all(f"warning: {problem}" in err for problem in told)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """Mounts a file system of two mebibytes at a path."""
    mounted: list[Path] = []

    def mount(path: Path) -> None:
        path.mkdir()
        argv = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(path)]
        if subprocess.run(argv, capture_output=True, check=False).returncode != 0:
            pytest.skip("mounting is not allowed here")
        mounted.append(path)

    yield mount
    for path in mounted:
        subprocess.run(["umount", path], check=True)


@pytest.mark.parametrize("phase", ["agent", "verify"])
def test_a_disk_that_fills_up_during_the_run_loses_nothing_that_was_finished(
    desk: Desk, small_disk: Callable[[Path], None], phase: str
) -> None:
    small_disk(desk.out)
    process = desk.start()
    with desk.held(process, phase), (desk.out / "filler").open("wb", buffering=0) as filler:
        before = desk.records()
        while filler.write(b"x" * 4096) == 4096:
            if shutil.disk_usage(desk.out).free == 0:
                break
    code, err = ended(process)
    assert code == 4, err
    assert "No space left on device" in err
    assert desk.records() == before
    (desk.out / "filler").unlink()
    code, err = desk.run()
    assert code == 0, err
    assert err.count("(kept)") == 1
    assert desk.scores() == {"noop": 0.0, "gold": 1.0}
    assert [path for path in desk.out.rglob(".*") if path.name != ".lock"] == []


@pytest.mark.parametrize("phase", ["agent", "verify"])
def test_a_state_directory_that_is_cleaned_during_the_run_is_a_clear_error(
    desk: Desk, phase: str
) -> None:
    process = desk.start()
    with desk.held(process, phase):
        before = desk.records()
        for name in ("runs", "environments", "snapshots", "repositories"):
            cleaned(desk.state / name)
    code, err = ended(process)
    assert code == 4, err
    assert f"was removed or moved during the run\n  where: {desk.state}" in err
    assert desk.records() == before
    code, err = desk.run()
    assert code == 0, err
    assert desk.scores() == {"noop": 0.0, "gold": 1.0}
    assert [one["attempt"] for one in desk.records().values()] == [1, 1]


def essence(value: Any) -> Any:
    """A record without times."""
    if isinstance(value, dict):
        return {k: essence(v) for k, v in value.items() if k != "timing" and "seconds" not in k}
    return [essence(item) for item in value] if isinstance(value, list) else value


@pytest.mark.skipif(not FAKETIME, reason="libfaketime is not installed")
@pytest.mark.parametrize("jump", ["-30d", "+30d"])
def test_a_clock_that_jumps_changes_nothing_but_dates(
    whole: Desk, shared_state: StateDirectory, tmp_path: Path, jump: str
) -> None:
    desk, clock = Desk(shared_state.root, tmp_path / "out"), tmp_path / "clock"
    clock.write_text("+0d")
    faked = {
        "LD_PRELOAD": str(FAKETIME[0]),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    process = desk.start(**faked)
    with desk.held(process, "agent"):
        clock.write_text(jump)
        told = subprocess.run(
            ["date", "+%F"], env={**os.environ, **faked}, capture_output=True, text=True, timeout=10
        )
        assert told.stdout.strip() != datetime.now(UTC).strftime("%Y-%m-%d")
    code, err = ended(process)
    assert code == 0, err
    records = desk.records()
    for name, record in records.items():
        assert all(seconds >= 0 for seconds in record["timing"]["phases_seconds"].values())
        undisturbed = whole.records()[name]
        for part in ("signals", "verdict"):
            assert essence(record[part]) == essence(undisturbed[part])
    code, err = desk.run(**faked)
    assert code == 0, err
    assert err.count("(kept)") == 2
