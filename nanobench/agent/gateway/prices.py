"""What tokens cost: a file of the user's, or the optional package `genai-prices`.

A price that is not known is null and never 0.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, ValidationError

from nanobench.errors import InvalidInputError
from nanobench.model.base import Document

EXTRA = "nanobench[prices]"
_MILLION = Decimal(1_000_000)
_Price = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class Product:
    """What is paid for: a model as the plan names it, at a provider's base URL.

    `known_as` is the provider's id in the package of prices, where the address cannot tell it.
    """

    provider: str
    model: str
    base_url: str
    known_as: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True)
class Tokens:
    """Of one request: all that the model read, the part of it from a cache, all it wrote."""

    read: int
    cached: int
    written: int


class Prices(Protocol):
    """One source of prices."""

    @property
    def version(self) -> str:
        """Names the source and the state of its data."""

    def cost(self, product: Product, tokens: Tokens) -> Decimal | None:
        """In US dollars; null when the product is not known."""


class PriceOfModel(Document):
    """US dollars per million tokens; `cached_input` is the same as `input` if it is not given."""

    input: _Price
    output: _Price
    cached_input: _Price | None = None


class PriceFile(Document):
    """The user's own prices; names are those of `--models`."""

    currency: Literal["USD"]
    models: dict[str, PriceOfModel]


class FilePrices:
    """Prices of a file.

    Raises:
        InvalidInputError: it cannot be read or is no price file.
    """

    def __init__(self, path: Path) -> None:
        try:
            content = path.read_bytes()
            self._models = PriceFile.from_json(content).models
        except OSError as error:
            raise InvalidInputError(
                f"the price file cannot be read: {error.strerror}",
                where=f"--prices {path}",
                remedy="name a JSON file; docs/budgets.md shows one",
            ) from None
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in problem["loc"]) or "document"
            raise InvalidInputError(
                f"this is no price file: {place}: {problem['msg']}",
                where=f"--prices {path}",
                remedy="docs/budgets.md shows one",
            ) from None
        self.version = f"file sha256:{hashlib.sha256(content).hexdigest()[:16]}"

    def cost(self, product: Product, tokens: Tokens) -> Decimal | None:
        """By the exact name `provider/model`."""
        price = self._models.get(str(product))
        if price is None:
            return None
        cached = price.input if price.cached_input is None else price.cached_input
        uncached = max(tokens.read - tokens.cached, 0)
        total = uncached * price.input + tokens.cached * cached + tokens.written * price.output
        return total / _MILLION


class PackagePrices:
    """Prices of the package; only for a provider that its address or its name identifies.

    The package would guess a provider from the model's name alone, and so give a price to a
    model that runs on the user's own machine.
    """

    def __init__(self, package: Any, version: str) -> None:
        self._package = package
        self.version = f"genai-prices {version}"

    @classmethod
    def installed(cls) -> "PackagePrices | None":
        """The package, if it is there."""
        try:
            import genai_prices
        except ImportError:
            return None
        from importlib.metadata import version

        return cls(genai_prices, version("genai-prices"))

    def cost(self, product: Product, tokens: Tokens) -> Decimal | None:
        """By the provider's base URL, else by its name as an id of the package's."""
        priced = self._priced(product, tokens)
        return None if priced is None else Decimal(priced.total_price)

    def provider_id(self, product: Product) -> str | None:
        """The package's own id of the provider; null when it does not know the product."""
        priced = self._priced(product, Tokens(1, 0, 1))
        return None if priced is None else str(priced.provider.id)

    def _priced(self, product: Product, tokens: Tokens) -> Any:
        usage = self._package.Usage(
            input_tokens=tokens.read,
            cache_read_tokens=tokens.cached,
            output_tokens=tokens.written,
        )
        for provider in (
            {"provider_api_url": product.base_url},
            {"provider_id": product.known_as or product.provider.lower()},
        ):
            try:
                return self._package.calc_price(usage, product.model, **provider)
            except LookupError:
                continue
        return None


@dataclass(frozen=True)
class PriceList:
    """Several sources; the first that knows a product tells its price."""

    sources: Sequence[Prices]

    @property
    def version(self) -> str | None:
        """Of all sources; null when there is none."""
        return ", ".join(source.version for source in self.sources) or None

    def cost(self, product: Product, tokens: Tokens) -> Decimal | None:
        """In US dollars; null when no source knows the product."""
        costs = (source.cost(product, tokens) for source in self.sources)
        return next((cost for cost in costs if cost is not None), None)

    def provider_id(self, product: Product) -> str | None:
        """See `Product.known_as`."""
        packages = (source for source in self.sources if isinstance(source, PackagePrices))
        return next((package.provider_id(product) for package in packages), None)

    def knows(self, product: Product) -> bool:
        """Whether a request to this product will have a cost."""
        return self.cost(product, Tokens(1, 0, 1)) is not None


def price_list(path: Path | None) -> PriceList:
    """The user's file, then the package.

    Raises:
        InvalidInputError: the file cannot be read or is no price file.
    """
    own = [FilePrices(path)] if path is not None else []
    package = PackagePrices.installed()
    return PriceList((*own, package) if package else tuple(own))
