"""Ceilings on what a cell and a bench may use, and the cost of each request.

A ceiling is held against what the provider reports. The request that crosses it is answered
still; the next one is refused.
"""

from dataclasses import dataclass, replace
from decimal import Decimal

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.dialects.base import ErrorText
from nanobench.agent.gateway.dialects.errors import (
    COST_LIMIT_CODE,
    REQUEST_LIMIT_CODE,
    TOKEN_LIMIT_CODE,
    UNMETERED_CODE,
)
from nanobench.agent.gateway.prices import PriceList, Product, Tokens


@dataclass(frozen=True)
class Budget:
    """The ceilings of one cell; null is none."""

    max_requests: int | None = None
    max_tokens: int | None = None


class Purse:
    """What all cells of a bench may spend together, in US dollars.

    Written in the gateway's thread only; others may look at it.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = None if limit is None else Decimal(str(limit))
        self.spent = Decimal(0)

    @property
    def empty(self) -> bool:
        """Whether nothing may be spent any more."""
        return self.limit is not None and self.spent >= self.limit


class Meter:
    """Counts what one cell uses, and refuses what is beyond (the gateway's `Guard`)."""

    def __init__(self, budget: Budget, purse: Purse, product: Product, prices: PriceList) -> None:
        self._budget = budget
        self._purse = purse
        self._product = product
        self._prices = prices
        self._requests = 0
        self._tokens = 0
        self._unmetered: str | None = None

    def refusal(self) -> ErrorText | None:
        """Why the next request is not sent; null lets it pass and counts it."""
        if self._unmetered is not None:
            return ErrorText("unmetered", UNMETERED_CODE, self._unmetered)
        for code, name, used, limit in (
            (REQUEST_LIMIT_CODE, "requests", self._requests, self._budget.max_requests),
            (TOKEN_LIMIT_CODE, "tokens", self._tokens, self._budget.max_tokens),
        ):
            if limit is not None and used >= limit:
                return _used_up(code, f"{used} {name} are used, {limit} allowed")
        if self._purse.empty:
            # Without what was spent: that depends on how far other cells have come.
            return _used_up(COST_LIMIT_CODE, f"the bench's ${self._purse.limit:f} are spent")
        self._requests += 1
        return None

    def settle(self, exchange: Exchange) -> Exchange:
        """Count a finished exchange; returns it with its cost, where one is known."""
        if exchange.cost is None:
            exchange = replace(exchange, cost=self._cost(exchange))
        read, written = exchange.input_tokens, exchange.output_tokens
        self._tokens += (read or 0) + (written or 0)
        if exchange.cost is not None:
            self._purse.spent += Decimal(str(exchange.cost))
        if _is_reply(exchange):
            if self._budget.max_tokens is not None and (read is None or written is None):
                self._unmetered = _unmetered("tokens", "--max-tokens")
            if self._purse.limit is not None and exchange.cost is None:
                self._unmetered = _unmetered("cost", "--max-cost")
        return exchange

    def _cost(self, exchange: Exchange) -> float | None:
        read, written = exchange.input_tokens, exchange.output_tokens
        if read is None or written is None:
            return None
        tokens = Tokens(read, min(exchange.cached_tokens or 0, read), written)
        cost = self._prices.cost(self._product, tokens)
        return None if cost is None else float(cost)


def _is_reply(exchange: Exchange) -> bool:
    """Whether the model answered, so that the exchange was paid for."""
    answered = exchange.status is not None and exchange.status < 400
    return answered and exchange.method == "POST" and not exchange.client_left


def _used_up(code: str, how: str) -> ErrorText:
    return ErrorText("budget", code, f"NanoBench ended this run at its limit: {how}")


def _unmetered(what: str, option: str) -> str:
    return (
        f"NanoBench ended this run: {option} is set, but the provider does not report what the "
        f"{what} of a reply was"
    )
