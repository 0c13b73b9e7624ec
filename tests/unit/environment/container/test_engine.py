"""The engine: absent, elsewhere or full, each is told as what it is and what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.environment.cgroups import Limits
from nanobench.environment.container import engine as engines
from nanobench.environment.container.engine import Engine, connect, failure, talking
from nanobench.errors import EnvironmentSetupError


@pytest.fixture
def engine(tmp_path: Path) -> Callable[..., Engine]:
    def make(controllers: frozenset[str], data: str = str(tmp_path)) -> Engine:
        client: Any = None
        limits = Limits(processes=100, memory_bytes=1 << 30, cpus=2)
        return Engine(client, "1", False, "amd64", data, limits, controllers)

    return make


def test_a_missing_engine_is_told_with_its_place(tmp_path: Path) -> None:
    place = f"unix://{tmp_path}/no.sock"
    with pytest.raises(EnvironmentSetupError, match="cannot reach") as told:
        connect({"DOCKER_HOST": place})
    assert place in told.value.where
    assert "DOCKER_HOST" in told.value.remedy


@pytest.mark.parametrize("address", ["ssh://user:secret@far.example", "tcp://10.0.0.9:2376"])
def test_an_engine_elsewhere_is_refused_without_being_asked(address: str) -> None:
    with pytest.raises(EnvironmentSetupError, match="another machine") as told:
        connect({"DOCKER_HOST": address})
    assert "secret" not in str(told.value)


def test_a_nonsensical_address_is_no_traceback() -> None:
    with pytest.raises(EnvironmentSetupError):
        connect({"DOCKER_HOST": "nonsense://x y"})


def test_a_full_disk_is_told_as_such(engine: Callable[..., Engine]) -> None:
    told = failure("the image cannot be built", "write /x: no space left on device", "mend it")
    assert "no space" in told.what
    assert "prune" in told.remedy
    with pytest.raises(EnvironmentSetupError, match="GiB of space left"):
        engine(frozenset()).check_space(1 << 60)
    engine(frozenset(), data="/in/a/virtual/machine").check_space(1 << 60)


def test_what_the_client_raises_becomes_our_error() -> None:
    from docker.errors import APIError
    from requests.exceptions import ConnectionError as Lost

    for error in (APIError("no", explanation="refused"), Lost("gone")):
        with pytest.raises(EnvironmentSetupError, match="cannot ask") as told, talking("ask"):
            raise error
        assert told.value.remedy == engines.START_REMEDY


def test_only_limits_that_can_be_enforced_are_asked_for(engine: Callable[..., Engine]) -> None:
    some = engine(frozenset({"pids", "cpu"}))
    assert some.limit_options() == {"pids_limit": 100, "nano_cpus": 2 * 10**9}
    assert (some.held("pids"), some.held("memory")) == ("cgroup", "none")
