"""The selector language of `--tasks`.

Terms are separated by commas or blanks (quote a value that holds one). A task is selected if
it satisfies, for every kind of term that is used, at least one term of this kind, and no
excluded term (`!term`).

    kind      terms                                     holds for
    name      honojs-hono-5067  hono*  path/task.json   the task's id, or the task of a file
              sample                                    the built-in sample task
    tier=     tier=3                                    this tier; likewise tier<=N, tier>=N,
                                                        each of the three a kind of its own
    lang      lang:go  lang:type*                       one of the task's languages
    domain    domain:web*                               the domain
    repo      repo:honojs/hono                          the repository
    status    status:active  status:retired             the status

Values compare without regard to case; `*`, `?` and `[...]` match as in file names. A retired
task is selected only by its exact id, by its file, or with a `status` term; the sample only by
the term `sample`.
"""

import difflib
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

from nanobench.dataset.catalog import Catalog, TaskEntry, load_task
from nanobench.errors import UsageError

SAMPLE = "sample"
_SHOWN_NAMES = 40
_TIER = re.compile(r"tier(<=|>=|=)([1-4])")
_ATTRIBUTES: dict[str, Callable[[TaskEntry], Sequence[str]]] = {
    "lang": lambda entry: entry.task.languages,
    "domain": lambda entry: (entry.task.domain,),
    "repo": lambda entry: (entry.task.repo,),
    "status": lambda entry: (entry.task.status.state,),
}
_STATUSES = ("active", "retired")


class NothingSelectedError(UsageError):
    """Every term of a selection is known, and no task fits all of them."""


@dataclass(frozen=True)
class Named:
    """Holds for the task whose id is `pattern` or matches it."""

    pattern: str
    kind = "name"

    def __call__(self, entry: TaskEntry) -> bool:
        """Whether the id matches."""
        return fnmatchcase(entry.task.task_id.casefold(), self.pattern.casefold())

    def explicit(self, entry: TaskEntry) -> bool:
        """Whether this term is the task's own id and not a pattern that happens to match."""
        return self.pattern.casefold() == entry.task.task_id.casefold()


@dataclass(frozen=True)
class InFile:
    """Holds for the task of one file."""

    entry: TaskEntry
    kind = "name"

    def __call__(self, entry: TaskEntry) -> bool:
        """Whether this is the file's task, byte for byte."""
        return self.explicit(entry)

    def explicit(self, entry: TaskEntry) -> bool:
        """The same: a file always names exactly one task."""
        return (entry.task.task_id, entry.sha256) == (self.entry.task.task_id, self.entry.sha256)


@dataclass(frozen=True)
class BuiltIn:
    """Holds for the built-in sample."""

    kind = "name"

    def __call__(self, entry: TaskEntry) -> bool:
        """Whether this is the sample."""
        return entry.origin == "sample"

    explicit = __call__


@dataclass(frozen=True)
class OfTier:
    """Holds for tasks whose tier compares to `tier` by `operator`."""

    operator: str
    tier: int

    @property
    def kind(self) -> str:
        """Each operator is a kind of its own, so that two bounds make a range."""
        return f"tier{self.operator}"

    def __call__(self, entry: TaskEntry) -> bool:
        """Whether the tier fits."""
        tier = entry.task.tier()
        return {"=": tier == self.tier, "<=": tier <= self.tier, ">=": tier >= self.tier}[
            self.operator
        ]


@dataclass(frozen=True)
class HasAttribute:
    """Holds for tasks one of whose values of the attribute `kind` matches `pattern`."""

    kind: str
    pattern: str

    def __call__(self, entry: TaskEntry) -> bool:
        """Whether a value matches."""
        return any(
            fnmatchcase(value.casefold(), self.pattern.casefold())
            for value in _ATTRIBUTES[self.kind](entry)
        )


Term = Named | InFile | BuiltIn | OfTier | HasAttribute


@dataclass(frozen=True)
class Selector:
    """A parsed selection; calling it says whether a task belongs to it."""

    included: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()

    def __call__(self, entry: TaskEntry) -> bool:
        """Whether `entry` is selected."""
        if any(term(entry) for term in self.excluded) or not self._in_use(entry):
            return False
        by_kind = sorted(self.included, key=lambda term: term.kind)
        return all(
            any(term(entry) for term in terms)
            for _, terms in groupby(by_kind, key=lambda term: term.kind)
        )

    def _in_use(self, entry: TaskEntry) -> bool:
        """Whether a task that is retired or no part of the dataset was really asked for."""
        names = [term for term in self.included if isinstance(term, Named | InFile | BuiltIn)]
        if any(term.explicit(entry) for term in names):
            return True
        by_status = any(term.kind == "status" for term in self.included)
        return entry.origin == "dataset" and (by_status or entry.task.status.state == "active")


