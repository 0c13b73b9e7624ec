"""Bad input through the real command line: what, where, what next, the exit code, no traceback.

None of these needs Nanocoder: input is refused before anything is installed or run.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nanobench.dataset.sample.sample import build_repository

SAMPLE = Path(sys.modules["nanobench.dataset.sample.sample"].__file__ or "").parent
ABSENT = "0123456789abcdef0123456789abcdef01234567"
TASK = "tempo-1"
Change = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Desk:
    """A dataset of one task, a state directory and a home, all of the test's own."""

    root: Path

    @property
    def task_file(self) -> Path:
        return self.root / "tasks" / "tempo" / f"{TASK}.json"

    def change(self, change: Change) -> None:
        document = json.loads(self.task_file.read_text())
        change(document)
        self.task_file.write_text(json.dumps(document))

    def run(
        self, *arguments: object, env: dict[str, str] | None = None, **options: Any
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command; a traceback or an internal error is never the answer."""
        done = subprocess.run(
            [sys.executable, "-m", "nanobench", *map(str, arguments)],
            cwd=self.root,
            env=self.environment(env or {}),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **options,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "internal error" not in done.stderr, done.stderr
        return done

    def environment(self, env: dict[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        state = {"HOME": str(self.root / "home"), "NANOBENCH_STATE_DIR": str(self.root / "state")}
        return {**kept, **state, **env}

    def bench(
        self, *options: object, models: str = "scripted/noop", **more: Any
    ) -> "subprocess.CompletedProcess[str]":
        out = () if "--out" in options else ("--out", self.root / "out")
        tasks = () if "--tasks" in options else ("--tasks", TASK)
        return self.run("bench", "--models", models, *tasks, *options, *out, **more)

    def refuses(self, done: "subprocess.CompletedProcess[str]", code: int, *told: str) -> None:
        """An error in the house's form, told on standard error, before any cell began."""
        assert done.returncode == code, done.stderr
        error = done.stderr[done.stderr.index("error: ") :]
        for word in (*told, "\n  next:  "):
            assert word in error, done.stderr
        assert done.stdout == ""
        assert not list(self.root.glob("out*/cells/*/attempt-*"))
        assert not list(self.root.glob("state/runs/*"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("repository") / "tempo.git"
    build_repository(path)
    return path


@pytest.fixture
def desk(tmp_path: Path, repository: Path) -> Desk:
    """The sample's files as a task of a dataset."""
    desk = Desk(tmp_path)
    (tmp_path / "home").mkdir()
    desk.task_file.parent.mkdir(parents=True)
    dataset = {"name": "d", "version": "1", "contamination_cutoff": "2026-04-01T00:00:00Z"}
    (tmp_path / "tasks" / "dataset.json").write_text(json.dumps(dataset))
    task = json.loads((SAMPLE / "task.json").read_text())
    task |= {
        "task_id": TASK,
        "repo": "acme/tempo",
        "repo_url": str(repository),
        "expected": json.loads((SAMPLE / "expected.json").read_text()),
    }
    desk.task_file.write_text(json.dumps(task))
    return desk


def _pinned_message(document: dict[str, Any]) -> None:
    document["problem_statement"] = {
        "from": "commit_message",
        "commit": document["merge_commit"],
        "sha256": "0" * 64,
    }


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        pytest.param(
            lambda task: task.update(base_comit=task.pop("base_commit")),
            3,
            ["base_comit: there is no such field; did you mean 'base_commit'?", "tempo-1.json"],
            id="unknown field",
        ),
        pytest.param(
            lambda task: task.update(base_commit=ABSENT),
            4,
            [ABSENT, "tempo.git", "git fetch"],
            id="absent commit",
        ),
        pytest.param(
            lambda task: task.update(base_commit="e1ac88"),
            3,
            ["base_commit", "tempo-1.json"],
            id="short commit",
        ),
        pytest.param(
            lambda task: task["ground_truth_patch"].update(sha256="0" * 64),
            3,
            ["0" * 64, "7a47c63b39ac31fef4fb6a23b791ca9c423773064922531fdedf34ad7bdd12b8", TASK],
            id="patch hash",
        ),
        pytest.param(
            _pinned_message,
            3,
            [
                "0" * 64,
                "445f3458685be891ead3a6c76f0956432c036ae8b31ff54fd38c3426fb920256",
                "problem_statement",
            ],
            id="statement hash",
        ),
        pytest.param(
            lambda task: task.pop("expected"),
            3,
            [TASK, "`expected`", "task gate"],
            id="no expected",
        ),
        pytest.param(
            lambda task: task.update(repo_url="file:///nonexistent/repository.git"),
            4,
            ["file:///nonexistent/repository.git", "cannot fetch"],
            id="unreachable path",
        ),
        pytest.param(
            lambda task: task.update(repo_url="https://127.0.0.1:1/x"),
            4,
            ["https://127.0.0.1:1/x", "cannot fetch"],
            id="unreachable host",
        ),
        pytest.param(
            lambda task: task.update(problem_statement="x" * 200_000),
            3,
            ["the prompt has 2000", "shorten the problem statement"],
            id="prompt too long",
        ),
    ],
)
def test_a_task_that_cannot_be_run(desk: Desk, change: Change, code: int, told: list[str]) -> None:
    desk.change(change)
    desk.refuses(desk.bench(), code, *told)


def _providers(*models: str) -> dict[str, str]:
    provider = {"name": "acme", "baseUrl": "http://127.0.0.1:1/v1", "models": list(models)}
    return {"NANOCODER_PROVIDERS": json.dumps([provider])}


@pytest.mark.parametrize(
    ("models", "env", "code", "told"),
    [
        pytest.param("acme/x", {}, 3, ["unknown provider 'acme'"], id="no provider"),
        pytest.param(
            "other/x",
            _providers("x"),
            3,
            ["unknown provider 'other'", "use one of: acme"],
            id="another provider",
        ),
        pytest.param(
            "acme/y",
            _providers("x", "z"),
            3,
            ["does not list the model 'y'", "use one of: x, z"],
            id="no such model",
        ),
        pytest.param("acme/-y", _providers(), 3, ["'-y'"], id="a model that reads as an option"),
        pytest.param(
            "acme/x",
            {"NANOCODER_PROVIDERS": "[{"},
            3,
            ["malformed JSON", "NANOCODER_PROVIDERS, line 1"],
            id="malformed providers",
        ),
        pytest.param(
            "scripted/golden",
            {},
            2,
            ["no scripted model 'golden'", "gold, noop"],
            id="no such scripted model",
        ),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_before_anything_is_fetched(
    desk: Desk, models: str, env: dict[str, str], code: int, told: list[str]
) -> None:
    desk.change(lambda task: task.update(repo_url="file:///nonexistent"))
    desk.refuses(desk.bench(models=models, env=env), code, *told)


def test_a_scripted_model_that_does_not_fit_a_task_is_named_with_it(desk: Desk) -> None:
    desk.change(
        lambda task: task["expected"].update(
            fail_to_pass={"pytest": task["expected"]["fail_to_pass"]["pytest"]}
        )
    )
    done = desk.bench(models="scripted/gold,scripted/cross-language-half")
    desk.refuses(done, 2, f"scripted/cross-language-half on {TASK}: ", "--tasks '!ID'")
    assert "scripted/gold on" not in done.stderr


def test_a_selection_of_nothing_is_told(desk: Desk) -> None:
    desk.refuses(desk.bench("--tasks", "lang:cobol"), 2, "lang:cobol")


@pytest.mark.parametrize("option", ["--out", "--state-dir"])
@pytest.mark.parametrize("path", ["file", "file/below", "/proc/nanobench"])
def test_a_directory_that_cannot_be(desk: Desk, option: str, path: str) -> None:
    (desk.root / "file").write_text("kept")
    desk.refuses(desk.bench(option, path), 4, "cannot write: ", path)
    assert (desk.root / "file").read_text() == "kept"


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """`mount(options)` is a file system in memory, of the test's own."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        path = tmp_path / "mounted"
        path.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", path], capture_output=True, check=False
        )
        if done.returncode != 0:
            pytest.skip("mounting is not allowed here")
        mounted.append(path)
        return path

    yield mount
    for path in mounted:
        subprocess.run(["umount", path], check=True)


@pytest.mark.parametrize("option", ["--out", "--state-dir"])
def test_a_directory_that_not_even_root_can_write(
    desk: Desk, mount: Callable[[str], Path], option: str
) -> None:
    path = mount("ro")
    done = desk.bench(option, path)
    desk.refuses(done, 4, "cannot write: Read-only file system", str(path), "writable file system")


@pytest.mark.parametrize("option", ["--out", "--state-dir"])
def test_a_full_disk(desk: Desk, mount: Callable[[str], Path], option: str) -> None:
    path = mount("size=64k")
    with suppress(OSError), (path / "filler").open("wb", buffering=0) as filler:
        filler.write(b"x" * 100_000)
    done = desk.bench(option, path)
    desk.refuses(done, 4, "No space left on device", str(path), "free some space")
    assert sorted(p.name for p in path.rglob("*") if p.is_file() and p.stat().st_size) == ["filler"]


def test_a_limit_on_the_size_of_files_is_no_defect_either(desk: Desk) -> None:
    done = desk.bench(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    desk.refuses(done, 4, "free space")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"tasks": "\xff"}', "this is not a plan"),
        (b"{", "this is not a plan"),
        (b'{"schema_version": "9.0", "tasks": [], "cells": []}', "schema_version"),
    ],
)
def test_a_plan_that_is_none(desk: Desk, content: bytes, told: str) -> None:
    (desk.root / "plan.json").write_bytes(content)
    done = desk.run("run", "--plan", "plan.json", "--cell", "x", "--out", "out")
    desk.refuses(done, 3, told, "where: plan.json")


def _planned(desk: Desk) -> str:
    done = desk.run(
        "plan", "--models", "scripted/noop", "--tasks", TASK, "--out", "plan.json", "--json"
    )
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["cells"][0])


def test_a_cell_that_the_plan_lacks(desk: Desk) -> None:
    _planned(desk)
    done = desk.run("run", "--plan", "plan.json", "--cell", "x", "--out", "out")
    desk.refuses(done, 2, "the plan has no cell 'x'", "plan.json")


def test_a_plan_of_another_dataset(desk: Desk) -> None:
    cell = _planned(desk)
    run = ("run", "--plan", "plan.json", "--cell", cell, "--out", "out")
    desk.change(lambda task: task.update(domain="another"))
    desk.refuses(desk.run(*run), 3, "is not the one that was planned", "tempo-1.json")
    desk.task_file.unlink()
    desk.refuses(desk.run(*run), 3, f"the plan names the task '{TASK}'", "--tasks-dir")


def test_the_results_of_another_plan_are_not_overwritten(desk: Desk) -> None:
    _planned(desk)
    (desk.root / "out").mkdir()
    (desk.root / "plan.json").rename(desk.root / "out" / "plan.json")
    before = (desk.root / "out" / "plan.json").read_bytes()
    done = desk.bench("--mode", "navigation")
    desk.refuses(done, 3, "the results of another plan", "out/plan.json")
    assert (desk.root / "out" / "plan.json").read_bytes() == before
