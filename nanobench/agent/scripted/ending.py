"""Behaviours that are known by how the run ends: errors of the provider, limits, odd replies."""

from nanobench.agent.scripted.editing import bash, gold
from nanobench.agent.scripted.script import Act, Cut, Fault, Say, Script, Step, ToolCall
from nanobench.agent.scripted.sources import TaskView

# The provider itself asks for short waits, so that what outlasts the retries does so in no time.
_SOON = {"retry-after-ms": "10"}
_OVERFLOW = Fault(
    400,
    "This model's maximum context length is 8192 tokens. Your messages are longer.",
    error_class="context_size",
    code="context_length_exceeded",
)
_RATE_LIMIT = Fault(
    429,
    "Rate limit reached for requests",
    error_class="rate_limit",
    kind="requests",
    code="rate_limit_exceeded",
    headers=_SOON,
)
_DOWN = Fault(
    500,
    "The server had an error while processing your request.",
    error_class="server_error",
    kind="server_error",
    headers=_SOON,
)
_BAD_KEY = Fault(401, "Incorrect API key provided.", "authentication", code="invalid_api_key")
_LOOK = Act((ToolCall("list_directory", {"path": "."}),))
_WAIT = Act((bash("sleep 100"),))  # the agent's tool ends a command after 120 seconds


def context_overflow(view: TaskView) -> Script:
    """At the first request."""
    return Script((_OVERFLOW,))


def context_overflow_after_edit(view: TaskView) -> Script:
    """After the whole work."""
    return _after_work(view, _OVERFLOW)


def pollutes(view: TaskView) -> Script:
    """Leaves what is no edit, and overflows: only a run without edits ends under rule 1."""
    litter = (
        "mkdir -p .nanocoder __pycache__ && echo notes > .nanocoder/notes.md"
        " && echo bytes > __pycache__/left.cpython-311.pyc"
    )
    return Script((Act((bash(litter),)), _OVERFLOW))


def rate_limited(view: TaskView) -> Script:
    """Before any reply."""
    return Script((_RATE_LIMIT,))


def rate_limited_after_reply(view: TaskView) -> Script:
    """After a reply, without an edit."""
    return Script((_LOOK, _RATE_LIMIT))


def rate_limited_after_edit(view: TaskView) -> Script:
    """After the whole work."""
    return _after_work(view, _RATE_LIMIT)


def server_error(view: TaskView) -> Script:
    """At every request."""
    return Script((_DOWN,))


def auth_error(view: TaskView) -> Script:
    """At every request."""
    return Script((_BAD_KEY,))


def stream_cut(view: TaskView) -> Script:
    """The connection is gone in the middle of the final reply, after the whole work."""
    return _after_work(view, Cut("The change is"))


def endless(view: TaskView) -> Script:
    """Commands that take their time, for ever."""
    return Script((_WAIT,))


def endless_after_work(view: TaskView) -> Script:
    """The whole work, and then such commands."""
    return _after_work(view, _WAIT)


def out_of_turns(view: TaskView) -> Script:
    """The whole work, and then a look around at every turn that is left."""
    return _after_work(view, _LOOK)


def empty_reply(view: TaskView) -> Script:
    """No text and no call."""
    return Script((Say(""),))


def cut_by_length(view: TaskView) -> Script:
    """The provider ends the first reply at its largest length."""
    return Script((Say("First I will", finish_reason="length"),))


def mines_history(view: TaskView) -> Script:
    """Looks for the merged change in git, and would take it."""
    task = view.task
    merge = task.merge_commit or "HEAD@{1}"
    commands = (
        "git log --all --oneline",
        "git reflog",
        "git fsck --unreachable --lost-found",
        "git cat-file --batch-all-objects --batch-check='%(objecttype)' | sort | uniq -c",
        "git fetch origin",
        f"git show {merge}",
        f"git checkout {merge} -- .",
        f"git cherry-pick --no-commit {merge}",
    )
    calls = tuple(bash(command) for command in commands)
    return Script((Act(calls), Say("There is nothing to be found.")))


def _after_work(view: TaskView, last: Step) -> Script:
    """The golden patch; then `last`, again and again, in the place of the farewell."""
    return Script((*gold(view).steps[:-1], last))
