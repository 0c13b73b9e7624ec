"""The declared substitutions: what a request says differently in two equal runs.

Each is listed in every cassette, and none looks at more of a request than it has to: what a
prompt says of the day is looked for in the prompt, what a command prints of its duration in the
results of tools.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Literal

Scope = Literal["prompt", "result", "other"]
Where = Literal["prompt", "result", "everywhere"]

_BEFORE, _AFTER = r"(?<![\w.-])", r"(?![\w-]|\.\w)"  # a path, not a part of a longer one
_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"


@dataclass(frozen=True)
class Substitution:
    """A regular expression and what stands in the place of its matches.

    Attributes:
        name: says what varies.
        where: in which texts of a request it is looked for.
        pattern: in Python's syntax, multi-line.
        replacement: text, `\\1` for the first group.
    """

    name: str
    where: Where
    pattern: str
    replacement: str


@dataclass(frozen=True)
class Locations:
    """What of this machine and this run an agent can see; an empty one is not looked for.

    Attributes:
        workspace: the workspace's path as the agent sees it.
        run: the path of home, temporary files and configuration.
        state: the state directory, which holds runtimes and dependencies.
    """

    workspace: str
    run: str
    state: str


VARYING: tuple[Substitution, ...] = (
    Substitution(
        "address of the gateway",
        "everywhere",
        r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}\b",
        "<gateway>",
    ),
    Substitution(
        "date of the system prompt",
        "prompt",
        r"\b((?:Current )?Date: )\d{4}-\d{2}-\d{2}$",
        r"\1<date>",
    ),
    Substitution("version of the kernel", "prompt", r"^(OS Version: ).+$", r"\1<kernel>"),
    Substitution(
        "clock time",
        "result",
        r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?"
        rf"|\b(?:{_DAY} )?{_MONTH} {{1,2}}\d{{1,2}} \d{{2}}:\d{{2}}(?::\d{{2}})?"
        r"(?: [A-Z]{3,4})?(?: \d{4})?\b"
        r"|\b\d{1,2}:\d{2}:\d{2}\b",
        "<time>",
    ),
    Substitution(
        "duration",
        "result",
        r"\b\d+\.\d+ ?s(?:econds)?\b|\b\d+(?:\.\d+)? ?ms\b|\b(?<=duration_ms )\d+(?:\.\d+)?",
        "<duration>",
    ),
    # pytest fills its last line up with as many as the duration leaves room for.
    Substitution("rule of equals signs", "result", r"={3,}", "==="),
    Substitution("address in memory", "result", r"\b0x[0-9a-f]{8,16}\b", "<address>"),
    Substitution(
        "name of a temporary file",
        "result",
        r"\btmp[a-z0-9_]{8}\b|\btmp\.[A-Za-z0-9]{10}\b|\bpytest-\d+\b",
        "<temporary>",
    ),
)
"""What varies wherever a run happens."""


def substitutions(locations: Locations) -> tuple[Substitution, ...]:
    """All substitutions of a run, longer paths before those that hold them."""
    places = (
        ("path of the workspace", locations.workspace, "<workspace>"),
        ("path of the run directory", locations.run, "<run>"),
        ("path of the state directory", locations.state, "<state>"),
    )
    return (
        *(
            Substitution(name, "everywhere", _literal(text), mark)
            for name, text, mark in places
            if text
        ),
        *VARYING,
    )


def substitute(text: str, rules: Sequence[Substitution], scope: Scope) -> str:
    """Make every substitution that is looked for in texts of this scope, in order."""
    for rule in rules:
        if rule.where in ("everywhere", scope):
            text = _compiled(rule.pattern).sub(rule.replacement, text)
    return text


def relocate(content: bytes, recorded: Locations, current: Locations) -> bytes:
    """Let a recorded reply speak of the paths of this run.

    A path that a stream split over two events stays: the agent's next request is then one that
    the recording does not hold.
    """
    pairs = {
        before: after
        for before, after in zip(_paths(recorded), _paths(current), strict=True)
        if before and before != after
    }
    if not pairs:
        return content
    # One pass, so that what was put in is not looked at again; longer paths first.
    longest = sorted(pairs, key=len, reverse=True)
    pattern = "|".join(f"({_literal(before)})" for before in longest).encode()
    after = [pairs[before].encode() for before in longest]
    return re.sub(pattern, lambda match: after[(match.lastindex or 1) - 1], content)


def describe(rules: Iterable[Substitution]) -> list[dict[str, str]]:
    """The substitutions as plain data."""
    return [asdict(rule) for rule in rules]


def _paths(locations: Locations) -> tuple[str, str, str]:
    return locations.workspace, locations.run, locations.state


def _literal(text: str) -> str:
    return f"{_BEFORE}{re.escape(text)}{_AFTER}"


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)