def split_terms(expressions: Iterable[str]) -> tuple[str, ...]:
    """The terms of all expressions; one that is the path of a file as a whole is one term.

    Raises:
        UsageError: a quotation is not closed.
    """
    terms: list[str] = []
    for expression in expressions:
        if expression.endswith(".json") and _is_file(expression):
            terms.append(expression)
            continue
        lexer = shlex.shlex(expression, posix=True, punctuation_chars="")
        lexer.whitespace += ","
        lexer.whitespace_split = True
        lexer.commenters = ""
        lexer.escape = ""
        try:
            terms += lexer
        except ValueError:
            raise UsageError(
                "a quotation mark in --tasks is not closed", where=expression
            ) from None
    return tuple(term for term in terms if term)


def names_sample(expressions: Iterable[str]) -> bool:
    """Whether a selection needs the built-in sample in its catalogue."""
    return SAMPLE in split_terms(expressions)


def parse_selector(expressions: Iterable[str]) -> Selector:
    """Read the expressions of `--tasks`; none selects all active tasks.

    Raises:
        UsageError: a term is not of the language.
        InvalidInputError: a task file named by a term is wrong.
    """
    terms = split_terms(expressions)
    return Selector(
        tuple(_parse_term(term) for term in terms if not term.startswith("!")),
        tuple(_parse_term(term[1:]) for term in terms if term.startswith("!")),
    )


def select(expressions: Iterable[str], catalog: Catalog) -> tuple[TaskEntry, ...]:
    """The selected tasks, by id.

    Raises:
        UsageError: a term is not of the language or matches nothing.
        NothingSelectedError: no task fits all terms.
        InvalidInputError: a task file named by a term is wrong.
    """
    selector = parse_selector(expressions)
    known = tuple(catalog.holding(_from_files(selector)).entries.values())
    for term in (*selector.included, *selector.excluded):
        _check_known(term, known)
    chosen = tuple(entry for entry in known if selector(entry))
    if not chosen:
        raise NothingSelectedError("no task is selected", remedy=_what_exists(known))
    return chosen


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:  # e.g. a name longer than the file system takes
        return False


def _from_files(selector: Selector) -> tuple[TaskEntry, ...]:
    """The tasks of files named by terms; they stand in for tasks of the same id elsewhere."""
    found: dict[str, TaskEntry] = {}
    for term in selector.included:
        if isinstance(term, InFile):
            entry = found.setdefault(term.entry.task.task_id, term.entry)
            if entry.sha256 != term.entry.sha256:
                raise UsageError(
                    f"two different files hold the task {entry.task.task_id!r}",
                    where=f"{entry.path} and {term.entry.path}",
                    remedy="select one of them",
                )
    return tuple(found.values())


def _parse_term(term: str) -> Term:
    if term == SAMPLE:
        return BuiltIn()
    tier = _TIER.fullmatch(term)
    if tier:
        return OfTier(tier[1], int(tier[2]))
    kind, colon, value = term.partition(":")
    if colon and value and kind in _ATTRIBUTES:
        return HasAttribute(kind, value)
    if term.endswith(".json") or ("/" in term and not colon):
        return InFile(load_task(Path(term)))
    if not term or colon or any(sign in term for sign in "<>="):
        raise UsageError(
            f"{term!r} is no term of the selector language",
            where="--tasks",
            remedy="use an id, a pattern such as 'hono*', the path of a task file, tier=N, "
            "tier<=N, tier>=N (N from 1 to 4), " + ", ".join(f"{k}:VALUE" for k in _ATTRIBUTES),
        )
    return Named(term)


def _check_known(term: Term, known: Sequence[TaskEntry]) -> None:
    """A name or value that no task has is a slip, not an empty selection."""
    if isinstance(term, OfTier | InFile | BuiltIn) or any(term(entry) for entry in known):
        return
    if isinstance(term, Named):
        ids = [entry.task.task_id for entry in known]
        near = difflib.get_close_matches(term.pattern, ids, n=3)
        raise UsageError(
            f"no task is named {term.pattern!r}",
            where="--tasks",
            remedy=f"did you mean {' or '.join(near)}?" if near else _what_exists(known),
        )
    values = {value for entry in known for value in _ATTRIBUTES[term.kind](entry)}
    if term.kind == "status":
        values.update(_STATUSES)
    if not any(fnmatchcase(v.casefold(), term.pattern.casefold()) for v in values):
        quoted = (f'"{value}"' if " " in value else value for value in sorted(values))
        raise UsageError(
            f"no task has {term.kind}:{term.pattern}",
            where="--tasks",
            remedy=f"there are: {', '.join(quoted) or 'no tasks'}",
        )


def _what_exists(entries: Sequence[TaskEntry]) -> str:
    ids = sorted(entry.task.task_id for entry in entries)
    if not ids:
        return "the task directory is empty; name another with --tasks-dir"
    more = f" and {len(ids) - _SHOWN_NAMES} more" if len(ids) > _SHOWN_NAMES else ""
    return f"there are: {', '.join(ids[:_SHOWN_NAMES])}{more}"
