"""Behaviours that make one typical mistake, and let every target test fail by it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from posixpath import splitext

from nanobench.agent.scripted import javascript_source, python_source
from nanobench.agent.scripted.compiled_source import with_another_parameter
from nanobench.agent.scripted.editing import editing
from nanobench.agent.scripted.mistakes import definition, killing, with_comment, with_invented_call
from nanobench.agent.scripted.script import Script
from nanobench.agent.scripted.shares import holding_back, stood_in_front
from nanobench.agent.scripted.sources import (
    JAVASCRIPT,
    PYTHON,
    TaskView,
    family_of_path,
    is_module,
)
from nanobench.verify.definitions import defines
from nanobench.workspace.changes import EXECUTABLE, REGULAR, Change

_ASKED = {PYTHON: python_source.asked_by_tests, JAVASCRIPT: javascript_source.asked_by_tests}


def hallucinated_api(view: TaskView) -> Script:
    """Every required file calls a function that exists nowhere, so none of them loads."""
    commit = view.task.base_commit
    changes = _of_required(
        view, lambda family, source: with_invented_call(family, source, commit), at_base=True
    )
    return editing(view, changes, "I used the project's own adapter for it.")


def wrong_layer(view: TaskView) -> Script:
    """The golden idea behind another interface, so that every call of it has a wrong form."""
    tree = {change.path: change for change in view.source_changes}
    broken = set()
    for path in sorted(view.required):
        for change in _with_other_interface(tree.get(path) or view.at_base(path)):
            broken.add(family_of_path(path))
            tree[change.path] = change
    view.need_every_suite(broken)
    return editing(view, tree.values(), "The work is done one layer above.")


def wrong_logic(view: TaskView) -> Script:
    """The golden idea with wrong results: an assertion fails in every test."""
    held = dict.fromkeys(view.targets_by_family())
    return editing(view, holding_back(view, held), "It works as asked.")


def crashes_suite(view: TaskView) -> Script:
    """Every required file ends the process that loads it."""
    return editing(view, _of_required(view, killing, at_base=False), "It works as asked.")


def asked_symbol_elsewhere(view: TaskView) -> Script:
    """Nothing but the symbols that the tests ask for, in other files than where they belong."""
    asked = list(_asked_symbols(view))
    if not asked:
        raise view.not_applicable("its tests ask for no name that a required file is to introduce")
    tree: dict[bytes, Change] = {}
    for symbol in asked:
        other = _beside(symbol.path, view)
        base = tree.get(symbol.path) or view.at_base(symbol.path)
        comment = f"what was asked for is in {other.decode()}"
        text = with_comment(symbol.family, base.content or b"", comment)
        tree[symbol.path] = replace(base, content=text)
        before = tree[other].content or b"" if other in tree else b""
        text = before + definition(symbol.family, symbol.name)
        tree[other] = Change(path=other, mode=REGULAR, content=text, base_mode=None)
    return editing(view, tree.values(), "The new function is there.")


@dataclass(frozen=True)
class _Symbol:
    """A name that a required file is to introduce."""

    name: str
    family: str
    path: bytes


def _asked_symbols(view: TaskView) -> Iterator[_Symbol]:
    sources = {change.path for change in view.source_changes}
    required = b"\n".join(view.at_base(path).content or b"" for path in sorted(view.required))
    tests = [change for change in view.golden.changes if change.path not in sources]
    names = {
        (family, name)
        for test in tests
        if (family := family_of_path(test.path) or "") in _ASKED
        for name in _ASKED[family](test.content or b"")
        if name.encode() not in required
    }
    for family, name in sorted(names):
        for change in view.source_changes:
            lines = (change.content or b"").decode("utf-8", "replace").splitlines()
            fits = change.path in view.required and family_of_path(change.path) == family
            if fits and defines(change.path.decode("utf-8", "replace"), lines, name):
                yield _Symbol(name, family, change.path)
                break


def _of_required(
    view: TaskView, change: Callable[[str, bytes], bytes | None], *, at_base: bool
) -> list[Change]:
    """Every required module, changed; from its base or from its golden state.

    Raises:
        NotApplicableError: some suite could pass in spite of it.
    """
    golden = {} if at_base else {change.path: change for change in view.source_changes}
    tree: dict[bytes, Change] = dict(golden)
    broken = set()
    for path in sorted(view.required):
        before = golden.get(path) or view.at_base(path)
        family = family_of_path(path) or ""
        content = change(family, before.content or b"") if _is_source(before) else None
        if content is not None:
            broken.add(family)
            tree[path] = replace(before, content=content)
    view.need_every_suite(broken)
    return list(tree.values())


def _with_other_interface(after: Change) -> tuple[Change, ...]:
    family, source = family_of_path(after.path) or "", after.content or b""
    if not _is_source(after):
        return ()
    if family == JAVASCRIPT:
        return stood_in_front(after, javascript_source.wrong_interface())
    if family == PYTHON:
        content = python_source.with_required_keyword(source)
    else:
        content = with_another_parameter(family, source)
    return (replace(after, content=content),) if content is not None else ()


def _beside(path: bytes, view: TaskView) -> bytes:
    stem, suffix = splitext(path)
    name = stem + b"_support" + suffix
    if name in view.base.paths or name in view.required:
        raise view.not_applicable(f"{name.decode('utf-8', 'replace')} is there already")
    return name


def _is_source(change: Change) -> bool:
    return change.mode in (REGULAR, EXECUTABLE) and is_module(change.path)
