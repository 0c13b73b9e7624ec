"""Python that makes one mistake, and everything else as before."""

import ast
from typing import Any

import pytest

from nanobench.agent.scripted.python_source import (
    asked_by_tests,
    with_failing_assertion,
    with_required_keyword,
)

SOURCE = b'''"""What it does."""

from __future__ import annotations

import functools


def plain(a, b=1):
    """Its own words."""
    return a + b


class C:
    def __init__(self):
        self.x = 1

    @property
    def p(self):
        return self.x

    @functools.cache
    def kept(self):
        return 5

    def __repr__(self):
        return "C"
'''


def run(source: bytes | None) -> dict[str, Any]:
    assert source is not None
    module: dict[str, Any] = {}
    exec(source, module)
    return module


def under_test(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PYTEST_CURRENT_TEST", f"tests/test_a.py::TestB::{name} (call)")


def test_awkward_signatures_still_parse() -> None:
    source = b"""
def plain(): ...
def positional(a, /, b=(1), *rest, c: int = 2, **more) -> None: ...
async def later(*, key): ...
class C:
    def __init__(self, x=1): self.x = x
    def __repr__(self): return "C"
    @property
    def p(self): return 1
"""
    bent = with_required_keyword(source)
    assert bent is not None
    ast.parse(bent)
    module = run(bent)
    for name in ("plain", "positional", "C"):
        with pytest.raises(TypeError, match="layer"):
            module[name](*([1] if name == "positional" else []))
    made = module["C"](layer=1)
    assert repr(made) == "C"
    with pytest.raises(TypeError, match="layer"):
        _ = made.p


@pytest.mark.parametrize("source", [b"x = 1\n", b"def broken(:\n", b"\0"])
def test_what_has_no_functions_cannot_be_bent(source: bytes) -> None:
    assert with_required_keyword(source) is None
    assert with_failing_assertion(source, None) is None


def test_functions_under_decorators_that_look_at_signatures_stay() -> None:
    source = b"import m\n@m.validator\ndef f(a): return a\n"
    assert with_required_keyword(source) is None


def test_only_the_tests_that_are_held_back_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    module = run(with_failing_assertion(SOURCE, ["test_one", "test_two[a (b)-1::2]"]))
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert module["plain"](1) == 2
    for name in ("test_three", "test_two", "test_two[a]"):
        under_test(monkeypatch, name)
        assert module["plain"](1) == 2
        assert module["C"]().p == 1
    for name in ("test_one", "test_two[a (b)-1::2]"):
        under_test(monkeypatch, name)
        with pytest.raises(AssertionError):
            module["plain"](1)
        with pytest.raises(AssertionError):
            module["C"]()


def test_every_test_fails_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = run(with_failing_assertion(SOURCE, None))
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    made = module["C"]()
    under_test(monkeypatch, "test_any")
    with pytest.raises(AssertionError):
        _ = made.p
    assert made.kept() == 5
    assert repr(made) == "C"


def test_the_module_keeps_its_docstrings_and_its_future() -> None:
    bent = with_failing_assertion(SOURCE, None)
    assert bent is not None
    tree = ast.parse(bent)
    assert ast.get_docstring(tree) == "What it does."
    assert run(bent)["plain"].__doc__ == "Its own words."


def test_names_are_asked_for_by_import_and_as_attributes() -> None:
    tests = b"""
import pkg.units
from pkg import units as u, largest
def test(): assert u.unit_of(1) and pkg.count and other.hidden
"""
    assert asked_by_tests(tests) >= {"units", "largest", "unit_of", "count"}
    assert "hidden" not in asked_by_tests(tests)
    assert asked_by_tests(b"def broken(:") == set()
