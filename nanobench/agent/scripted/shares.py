"""Which tests a scripted model lets pass: any share of any task's target tests.

An agent's half-done work passes some tests and fails others, but which lines of a patch serve
which tests cannot be read off it. So the whole patch is applied, and its functions fail an
assertion while one of the chosen tests runs.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from nanobench.agent.scripted.javascript_source import failing_assertion, in_front
from nanobench.agent.scripted.python_source import with_failing_assertion
from nanobench.agent.scripted.sources import (
    JAVASCRIPT,
    PYTHON,
    TaskView,
    family_of_language,
    family_of_path,
    is_module,
)
from nanobench.verify.adapters import adapt
from nanobench.workspace.changes import EXECUTABLE, REGULAR, Change

_TOLD_APART = frozenset({"pytest", "vitest", "jest"})
Held = Mapping[str, frozenset[str] | None]
"""Names of tests by family; null: all that run."""


@dataclass(frozen=True)
class _Target:
    family: str
    name: str
    tests: int  # of several files, if they share a name


def share_held(view: TaskView, least: int, most: int, *, every_family: bool) -> Held:
    """The tests to be held back so that `least` to `most` target tests pass.

    Suites whose runner does not tell product code which test runs pass no test at all.

    Args:
        every_family: something fails in every language.

    Raises:
        NotApplicableError: there is no such choice, or the targets are not known.
    """
    targets = _told_apart(view)
    for wanted in range(least, most + 1):
        passing, count = set[_Target](), 0
        for target in _choosable(targets, every_family=every_family):
            if count + target.tests <= wanted:
                passing.add(target)
                count += target.tests
        if least <= count <= most:
            return _held(view, targets, passing)
    raise view.not_applicable("its tests cannot be told apart finely enough")


def others_held(view: TaskView) -> Held:
    """All tests but the target tests.

    Raises:
        NotApplicableError: there are no others that can be told apart.
    """
    expected = view.task.expected
    targets = {(target.family, target.name) for target in _told_apart(view)}
    held: dict[str, set[str]] = {}
    for suite, family in _told_apart_suites(view):
        for test_id in expected.pass_to_pass.get(suite, ()) if expected else ():
            if (family, _name(family, test_id)) not in targets:
                held.setdefault(family, set()).add(_name(family, test_id))
    if not held:
        raise view.not_applicable("no other tests can be told from the target tests")
    return {family: frozenset(names) for family, names in held.items()}


def holding_back(view: TaskView, held: Held) -> tuple[Change, ...]:
    """The golden patch, whose functions fail an assertion in the tests that are held back.

    Raises:
        NotApplicableError: no file of a family that holds tests back can be changed so.
    """
    tree = {change.path: change for change in view.source_changes}
    changed = set()
    for path in sorted({*tree, *view.required}):
        family = family_of_path(path) or ""
        after = tree.get(path) or view.at_base(path)
        if family not in held or after.mode not in (REGULAR, EXECUTABLE) or not is_module(path):
            continue
        bent = _bent(family, after, held[family])
        tree |= {change.path: change for change in bent}
        changed |= {family} if bent else set()
    missing = held.keys() - changed
    if missing:
        raise view.not_applicable(f"it does not know how to fail in {', '.join(sorted(missing))}")
    return tuple(tree.values())


def _bent(family: str, after: Change, tests: Collection[str] | None) -> tuple[Change, ...]:
    content = after.content or b""
    if family == PYTHON:
        bent = with_failing_assertion(content, tests)
        return (replace(after, content=bent),) if bent is not None else ()
    if family == JAVASCRIPT:
        return stood_in_front(after, failing_assertion(tests))
    return ()


def stood_in_front(after: Change, enter: str) -> tuple[Change, ...]:
    """A JavaScript module in two: the old one aside, and one in front of it; else nothing."""
    front = in_front(after.path, after.content or b"", enter)
    if front is None:
        return ()
    content, aside = front
    return replace(after, content=content), replace(after, path=aside, base_mode=None)


def _told_apart_suites(view: TaskView) -> list[tuple[str, str]]:
    """Name and family of the suites in families whose runners all tell the test."""
    suites = [
        (suite.name, family_of_language(suite.language), adapt(suite, "result").runner)
        for suite in view.task.all_suites()
    ]
    mute = {family for _, family, runner in suites if runner not in _TOLD_APART}
    return [(name, family) for name, family, _ in suites if family not in mute]


def _told_apart(view: TaskView) -> list[_Target]:
    counts: dict[tuple[str, str], int] = {}
    expected = view.task.expected
    for suite, family in _told_apart_suites(view):
        for test_id in expected.fail_to_pass.get(suite, ()) if expected else ():
            key = family, _name(family, test_id)
            counts[key] = counts.get(key, 0) + 1
    return [_Target(*key, tests) for key, tests in sorted(counts.items())]


def _name(family: str, test_id: str) -> str:
    """Of `tests.test_a.TestB::test_c[1]` the last part; of `a.test.ts::B does c` the second."""
    if family == JAVASCRIPT:
        return test_id.partition("::")[2]
    head, bracket, values = test_id.partition("[")
    return head.rpartition("::")[2] + bracket + values


def _choosable(targets: list[_Target], *, every_family: bool) -> list[_Target]:
    if not every_family:
        return targets
    last = {target.family: target for target in targets}
    return [target for target in targets if last[target.family] != target]


def _held(view: TaskView, targets: list[_Target], passing: set[_Target]) -> Held:
    held: dict[str, frozenset[str] | None] = dict.fromkeys(view.targets_by_family())
    for family in {target.family for target in targets}:
        names = {t.name for t in targets if t.family == family and t not in passing}
        held[family] = frozenset(names)
    return {family: names for family, names in held.items() if names is None or names}
