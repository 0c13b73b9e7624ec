"""What isolates a cell: what is enforced, told, warned of and refused."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from nanobench.environment.limits import confinement
from nanobench.errors import EnvironmentSetupError
from nanobench.model.plan import Cell, ModelRef
from nanobench.model.task import TaskEnvironment
from nanobench.pipeline.isolating import agent_network, check_isolation, isolation, warn_of


@dataclass
class Box:
    """A sandbox, as far as it is looked at."""

    name: str = "bubblewrap"
    isolates_network: bool = True
    resources: Any = field(default_factory=lambda: confinement().told())


class Bench:
    """One task, providers `acme` (through the gateway) and `google` (direct)."""

    def __init__(self, sandbox: Box, gateway: bool = True, **environment: Any) -> None:
        task = SimpleNamespace(environment=TaskEnvironment.model_validate(environment))
        self.tasks = {"t": SimpleNamespace(task=task)}
        choice = SimpleNamespace(strategy_of=lambda task: task.environment.strategy)
        self.services = SimpleNamespace(sandbox=sandbox, choice=choice)
        self.gateway = object() if gateway else None
        self.taping = SimpleNamespace(replay=None)

    def provider(self, name: str) -> dict[str, Any]:
        return {"name": name, **({"sdkProvider": "google"} if name == "google" else {})}


def cell(model: str = "acme/one") -> Cell:
    return Cell(model=ModelRef.parse(model), task_id="t", mode="hinted", run=1)


def network(model: str = "acme/one", **bench: Any) -> str:
    sandbox = bench.pop("sandbox", Box())
    return agent_network(cell(model), Bench(sandbox, **bench), sandbox)  # type: ignore[arg-type]


def test_only_the_provider_is_reached_by_default() -> None:
    assert network() == "provider-only"
    assert network("scripted/gold") == "provider-only"


def test_what_cannot_be_enforced_is_not_claimed() -> None:
    assert network(sandbox=Box("none", isolates_network=False)) == "host"
    assert network(gateway=False) == "host"
    assert network("google/gemini") == "host"
    assert network(network={"agent": "host"}) == "host"


def test_the_record_says_what_was_enforced() -> None:
    box = Box("namespaces")
    told = isolation(cell(), Bench(box), box)  # type: ignore[arg-type]
    assert (told.strategy, told.sandbox) == ("native", "namespaces")
    assert (told.agent_network, told.verify_network) == ("provider-only", "none")
    assert told.resources == confinement().told()
    docker = Box("docker")
    assert isolation(cell(), Bench(box), docker).strategy == "container"  # type: ignore[arg-type]
    bare = Box("none", isolates_network=False)
    told = isolation(cell(), Bench(bare), bare)  # type: ignore[arg-type]
    assert (told.agent_network, told.verify_network) == ("host", "host")


@pytest.mark.parametrize("name", ["namespaces", "none"])
def test_weak_sandboxes_are_warned_of_unless_the_task_runs_in_a_container(name: str) -> None:
    box = Box(name)
    assert "doctor" in warn_of([cell()], Bench(box))  # type: ignore[arg-type]
    assert warn_of([cell()], Bench(box, strategy="container")) == ""  # type: ignore[arg-type]
    assert warn_of([], Bench(box)) == ""  # type: ignore[arg-type]


def test_full_isolation_is_neither_warned_of_nor_refused() -> None:
    bench: Any = Bench(Box())
    assert warn_of([cell()], bench) == ""
    check_isolation([cell(), cell("scripted/gold")], bench)


@pytest.mark.parametrize(
    ("bench", "model", "lack"),
    [
        (Bench(Box("none", isolates_network=False)), "acme/one", "none: nothing isolates"),
        (Bench(Box("namespaces")), "acme/one", "namespaces: agents can read"),
        (Bench(Box(), gateway=False), "acme/one", "acme is asked directly"),
        (Bench(Box()), "google/gemini", "google is asked directly"),
        (Bench(Box(), network={"agent": "host"}), "acme/one", "task t gives its agent"),
    ],
)
def test_every_lack_is_refused_where_isolation_is_required(
    bench: Any, model: str, lack: str
) -> None:
    with pytest.raises(EnvironmentSetupError) as refused:
        check_isolation([cell(model), cell(model)], bench)
    assert refused.value.where.count(lack) == 1
