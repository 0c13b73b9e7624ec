"""The scripted models: each a pure function from a task to a conversation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nanobench.agent.scripted import editing, ending, mistaken
from nanobench.agent.scripted.script import Script
from nanobench.agent.scripted.sources import NotApplicableError, TaskView
from nanobench.errors import UsageError

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


_TABLE: tuple[tuple[str, str, Callable[[TaskView], Script]], ...] = (
    # Edits
    ("gold", "applies the golden patch", editing.gold),
    ("noop", "changes nothing", editing.noop),
    ("irrelevant-edit", "edits a file that the task does not need", editing.irrelevant_edit),
    ("partial", "passes half of the target tests or more, not all", editing.partial),
    ("partial-below-half", "passes less than half of the targets", editing.partial_below_half),
    (
        "cross-language-half",
        "changes one language, with less than half of the target tests",
        editing.cross_language_half,
    ),
    ("regression", "passes all targets and breaks other tests", editing.regression),
    ("bash-only", "applies the golden patch by the shell", editing.bash_only),
    ("bash-only-partial", "does what `partial` does by the shell", editing.bash_only_partial),
    ("commits", "applies the golden patch and commits it", editing.commits),
    ("renames", "renames the required files", editing.renames),
    ("failed-edits", "makes only edits that are rejected", editing.failed_edits),
    # Mistakes
    ("hallucinated-api", "calls a function that exists nowhere", mistaken.hallucinated_api),
    ("wrong-layer", "puts the change behind a wrong interface", mistaken.wrong_layer),
    (
        "asked-symbol-elsewhere",
        "defines what the tests ask for in another place",
        mistaken.asked_symbol_elsewhere,
    ),
    ("wrong-logic", "gives wrong results: assertions fail", mistaken.wrong_logic),
    ("crashes-suite", "ends the process of the tests", mistaken.crashes_suite),
    # Endings
    ("context-overflow", "runs over the context size at once", ending.context_overflow),
    (
        "context-overflow-after-edit",
        "applies the golden patch, then runs over the context size",
        ending.context_overflow_after_edit,
    ),
    ("pollutes", "leaves litter, then runs over the context size", ending.pollutes),
    ("rate-limited", "is rate limited before any reply", ending.rate_limited),
    ("rate-limited-after-reply", "is rate limited after one", ending.rate_limited_after_reply),
    (
        "rate-limited-after-edit",
        "applies the golden patch, then is rate limited",
        ending.rate_limited_after_edit,
    ),
    ("server-error", "has a provider that fails", ending.server_error),
    ("auth-error", "has a provider that refuses the key", ending.auth_error),
    ("stream-cut", "applies the golden patch, then is cut off in a reply", ending.stream_cut),
    ("endless", "runs into the wall-clock limit without an edit", ending.endless),
    (
        "endless-after-work",
        "applies the golden patch, then runs into the wall-clock limit",
        ending.endless_after_work,
    ),
    ("out-of-turns", "applies the golden patch, then uses up its turns", ending.out_of_turns),
    ("empty-reply", "answers with nothing", ending.empty_reply),
    ("cut-by-length", "is ended by the length of its first reply", ending.cut_by_length),
    ("mines-history", "looks for the merged change in git", ending.mines_history),
)

BEHAVIOURS: Mapping[str, Behaviour] = MappingProxyType(
    {name: Behaviour(summary, script) for name, summary, script in _TABLE}
)
