"""The ledger: what belongs to a living process is left alone, the rest is swept."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nanobench.environment.container import ledger as ledgers
from nanobench.environment.container.ledger import (
    LABEL_RUN,
    LABEL_STATE,
    Ledger,
    sweep_all,
    sweep_at_start,
    sweep_containers,
)
from nanobench.errors import EnvironmentSetupError
from nanobench.files import StateDirectory


class FakeEngine:
    """Holds containers by their labels."""

    def __init__(self, *labels: dict[str, str]) -> None:
        self.kept = {f"c{number}": one for number, one in enumerate(labels)}
        self.api: Any = SimpleNamespace(containers=self._containers, remove_container=self._remove)

    def close(self) -> None:
        pass

    def _containers(self, *, all: bool, filters: dict[str, str]) -> list[dict[str, Any]]:
        name, _, value = filters["label"].partition("=")
        return [
            {"Id": key, "Labels": labels}
            for key, labels in self.kept.items()
            if name in labels and value in ("", labels[name])
        ]

    def _remove(self, container: str, **options: object) -> None:
        del self.kept[container]


def of(run: str, state: Path) -> dict[str, str]:
    return {LABEL_RUN: run, LABEL_STATE: str(state)}


def killed_run(state: StateDirectory) -> str:
    """What a killed process leaves: its directory and a lock that nobody holds."""
    ledger = Ledger(state)
    with ledger.directory() as place:
        (place / "env").write_text("A=1")
        ledger._lock.release()
        run = ledger.labels[LABEL_RUN]
        (state.part("containers") / run / "left").write_text("")
    return run


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, state: StateDirectory) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setattr(ledgers, "connect", lambda: fake)
    return fake


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory.locate(tmp_path / "state")


def test_a_killed_runs_containers_are_swept_and_a_living_ones_are_not(
    state: StateDirectory, engine: FakeEngine
) -> None:
    living, dead = Ledger(state), killed_run(state)
    alive = living.labels[LABEL_RUN]
    engine.kept = {"a": of(alive, state.root), "b": of(dead, state.root), "c": {"other": "x"}}
    assert sweep_containers(state) == ["b"]
    assert set(engine.kept) == {"a", "c"}
    assert {path.name for path in state.part("containers").iterdir()} == {alive, f"{alive}.lock"}
    living.close()
    assert list(state.part("containers").iterdir()) == []


def test_an_engine_is_asked_only_when_something_was_left(
    state: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> Any:
        raise EnvironmentSetupError("cannot reach the engine")

    monkeypatch.setattr(ledgers, "connect", absent)
    assert sweep_at_start(state) == ""
    killed_run(state)
    assert sweep_at_start(state) == "cannot reach the engine"
    assert sweep_at_start(state) == "cannot reach the engine"  # it is kept in mind


def test_a_full_sweep_takes_what_no_living_process_owns(
    state: StateDirectory, engine: FakeEngine, tmp_path: Path
) -> None:
    other = StateDirectory.locate(tmp_path / "other")
    living = Ledger(state)
    engine.kept = {
        "living": of(living.labels[LABEL_RUN], state.root),
        "lost": of("f" * 16, state.root),
        "elsewhere": of("e" * 16, other.root),
        "gone": of("d" * 16, tmp_path / "removed"),
        "not ours": {},
    }
    assert sorted(sweep_all(state)) == ["gone", "lost"]
    assert set(engine.kept) == {"living", "elsewhere", "not ours"}
    living.close()
