"""The gateway's part of a cell: live, recorded, or replayed without the provider's description."""

from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.gateway.budget import Purse
from nanobench.agent.gateway.prices import FilePrices, PriceList
from nanobench.agent.gateway.substitution import Locations
from nanobench.errors import InvalidInputError
from nanobench.model.plan import Cell, Limits, ModelRef, Plan, PlanTask
from nanobench.pipeline.taping import (
    Taping,
    cassette_of,
    live_line,
    live_product,
    recorded_product,
    replayed_line,
)

SECRET = "sk-canary-9d0f11aa"
PROVIDER = {
    "name": "lab",
    "sdkProvider": "anthropic",
    "baseUrl": "https://internal.example.org/v1",
    "apiKey": SECRET,
    "headers": {"X-Token": SECRET},
    "models": ["m"],
    "socketTimeout": 60_000,
}
CELL = Cell(model=ModelRef(provider="lab", model="m"), task_id="t", mode="hinted", run=1)
PLACE = Locations("/ws", "/run/nb", "/state")


def plan(**limits: Any) -> Plan:
    task = PlanTask(task_id="t", origin="sample", sha256="0" * 64)
    return Plan(tasks=(task,), cells=(CELL,), limits=Limits(**limits))


def test_a_live_line_asks_the_provider_and_saves_nothing(tmp_path: Path) -> None:
    line = live_line(CELL, PROVIDER, PLACE, plan(), Taping())
    assert (line.upstream.base_url, line.upstream.api_key) == (PROVIDER["baseUrl"], SECRET)
    assert line.options.retry.waits
    line.save()
    assert list(tmp_path.iterdir()) == []


def test_a_replay_needs_nothing_but_the_cassette(tmp_path: Path) -> None:
    recorded = live_line(CELL, PROVIDER, PLACE, plan(), Taping(record=tmp_path))
    recorded.save()
    assert not any(SECRET in path.read_text() for path in tmp_path.iterdir())
    assert not any("example.org" in path.read_text() for path in tmp_path.iterdir())
    cassette = cassette_of(CELL, tmp_path)
    line = replayed_line(CELL, cassette, PLACE, plan(), Taping(replay=tmp_path))
    assert line.provider == {
        "name": "lab",
        "sdkProvider": "anthropic",
        "models": ["m"],
        "socketTimeout": 60_000,
    }
    assert line.upstream.api_key is None
    assert line.options.idle_seconds == recorded.options.idle_seconds
    assert line.options.retry.patience_seconds == recorded.options.retry.patience_seconds
    assert not line.options.retry.waits


def test_the_cells_of_a_bench_share_a_purse_and_not_their_requests(tmp_path: Path) -> None:
    taping = Taping(purse=Purse(1.0))
    limited = plan(max_requests=1)
    guards = [live_line(CELL, PROVIDER, PLACE, limited, taping).options.guard for _ in range(2)]
    first, second = guards
    assert first is not None
    assert second is not None
    assert first.refusal() is None
    assert first.refusal() is not None
    assert second.refusal() is None
    taping.purse.spent += 2
    refusal = second.refusal()
    assert refusal is not None
    assert refusal.code == "nanobench_request_limit", "its own ceiling is told first"


def test_a_replay_has_the_price_of_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"currency":"USD","models":{"lab/m":{"input":1,"output":1}}}')
    prices = PriceList((FilePrices(path),))
    tapes = tmp_path / "tapes"
    live_line(CELL, PROVIDER, PLACE, plan(), Taping(record=tapes, prices=prices)).save()
    cassette = cassette_of(CELL, tapes)
    assert prices.knows(live_product(CELL.model, "https://internal.example.org/v1"))
    assert prices.knows(recorded_product(CELL, cassette))


def test_a_cassette_of_another_cell_is_not_found(tmp_path: Path) -> None:
    live_line(CELL, PROVIDER, PLACE, plan(), Taping(record=tmp_path)).save()
    with pytest.raises(InvalidInputError, match="no cassette"):
        cassette_of(CELL.model_copy(update={"run": 2}), tmp_path)
