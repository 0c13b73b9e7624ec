"""What hostile programs put into documents that others read."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

NONSENSE = (
    None,
    True,
    0,
    -1,
    10**400,
    2**63,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\0",
    "../../etc/passwd",
    "9" * 5000,
    [],
    [[]],
    {},
    [{}],
    {"\ud800": "\ud800"},
)


def places(document: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = document.items() if isinstance(document, dict) else ()
    inner = enumerate(document) if isinstance(document, list) else inner
    return [place, *(found for key, value in inner for found in places(value, (*place, key)))]


def put(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    copy = document.copy()
    copy[place[0]] = put(copy[place[0]], place[1:], value)
    return copy


@pytest.fixture(scope="session")
def spoiled():
    """A document of plain data gives every one with a piece of nonsense at one of its places."""

    def documents(document: Any) -> Iterator[Any]:
        for place, value in product(places(document), NONSENSE):
            yield put(document, place, value)

    return documents
