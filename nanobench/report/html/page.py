"""The page: templates, style and script into one HTML text that loads nothing.

Nothing that others wrote is trusted. Templates escape every value, after characters that steer
a reader's eye or a terminal were made visible; data for the script is JSON in which no `<` stands;
the content security policy names style and script by their hashes, so that nothing else of either
kind takes effect.
"""

import base64
import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from nanobench.report import tables
from nanobench.report.comparison_document import Comparison
from nanobench.report.document import Report
from nanobench.report.escape import plain, visible
from nanobench.report.html import answers
from nanobench.report.html.index import run_index
from nanobench.report.html.matrix import matrix

_HERE = Path(__file__).parent
_SCRIPTS = ("script.js", "detail.js")
_ANSWERS = (
    *("change_of", "commonest", "concerned", "drops", "gravest_first", "hardest", "leads"),
    *("modes_by_model", "moved", "moves", "obstacles", "ranked", "signs_of", "troubles"),
)
_FIGURES = ("difference", "estimated", "number", "percent", "points", "rate", "score")
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'"}


def render_page(
    report: Report,
    comparison: Comparison | None,
    files: Mapping[str, int],
    details: Mapping[str, Markup],
) -> str:
    """The whole page.

    Args:
        report: what it shows.
        comparison: of these results with a baseline, if there is one.
        files: as `run_index` takes them.
        details: what stands in the page itself: `script_json` of `detail`, by cell id.
    """
    style, script = _own("style.css"), _own(*_SCRIPTS)
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            comparison=comparison,
            main=answers.spoken_of(report),
            index=script_json(run_index(report, files)),
            details=details,
            style=style,
            script=script,
            style_hash=_source(style),
            script_hash=_source(script),
        )
    )


def script_json(value: Any) -> Markup:
    """JSON in ASCII that neither ends a script element nor begins anything in it."""
    text = json.dumps(_shown(value), separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_UNSAFE))  # noqa: S704 - no sign of markup is left


def _own(*names: str) -> Markup:
    """Style or script of this package."""
    texts = [(_HERE / name).read_text(encoding="utf-8") for name in names]
    return Markup("".join(texts))  # noqa: S704 - it is ours


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list | tuple):
        return [_shown(part) for part in value]
    if isinstance(value, dict):
        return {key: _shown(part) for key, part in value.items()}
    return value


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters.update(
        {name: getattr(tables, name) for name in _FIGURES},
        plain=plain,
        breakable=_breakable,
        x=_x,
        p=_p,
    )
    environment.globals.update(
        {name: getattr(answers, name) for name in _ANSWERS},
        matrix=matrix,
        NONE=tables.NONE,
    )
    return environment


def _finalize(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _breakable(name: str) -> Markup:
    """A name of ours that may be broken after each underscore."""
    return escape(name).replace("_", Markup("_<wbr>"))


def _x(share: float) -> str:
    """Where a share of 1 stands in a plot that is 100 wide."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}".rstrip("0").rstrip(".")


def _p(value: float | None) -> str:
    if value is None:
        return tables.NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
