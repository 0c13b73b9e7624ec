"""Ceilings: the request that crosses one is the last, and what cannot be counted is said."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.budget import Budget, Meter, Purse
from nanobench.agent.gateway.prices import (
    FilePrices,
    PackagePrices,
    PriceList,
    Product,
    Tokens,
    price_list,
)
from nanobench.errors import InvalidInputError

PRODUCT = Product("p", "m", "http://127.0.0.1:1/v1")
REPLY = Exchange(200, None, 100, 20, "stop", 0.0, ())
FREE = PriceList(())


def prices(tmp_path: Path, **models: Any) -> FilePrices:
    path = tmp_path / "prices.json"
    named = models or {"p/m": {"input": 1.0, "output": 10, "cached_input": 0.5}}
    path.write_text(json.dumps({"currency": "USD", "models": named}))
    return FilePrices(path)


def code(meter: Meter) -> str | None:
    refusal = meter.refusal()
    return refusal.code if refusal else None


def test_no_ceiling_refuses_nothing() -> None:
    meter = Meter(Budget(), Purse(None), PRODUCT, FREE)
    for _ in range(50):
        assert meter.refusal() is None
        assert meter.settle(REPLY) == REPLY


def test_requests_are_counted_whatever_becomes_of_them() -> None:
    meter = Meter(Budget(max_requests=2), Purse(None), PRODUCT, FREE)
    assert [code(meter) for _ in range(3)] == [None, None, "nanobench_request_limit"]
    refusal = meter.refusal()
    assert refusal is not None
    assert refusal.error_class == "budget"
    assert "2 requests are used, 2 allowed" in refusal.message


def test_the_reply_that_crosses_the_token_ceiling_is_the_last() -> None:
    meter = Meter(Budget(max_tokens=240), Purse(None), PRODUCT, FREE)
    for _ in range(2):
        assert code(meter) is None
        meter.settle(REPLY)
    assert code(meter) == "nanobench_token_limit"
    assert code(meter) == "nanobench_token_limit", "it stays refused"


def test_failed_requests_use_no_tokens() -> None:
    meter = Meter(Budget(max_tokens=1), Purse(None), PRODUCT, FREE)
    failed = replace(REPLY, status=500, error_class="server_error", input_tokens=None)
    meter.settle(replace(failed, output_tokens=None))
    assert meter.refusal() is None


def test_all_cells_spend_from_one_purse(tmp_path: Path) -> None:
    purse, listed = Purse(0.0005), PriceList((prices(tmp_path),))
    first, second = (Meter(Budget(), purse, PRODUCT, listed) for _ in range(2))
    assert first.settle(REPLY).cost == pytest.approx(0.0003)
    assert not purse.empty
    assert second.refusal() is None
    second.settle(REPLY)
    assert purse.empty
    assert code(first) == code(second) == "nanobench_cost_limit"


def test_the_providers_own_price_wins(tmp_path: Path) -> None:
    purse = Purse(1.0)
    meter = Meter(Budget(), purse, PRODUCT, PriceList((prices(tmp_path),)))
    assert meter.settle(replace(REPLY, cost=0.25)).cost == 0.25
    assert purse.spent == Decimal("0.25")


@pytest.mark.parametrize(
    ("budget", "limit", "option"),
    [(Budget(max_tokens=100), None, "--max-tokens"), (Budget(), 1.0, "--max-cost")],
)
def test_a_ceiling_on_what_nobody_reports_ends_the_run(
    tmp_path: Path, budget: Budget, limit: float | None, option: str
) -> None:
    meter = Meter(budget, Purse(limit), PRODUCT, PriceList((prices(tmp_path),)))
    silent = replace(REPLY, input_tokens=None, output_tokens=None)
    assert meter.settle(silent).cost is None
    refusal = meter.refusal()
    assert refusal is not None
    assert (refusal.error_class, refusal.code) == ("unmetered", "nanobench_unmetered")
    assert option in refusal.message


@pytest.mark.parametrize(
    "innocent", [{"method": "GET"}, {"client_left": True}, {"status": 503}, {"status": None}]
)
def test_what_is_no_reply_of_a_model_needs_no_usage(innocent: dict[str, Any]) -> None:
    meter = Meter(Budget(max_tokens=100), Purse(1.0), PRODUCT, FREE)
    meter.settle(replace(REPLY, input_tokens=None, output_tokens=None, **innocent))
    assert meter.refusal() is None


def test_an_unknown_model_has_no_cost_and_not_the_cost_0(tmp_path: Path) -> None:
    listed = PriceList((prices(tmp_path, **{"p/free": {"input": 0, "output": 0}}),))
    meter = Meter(Budget(), Purse(None), PRODUCT, listed)
    assert meter.settle(REPLY).cost is None
    assert listed.cost(Product("p", "free", ""), Tokens(9, 0, 9)) == 0
    assert not listed.knows(PRODUCT)
    assert listed.knows(Product("p", "free", ""))


def test_cached_tokens_have_their_own_price(tmp_path: Path) -> None:
    own = prices(tmp_path)
    assert own.cost(PRODUCT, Tokens(1_000_000, 400_000, 100_000)) == Decimal("1.8")
    plain = prices(tmp_path, **{"p/m": {"input": 2, "output": 0}})
    assert plain.cost(PRODUCT, Tokens(1_000_000, 400_000, 0)) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "JSON"),
        ('{"models":{}}', "currency"),
        ('{"currency":"EUR","models":{}}', "currency"),
        ('{"currency":"USD","models":{"p/m":{"input":1}}}', "models.p/m.output"),
        ('{"currency":"USD","models":{"p/m":{"input":-1,"output":1}}}', "models.p/m.input"),
        ('{"currency":"USD","models":{"p/m":{"input":1,"output":1,"x":1}}}', "models.p/m.x"),
    ],
)
def test_a_wrong_price_file_is_an_error_with_its_place(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=told) as error:
        price_list(path)
    assert str(path) in error.value.where


def test_a_missing_price_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="No such file"):
        price_list(tmp_path / "none.json")


class Package:
    """Knows one model of one provider, as the real package does: LookupError otherwise."""

    Usage = dict

    def calc_price(self, usage: dict[str, int], model: str, **provider: str) -> Any:
        known = {"provider_api_url": "https://api.q.com/v1"}, {"provider_id": "q"}
        if model != "m" or provider not in known:
            raise LookupError

        class Priced:
            total_price = Decimal(usage["input_tokens"])
            provider = SimpleNamespace(id="q")

        return Priced


def test_the_package_prices_only_a_provider_that_it_knows() -> None:
    package = PackagePrices(Package(), "1")
    spent = Tokens(5, 0, 5)
    assert package.cost(Product("mine", "m", "https://api.q.com/v1"), spent) == 5
    assert package.cost(Product("Q", "m", "http://127.0.0.1/v1"), spent) == 5
    assert package.cost(Product("ollama", "m", "http://127.0.0.1/v1"), spent) is None
    assert package.cost(Product("q", "other", ""), spent) is None
    known = PriceList((package,)).provider_id(Product("mine", "m", "https://api.q.com/v1"))
    assert package.cost(Product("mine", "m", "", known), spent) == 5, "as a replay prices it"


def test_the_real_package_agrees_on_what_cached_tokens_are() -> None:
    pytest.importorskip("genai_prices")
    package = PackagePrices.installed()
    assert package is not None
    product = Product("x", "gpt-5", "https://api.openai.com/v1")
    plain = package.cost(product, Tokens(1_000_000, 0, 0))
    cached = package.cost(product, Tokens(1_000_000, 1_000_000, 0))
    assert plain is not None
    assert cached is not None
    assert 0 < cached < plain
    assert (
        package.cost(Product("ollama", "gpt-5", "http://localhost:11434/v1"), Tokens(1, 0, 1))
        is None
    )


def test_the_users_file_comes_first(tmp_path: Path) -> None:
    listed = PriceList((prices(tmp_path), PackagePrices(Package(), "9")))
    assert listed.cost(PRODUCT, Tokens(1_000_000, 0, 0)) == 1
    assert listed.version is not None
    assert listed.version.startswith("file sha256:")
    assert listed.version.endswith(", genai-prices 9")
    assert PriceList(()).version is None
