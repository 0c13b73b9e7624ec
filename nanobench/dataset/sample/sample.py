"""The sample task: its files in this package, turned into two commits that never change."""

import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from filelock import FileLock

from nanobench.errors import InfrastructureError, NanobenchError
from nanobench.files import StateDirectory, state_error
from nanobench.model.task import Task
from nanobench.workspace.git import run_git

_HERE = files("nanobench.dataset.sample")
_WHO = "NanoBench <sample@nanobench.invalid> 1777885200 +0000"  # 2026-05-04 09:00 UTC
_COMMITS = (
    ("base", "Write and read durations"),
    ("change", "Add weeks, days and a limit of parts"),
)
_COMPILED = "__pycache__"  # installers compile the sample's own modules


def sample_task(state: StateDirectory) -> Task:
    """The sample task, with its repository in the state directory.

    Raises:
        StateError: the repository cannot be written.
        InfrastructureError: git cannot be run, or this installation's sample files are not ours.
    """
    document = json.loads((_HERE / "task.json").read_text("utf-8"))
    document["expected"] = json.loads((_HERE / "expected.json").read_text("utf-8"))
    document["repo_url"] = str(_repository(state, document["merge_commit"]))
    return Task.model_validate_json(json.dumps(document))


def build_repository(git_dir: Path) -> str:
    """Write the sample's history into a new bare repository; returns its newest commit.

    Raises:
        NanobenchError: git cannot be run or cannot write.
    """
    run_git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(git_dir))
    history = b"".join(_commands())
    run_git("fast-import", "--quiet", "--done", git_dir=git_dir, stdin=history)
    return run_git("rev-parse", "refs/heads/main", git_dir=git_dir).decode().strip()


def _repository(state: StateDirectory, newest: str) -> Path:
    """The repository, built once; a damaged one is replaced."""
    parent = state.part("sample")
    place = parent / f"{newest}.git"
    try:
        with FileLock(parent / "lock"):
            if not _is_whole(place, newest):
                rmtree(place, ignore_errors=True)
                _build(parent, place, newest)
    except OSError as error:
        raise state_error(error, parent) from None
    return place


def _is_whole(git_dir: Path, newest: str) -> bool:
    if not git_dir.is_dir():
        return False
    try:
        run_git("fsck", "--strict", "--no-dangling", git_dir=git_dir)
        found = run_git("rev-parse", "refs/heads/main", git_dir=git_dir)
    except NanobenchError:
        return False
    return found.decode().strip() == newest


def _build(parent: Path, place: Path, newest: str) -> None:
    temporary = Path(mkdtemp(dir=parent, prefix=".new-"))
    try:
        built = build_repository(temporary)
        if built != newest:
            raise InfrastructureError(
                f"the sample's files give commit {built} instead of {newest}",
                where=str(_HERE),
                remedy="install NanoBench again",
            )
        temporary.rename(place)
    finally:
        rmtree(temporary, ignore_errors=True)


def _commands() -> Iterator[bytes]:
    """The history as `git fast-import` reads it."""
    for folder, message in _COMMITS:
        text = f"{message}\n".encode()
        yield f"commit refs/heads/main\ncommitter {_WHO}\ndata {len(text)}\n".encode() + text
        for path, content in _files(_HERE / "repository" / folder):
            yield f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"
        yield b"\n"
    yield b"done\n"


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_file():
            yield prefix + item.name, item.read_bytes()
        elif item.name != _COMPILED:
            yield from _files(item, f"{prefix}{item.name}/")
