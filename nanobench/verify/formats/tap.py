"""TAP 12 to 14 with subtests (testanything.org), as Node, Perl, node-tap, bats and tape write it.

Ids: `parent > child`; a point without a description is `test N`. A parent is told only if it
failed although none of its children did. A TODO point is skipped, whatever its result, as it is
in the JUnit of `node --test`. No kept library reads nested subtests (tap.py 3.2 does not).
"""

import re
from dataclasses import dataclass, field
from typing import BinaryIO

from nanobench.model.signals import TestOutcome, TestStatus
from nanobench.model.text import clean
from nanobench.verify import traces
from nanobench.verify.formats.lines import Excerpt, text_lines
from nanobench.verify.results import (
    DETAILS_LIMIT,
    Failure,
    ParsedResult,
    ParseError,
    SuiteError,
    bounded,
    numbered,
    outcome,
    relative,
)

_DEPTH_LIMIT = 100
_INDENT = 4
_POINT = re.compile(r"^(?P<not>not )?ok\b *(?P<number>\d*) *(?:- *)?(?P<rest>.*)$")
_PLAN = re.compile(r"^1\.\.(?P<count>\d+)\b(?P<skip> *# *skip)?", re.IGNORECASE)
_VERSION = re.compile(r"^TAP version \d+$")
_BAIL = re.compile(r"^Bail out!\s*(?P<reason>.*)$")
_DIRECTIVE = re.compile(r"(?:^|\s+)# *(?P<kind>skip|todo)\S*\s*(?P<why>.*)$", re.IGNORECASE)
_BRACE = re.compile(r"(?:^|\s+)\{$")
_CONTROL = re.compile(r"[\0-\x1f]")
_ESCAPE = re.compile(r"\\([\\#])")
_KEY = re.compile(r"^(?P<key>\w+):(?: (?P<value>.*))?$")
_BLOCK = re.compile(r"[|>][+-]?$")
_SUBTESTS_FAILED = "subtestsFailed"
_CHILD_PROCESS = ("exitCode", "signal")  # of a file, in the diagnostics of `node --test`


@dataclass
class _Point:
    ok: bool
    names: tuple[str, ...]
    directive: str | None
    why: str
    diagnostics: dict[str, str] = field(default_factory=dict)
    details: Excerpt = field(default_factory=lambda: Excerpt(DETAILS_LIMIT))
    children: "list[_Point]" = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return not self.ok and self.directive is None


@dataclass
class _Level:
    """The points so far at one depth of nesting."""

    points: list[_Point] = field(default_factory=list)
    planned: int | None = None
    opened: bool = False  # by a brace behind its parent


def parse(stream: BinaryIO, root: str) -> ParsedResult:
    """Read TAP.

    Raises:
        ParseError: the file is not in UTF-8, holds no TAP, or nests too deep.
    """
    reader = _Reader(root)
    for line in text_lines(stream):
        reader.add(line)
    return reader.result()


