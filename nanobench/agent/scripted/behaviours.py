"""The scripted models: each a pure function from a task to a conversation."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from nanobench.agent.scripted.edits import edit_calls, pack
from nanobench.agent.scripted.mistakes import (
    throwing_at_the_end,
    with_invented_call,
    with_required_keyword,
)
from nanobench.agent.scripted.script import Fault, Say, Script
from nanobench.agent.scripted.sources import (
    JAVASCRIPT,
    PYTHON,
    NotApplicableError,
    TaskView,
    family_of_path,
    is_module,
)
from nanobench.errors import UsageError
from nanobench.workspace.changes import EXECUTABLE, REGULAR, Change

_OTHER_INTERFACE: Mapping[str, Callable[[bytes], bytes | None]] = {
    PYTHON: with_required_keyword,
    JAVASCRIPT: throwing_at_the_end,
}

__all__ = ["BEHAVIOURS", "Behaviour", "NotApplicableError", "TaskView", "script_for"]


@dataclass(frozen=True)
class Behaviour:
    """A scripted model: what it does, and its conversation about a task.

    `script` raises NotApplicableError where the behaviour makes no sense.
    """

    summary: str
    script: Callable[[TaskView], Script]


def script_for(name: str, view: TaskView) -> Script:
    """The conversation of the scripted model `name` about a task.

    Raises:
        UsageError: there is no such model.
        NotApplicableError: it makes no sense for this task.
    """
    behaviour = BEHAVIOURS.get(name)
    if behaviour is None:
        raise UsageError(
            f"there is no scripted model {name!r}",
            where=f"scripted/{name}",
            remedy=f"choose one of: {', '.join(BEHAVIOURS)}",
        )
    return behaviour.script(view)


def _gold(view: TaskView) -> Script:
    return _editing(view, view.source_changes, "The change is complete.")


def _noop(view: TaskView) -> Script:
    return Script((Say("I read the task and see nothing to change."),))


def _irrelevant_edit(view: TaskView) -> Script:
    names = (b"NOTES.md", *(b"NOTES-%d.md" % number for number in range(2, 1000)))
    taken = view.base.paths | view.required
    free = next(name for name in names if name not in taken)
    note = Change(path=free, mode=REGULAR, content=b"# Notes\n\nTo be done.\n", base_mode=None)
    return _editing(view, (note,), "I wrote down what is to be done.")


def _partial(view: TaskView) -> Script:
    """The fewest languages whose suites hold at least half of the target tests, but not all."""
    targets = view.targets_by_family()
    chosen: list[str] = []
    for family in sorted(targets, key=lambda family: (-targets[family], family)):
        chosen.append(family)
        if sum(targets[name] for name in chosen) * 2 >= sum(targets.values()):
            break
    if len(chosen) == len(targets):
        raise view.not_applicable("no part of its languages holds half of the target tests")
    return _editing(view, view.changes_of(chosen), "Everything that matters is done.")


def _cross_language_half(view: TaskView) -> Script:
    """One language, of those whose suites hold less than half of the target tests."""
    targets = view.targets_by_family()
    minor = [family for family in targets if targets[family] * 2 < sum(targets.values())]
    if not minor:
        raise view.not_applicable("no language holds less than half of the target tests")
    family = max(minor, key=lambda family: (targets[family], family))
    return _editing(view, view.changes_of([family]), f"The {family} side is done.")


def _hallucinated_api(view: TaskView) -> Script:
    """Every required file calls a function that exists nowhere, so none of them loads."""
    changes = []
    for path in sorted(view.required):
        family = family_of_path(path)
        before = _at_base(view, path)
        if family in (PYTHON, JAVASCRIPT) and _is_source(before):
            content = with_invented_call(family, before.content or b"", view.task.base_commit)
            changes.append(replace(before, content=content))
    _need_every_suite(view, {family_of_path(change.path) for change in changes})
    return _editing(view, changes, "I used the project's own adapter for it.")


def _wrong_layer(view: TaskView) -> Script:
    """The golden idea behind another interface.

    Python functions want a keyword that nobody gives. JavaScript has no such error: there the
    modules fail to load with an error that speaks of neither a symbol nor an interface.
    """
    tree = {change.path: change for change in view.source_changes}
    broken = set()
    for path in sorted(view.required):
        after = tree.get(path) or _at_base(view, path)
        bend = _OTHER_INTERFACE.get(family_of_path(path) or "")
        content = bend(after.content or b"") if bend and _is_source(after) else None
        if content is not None:
            broken.add(family_of_path(path))
            tree[path] = replace(after, content=content)
    if PYTHON not in broken:
        raise view.not_applicable("no required file holds a Python function")
    _need_every_suite(view, broken)
    return _editing(view, tree.values(), "The work is done one layer above.")


def _context_overflow(view: TaskView) -> Script:
    limit = "This model's maximum context length is 8192 tokens. Your messages are longer."
    code = "context_length_exceeded"
    return Script((Fault(400, limit, error_class="context_size", code=code),))


def _editing(view: TaskView, changes: Iterable[Change], farewell: str) -> Script:
    return Script((*pack(edit_calls(changes, view.base)), Say(farewell)))


def _at_base(view: TaskView, path: bytes) -> Change:
    """A file as it is at the base; an absent one as an empty file to be added."""
    entry = view.snapshot.entries.get(path)
    if entry is None:
        return Change(path=path, mode=REGULAR, content=b"", base_mode=None)
    content = view.snapshot.blob(path)
    return Change(path=path, mode=entry.mode, content=content, base_mode=entry.mode)


def _is_source(change: Change) -> bool:
    return change.mode in (REGULAR, EXECUTABLE) and is_module(change.path)


def _need_every_suite(view: TaskView, broken: set[str | None]) -> None:
    """A mistake is this task's only if no suite can pass in spite of it."""
    spared = view.targets_by_family().keys() - broken
    if spared:
        raise view.not_applicable(f"it does not know how to fail in {', '.join(sorted(spared))}")


BEHAVIOURS: Mapping[str, Behaviour] = MappingProxyType(
    {
        "gold": Behaviour("applies the golden patch", _gold),
        "noop": Behaviour("changes nothing", _noop),
        "irrelevant-edit": Behaviour("edits a file that the task does not need", _irrelevant_edit),
        "partial": Behaviour("passes half of the target tests or more, not all", _partial),
        "hallucinated-api": Behaviour("calls a function that exists nowhere", _hallucinated_api),
        "wrong-layer": Behaviour("puts the change behind a wrong interface", _wrong_layer),
        "cross-language-half": Behaviour(
            "changes one language, with less than half of the target tests", _cross_language_half
        ),
        "context-overflow": Behaviour("runs over the context size at once", _context_overflow),
    }
)
