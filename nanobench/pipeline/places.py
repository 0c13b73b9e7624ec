"""The directories of one running cell; they are gone when it ends, or at the next start."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import samestat
from pathlib import Path
from secrets import token_hex

from filelock import FileLock, Timeout

from nanobench.environment.leftovers import real_directory
from nanobench.environment.once import sweep_partial
from nanobench.errors import StateError
from nanobench.files import StateDirectory, make_directory, state_error
from nanobench.workspace.snapshot import sweep_snapshots
from nanobench.workspace.teardown import remove_tree


@dataclass(frozen=True)
class Places:
    """Where one cell works. The agent never sees the verification side (SPEC X9).

    `descriptor` is open on `root`, so that another directory of its name is told from it.
    """

    root: Path
    descriptor: int

    @property
    def agent_workspace(self) -> Path:
        """The repository that the agent edits."""
        return self.root / "agent" / "ws"

    @property
    def agent_run(self) -> Path:
        """The agent's home, configuration, temporary files and report."""
        return make_directory(self.root / "agent" / "run")

    @property
    def scratch(self) -> Path:
        """Objects and index of the diff."""
        return make_directory(self.root / "scratch")

    def check(self) -> None:
        """Refuse what was found here if the directory is not here any more (SPEC X4).

        Raises:
            StateError: it was removed or moved.
        """
        try:
            same = samestat(os.fstat(self.descriptor), self.root.stat())
        except OSError:
            same = False
        if not same:
            raise StateError(
                "the state directory was removed or moved during the run",
                where=str(self.root.parents[1]),
                remedy="leave it alone while a run uses it; repeat the command to resume",
            )

    def keep_workspace(self) -> None:
        """See to it that the agent's workspace is a directory: an empty one if it removed it.

        An agent can, where nothing confines it; it has then deleted every file.

        Raises:
            StateError: the state directory was removed, or cannot be written.
        """
        self.check()
        try:
            real_directory(self.root, self.agent_workspace.relative_to(self.root))
        except OSError as error:
            raise state_error(error, self.agent_workspace) from None

    def verification(self, name: str) -> tuple[Path, Path]:
        """A workspace (not yet there) and a run directory for one verification."""
        return self.root / name / "ws", make_directory(self.root / name / "run")


@contextmanager
def places(runs: Path) -> Iterator[Places]:
    """Directories below `runs`, removed at the end whatever happened.

    Raises:
        StateError: they cannot be created.
    """
    root = runs / token_hex(4)
    lock = FileLock(_lock_of(root))
    with lock:
        descriptor = os.open(make_directory(root), os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield Places(root, descriptor)
        finally:
            os.close(descriptor)
            remove_tree(root)
            _lock_of(root).unlink(missing_ok=True)


@contextmanager
def temporary_files(runs: Path) -> Iterator[None]:
    """Have all temporary files of this process lie below `runs`, where a sweep finds them.

    Raises:
        StateError: the directory cannot be created.
    """
    before = tempfile.tempdir
    with places(runs) as own:
        tempfile.tempdir = str(own.scratch)
        try:
            yield
        finally:
            tempfile.tempdir = before


def sweep(state: StateDirectory) -> list[Path]:
    """Remove what killed processes left: places of cells, and half of what they were building.

    That of living ones is locked and stays.

    Raises:
        StateError: the state directory cannot be written.
    """
    swept = _sweep_places(state.runs)
    for parent in (state.environments, *sorted(state.tools.glob("runtime/*/"))):
        swept += sweep_partial(parent)
    return swept + sweep_snapshots(state.snapshots)


def _sweep_places(runs: Path) -> list[Path]:
    swept = []
    for root in sorted({path.with_suffix("") for path in runs.iterdir()}):
        try:
            with FileLock(_lock_of(root), timeout=0):
                remove_tree(root)
                swept.append(root)
        except Timeout:
            continue
        _lock_of(root).unlink(missing_ok=True)
    return swept


def _lock_of(root: Path) -> Path:
    return root.with_name(f"{root.name}.lock")
