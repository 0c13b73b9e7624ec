"""Whose a container is, so that what a killed process left is known and swept."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from filelock import FileLock, Timeout

from nanobench.environment.container.engine import Engine, connect, talking
from nanobench.errors import EnvironmentSetupError
from nanobench.files import StateDirectory, make_directory, state_error
from nanobench.workspace.teardown import remove_tree

LABEL_RUN = "nanobench.run"
LABEL_STATE = "nanobench.state"


class Ledger:
    """The run of one process: a directory that is locked for as long as the process lives.

    Attributes:
        labels: stand on every container of the run.
    """

    def __init__(self, state: StateDirectory) -> None:
        run = token_hex(8)
        self.labels = {LABEL_RUN: run, LABEL_STATE: str(state.root)}
        self._root = make_directory(state.part("containers") / run)
        self._lock = FileLock(_lock_of(self._root))
        try:
            self._lock.acquire()
        except OSError as error:
            raise state_error(error, self._root) from None

    @contextmanager
    def directory(self) -> Iterator[Path]:
        """A new directory for one command, which the engine can see.

        Raises:
            StateError: it cannot be created.
        """
        try:
            place = Path(tempfile.mkdtemp(dir=self._root))
        except OSError as error:
            raise state_error(error, self._root) from None
        try:
            yield place
        finally:
            remove_tree(place)

    def close(self) -> None:
        """End the run: nothing of it is left to be swept."""
        remove_tree(self._root)
        self._lock.release()
        _lock_of(self._root).unlink(missing_ok=True)


def sweep_containers(state: StateDirectory) -> list[str]:
    """Remove the containers of processes that are gone; their ids.

    The engine is contacted only if a process left its run behind.

    Raises:
        EnvironmentSetupError: the engine cannot be reached, or refuses.
    """
    gone = [root for root in _runs(state) if not _is_alive(root)]
    if not gone:
        return []
    engine = connect()
    removed: list[str] = []
    try:
        for root in gone:
            removed += _remove(engine, f"{LABEL_RUN}={root.name}")
            remove_tree(root)
            _lock_of(root).unlink(missing_ok=True)
    finally:
        engine.close()
    return removed


def sweep_all(state: StateDirectory) -> list[str]:
    """Remove every container that no living process owns; their ids.

    Those of other state directories are left alone as long as these exist.

    Raises:
        EnvironmentSetupError: the engine cannot be reached, or refuses.
    """
    removed = sweep_containers(state)
    engine = connect()
    try:
        return removed + _sweep_unowned(state, engine)
    finally:
        engine.close()


def _sweep_unowned(state: StateDirectory, engine: Engine) -> list[str]:
    removed: list[str] = []
    with talking("list containers"):
        listed = engine.api.containers(all=True, filters={"label": LABEL_RUN})
    for one in listed:
        labels = one["Labels"]
        root = Path(labels.get(LABEL_STATE, ""))
        run = root / "containers" / labels[LABEL_RUN]
        ours = root == state.root or not root.is_dir()
        if ours and not _is_alive(run):
            removed += _remove(engine, f"{LABEL_RUN}={run.name}")
    return removed


def _remove(engine: Engine, label: str) -> list[str]:
    with talking("remove what an ended run left", "remove it with `docker rm --force`"):
        listed = engine.api.containers(all=True, filters={"label": label})
        for one in listed:
            engine.api.remove_container(one["Id"], v=True, force=True)
    return [str(one["Id"]) for one in listed]


def _runs(state: StateDirectory) -> list[Path]:
    return sorted({path.with_suffix("") for path in state.part("containers").iterdir()})


def _is_alive(root: Path) -> bool:
    """Whether the process of a run still holds its lock."""
    if not _lock_of(root).exists():
        return False
    try:
        with FileLock(_lock_of(root), timeout=0):
            return False
    except Timeout:
        return True


def _lock_of(root: Path) -> Path:
    return root.with_name(f"{root.name}.lock")


def sweep_at_start(state: StateDirectory) -> str:
    """Sweep at a start; what went wrong, or nothing. An engine that is away stops nobody."""
    try:
        sweep_containers(state)
    except EnvironmentSetupError as error:
        return error.what
    return ""
