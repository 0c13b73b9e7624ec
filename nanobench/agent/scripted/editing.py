"""Behaviours that edit: all of the work, a share of it, or something else."""

from collections.abc import Iterable
from posixpath import splitext

from nanobench.agent.scripted.edits import by_shell, edit_calls, pack
from nanobench.agent.scripted.script import Act, Say, Script, ToolCall
from nanobench.agent.scripted.shares import holding_back, others_held, share_held
from nanobench.agent.scripted.sources import TaskView
from nanobench.workspace.changes import REGULAR, Change

_DONE = "The change is complete."


def editing(view: TaskView, changes: Iterable[Change], farewell: str) -> Script:
    """A conversation that makes these changes of the base, and ends."""
    return Script((*pack(edit_calls(changes, view.base)), Say(farewell)))


def bash(command: str) -> ToolCall:
    """A call of the agent's shell."""
    return ToolCall("execute_bash", {"command": command})


def gold(view: TaskView) -> Script:
    """The golden patch without its tests."""
    return editing(view, view.source_changes, _DONE)


def noop(view: TaskView) -> Script:
    """Words only."""
    return Script((Say("I read the task and see nothing to change."),))


def note(view: TaskView) -> Change:
    """A new file that the task does not need."""
    names = (b"NOTES.md", *(b"NOTES-%d.md" % number for number in range(2, 1000)))
    taken = view.base.paths | view.required
    free = next(name for name in names if name not in taken)
    return Change(path=free, mode=REGULAR, content=b"# Notes\n\nTo be done.\n", base_mode=None)


def irrelevant_edit(view: TaskView) -> Script:
    """One such file."""
    return editing(view, (note(view),), "I wrote down what is to be done.")


def partial(view: TaskView) -> Script:
    """Half of the target tests or more, not all."""
    return editing(view, _half(view), "Everything that matters is done.")


def partial_below_half(view: TaskView) -> Script:
    """Some of the target tests, less than half, and in no language all."""
    total = _targets(view)
    held = share_held(view, 1, (total - 1) // 2, every_family=True)
    return editing(view, holding_back(view, held), "The first part is done.")


def cross_language_half(view: TaskView) -> Script:
    """One language, of those whose suites hold less than half of the target tests."""
    targets = view.targets_by_family()
    minor = [family for family in targets if targets[family] * 2 < sum(targets.values())]
    if not minor:
        raise view.not_applicable("no language holds less than half of the target tests")
    family = max(minor, key=lambda family: (targets[family], family))
    return editing(view, view.changes_of([family]), f"The {family} side is done.")


def regression(view: TaskView) -> Script:
    """The whole work, at the price of tests that passed before."""
    view.targets_by_family()
    return editing(view, holding_back(view, others_held(view)), _DONE)


def bash_only(view: TaskView) -> Script:
    """The golden patch by the shell, of which the agent's report knows nothing."""
    return Script((*_by_shell(view, view.source_changes), Say(_DONE)))


def bash_only_partial(view: TaskView) -> Script:
    """What `partial` does, by the shell."""
    return Script((*_by_shell(view, _half(view)), Say("Everything that matters is done.")))


def commits(view: TaskView) -> Script:
    """The golden patch, committed."""
    work = pack(edit_calls(view.source_changes, view.base))
    return Script((*work, Act((bash("git add -A && git commit -qm work"),)), Say(_DONE)))


def renames(view: TaskView) -> Script:
    """Other names for the required files, with the agent's own tool, and nothing else."""
    moved = sorted(path.decode() for path in view.required & view.base.paths)
    if not moved:
        raise view.not_applicable("no required file is there to be renamed")
    calls = [
        ToolCall("file_op", {"operation": "move", "path": path, "destination": _renamed(path)})
        for path in moved
    ]
    return Script((*pack(calls), Say("The files have better names now.")))


def failed_edits(view: TaskView) -> Script:
    """Edits of required files that the agent's tools reject."""
    calls = [
        ToolCall("string_replace", {"path": path, "old_str": "\0never there", "new_str": "done"})
        for path in view.task.required_files
    ]
    return Script((*pack(calls), Say(_DONE)))


def _half(view: TaskView) -> tuple[Change, ...]:
    """The fewest languages that hold half of the targets; in one language, half of its tests."""
    targets = view.targets_by_family()
    total = sum(targets.values())
    chosen: list[str] = []
    for family in sorted(targets, key=lambda family: (-targets[family], family)):
        chosen.append(family)
        if sum(targets[name] for name in chosen) * 2 >= total:
            break
    if len(chosen) < len(targets):
        return view.changes_of(chosen)
    return holding_back(view, share_held(view, (total + 1) // 2, total - 1, every_family=False))


def _targets(view: TaskView) -> int:
    return sum(view.targets_by_family().values())


def _renamed(path: str) -> str:
    stem, suffix = splitext(path)
    return f"{stem}_renamed{suffix}"


def _by_shell(view: TaskView, changes: Iterable[Change]) -> tuple[Act, ...]:
    return pack(by_shell(edit_calls(changes, view.base)))