class _Reader:
    def __init__(self, root: str) -> None:
        self._root = root
        self._levels = [_Level()]
        self._point: _Point | None = None  # the last one, whose diagnostics may follow
        self._yaml: str | None = None  # indentation of an open block
        self._key: str | None = None
        self._tests: list[TestOutcome] = []
        self._errors: list[SuiteError] = []
        self._bailed = self._seen = False

    def result(self) -> ParsedResult:
        self._end_document()
        if not self._seen:
            raise ParseError("the file holds no TAP", truncated=True)
        return ParsedResult(tuple(numbered(self._tests)), tuple(self._errors))

    def add(self, line: str) -> None:
        body = line.lstrip(" ")
        indent = len(line) - len(body)
        if self._yaml is not None:
            self._diagnose(line)
        elif self._point and body == "---" and indent % _INDENT:
            self._yaml, self._key = line[:indent], None
        elif indent % _INDENT == 0:
            self._structure(indent // _INDENT, body)

    def _structure(self, depth: int, body: str) -> None:
        point, plan, bail = _POINT.match(body), _PLAN.match(body), _BAIL.match(body)
        if point:
            self._add_point(depth, point)
        elif plan:
            self._seen = True
            self._level(depth).planned = int(plan["count"]) if len(plan["count"]) < 10 else None
            self._point = None
        elif bail and depth < len(self._levels):
            self._seen = self._bailed = True
            reason = bail["reason"] or "no reason told"
            self._errors.append(SuiteError(None, None, f"Bail out! {clean(reason)}"))
        elif body == "}" and depth + 1 < len(self._levels) and self._levels[depth + 1].opened:
            self._adopt(depth, self._levels[depth].points[-1])
        elif depth == 0 and _VERSION.match(body):
            self._end_document()
            self._seen = True

    def _level(self, depth: int) -> _Level:
        if depth > _DEPTH_LIMIT:
            raise ParseError(f"the TAP nests deeper than {_DEPTH_LIMIT} subtests")
        while len(self._levels) <= depth:
            self._levels.append(_Level())
        return self._levels[depth]

    def _add_point(self, depth: int, match: re.Match[str]) -> None:
        self._seen = True
        level, rest = self._level(depth), match["rest"]
        brace = _BRACE.search(rest)
        rest = rest[: brace.start()] if brace else rest
        directive = _DIRECTIVE.search(rest)
        name = _CONTROL.sub("?", rest[: directive.start()] if directive else rest)
        point = _Point(
            ok=match["not"] is None,
            names=(self._name(name) or f"test {len(level.points) + 1}",),
            directive=directive["kind"].lower() if directive else None,
            why=directive["why"] if directive else "",
        )
        level.points.append(point)
        self._point = point
        if brace:
            self._level(depth + 1).opened = True
        else:
            self._adopt(depth, point)

    def _name(self, text: str) -> str:
        """Without its escapes; Node 20 calls a file without a test by its whole path."""
        name = _ESCAPE.sub(r"\1", text).strip()
        return name.removeprefix(f"{self._root}/") if self._root != "/" else name

    def _adopt(self, depth: int, parent: _Point) -> None:
        """Give a point the subtests that stand before it (or, in braces, behind it)."""
        while len(self._levels) > depth + 1:
            deepest = self._levels.pop()
            if len(self._levels) == depth + 1:
                parent.children = deepest.points
                self._check_plan(deepest, parent.names[0])
            else:
                self._levels[-1].points += deepest.points  # whose parent is missing

    def _diagnose(self, line: str) -> None:
        point, indent = self._point, self._yaml or ""
        assert point is not None  # noqa: S101 - a block follows a point
        text = line.removeprefix(indent)
        if text == "..." or not (line.startswith(indent) or not line.strip()):
            self._yaml = None
            return
        point.details.add(text + "\n")
        pair = _KEY.match(text)
        if pair:
            self._key, value = pair["key"], pair["value"] or ""
            point.diagnostics[self._key] = "" if _BLOCK.match(value) else _scalar(value)
        elif self._key and len(point.diagnostics[self._key]) < DETAILS_LIMIT:
            point.diagnostics[self._key] += text.strip() + "\n"

    def _end_document(self) -> None:
        """Tell the points, and what is wrong with their number."""
        self._yaml = self._point = None
        while len(self._levels) > 1:
            deepest = self._levels.pop()
            self._levels[-1].points += deepest.points
        level = self._levels.pop()
        self._levels = [_Level()]
        for point in level.points:
            self._tell(point, ())
        if level.points and level.planned is None and not self._bailed:
            self._errors.append(SuiteError(None, None, "the TAP has no plan: it ends early"))
        self._check_plan(level, None)

    def _check_plan(self, level: _Level, parent: str | None) -> None:
        count = len(level.points)
        if level.planned is not None and level.planned != count and not self._bailed:
            place = f"{clean(parent)}: " if parent else ""
            message = f"{place}the TAP plans {level.planned} tests and tells {count}"
            self._errors.append(SuiteError(None, None, message))

    def _tell(self, point: _Point, parents: tuple[str, ...]) -> None:
        names = (*parents, *point.names)
        for child in point.children:
            self._tell(child, names)
        if point.children and (point.ok or any(_fails(child) for child in point.children)):
            return
        if point.diagnostics.get("failureType") == _SUBTESTS_FAILED:
            return
        if all(key in point.diagnostics for key in _CHILD_PROCESS) and not parents:
            self._errors.append(self._file_error(point))
            return
        self._tests.append(_outcome(point, names))

    def _file_error(self, point: _Point) -> SuiteError:
        file, details = relative(point.names[0], self._root), point.details.text()
        message = point.diagnostics.get("error", "the file failed")
        return SuiteError(clean(file), None, clean(message), bounded(details, DETAILS_LIMIT))


def _fails(point: _Point) -> bool:
    return point.failed or any(_fails(child) for child in point.children)


def _outcome(point: _Point, names: tuple[str, ...]) -> TestOutcome:
    status: TestStatus = "passed" if point.ok else "failed"
    failure = None
    if point.directive is not None:
        status, failure = "skipped", Failure(None, point.why)
    elif point.failed:
        values = point.diagnostics
        message = (values.get("error") or values.get("message") or "").strip()
        kind = values.get("name") or traces.of_javascript(message)[0]
        text = f"{kind}: {message}" if kind and not message.startswith(kind) else message
        status = "error" if values.get("failureType") == "cancelledByParent" else "failed"
        failure = Failure(kind, text, point.details.text())
    return outcome(" > ".join(names), status, _seconds(point), failure)


def _seconds(point: _Point) -> float | None:
    try:
        return float(point.diagnostics["duration_ms"]) / 1000
    except (KeyError, ValueError):
        return None


def _scalar(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1].replace("''", "'").replace('\\"', '"') if quoted else value
