"""The pass rate of one model over time, as an SVG that stands alone."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from nanobench.model.plan import Mode
from nanobench.report.escape import plain
from nanobench.report.history import HistoryEntry

_LEFT, _TOP, _HEIGHT, _BOTTOM, _RIGHT = 52, 56, 220, 64, 24
_STEP = 116
_SHIFT: dict[Mode, int] = {"hinted": -7, "navigation": 7}
_LABEL = 16  # characters that fit below a point
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:15px}"
    ".minor{fill:#59636e}.grid{stroke:#d1d9e0}.hinted{stroke:#0969da;fill:#0969da}"
    ".navigation{stroke:#bc4c00;fill:#fff}.line{fill:none;stroke-width:2}.bar{stroke-width:1.5}"
    ".back{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.minor{fill:#9198a1}"
    ".grid{stroke:#3d444d}.back{fill:#0d1117}.hinted{stroke:#4493f8;fill:#4493f8}"
    ".navigation{stroke:#f0883e;fill:#0d1117}}"
)


def plot(entries: Sequence[HistoryEntry]) -> str:
    """The plot of one model.

    Points with their 95 % intervals, from left to right in the order of time; a line joins only
    results that compare: of the same tasks, dataset and ruleset.

    Args:
        entries: of one model, at least one, in the order of time within each mode.
    """
    places = _places(entries)
    width = _LEFT + _STEP * max(len(places), 3) + _RIGHT
    height = _TOP + _HEIGHT + _BOTTOM
    model = _text(str(entries[0].model), 80)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-labelledby="t d">',
        f'<title id="t">Pass rate of {model}</title>',
        f'<desc id="d">{escape("; ".join(map(_told, entries)))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="back" width="{width}" height="{height}"/>',
        f'<text class="title" x="{_LEFT}" y="22">{model}</text>',
        *_legend({entry.mode for entry in entries}),
        *_grid(width),
        *_axis(places),
        *_series(entries, places),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


_Place = tuple[str, str, str]


def _place(entry: HistoryEntry) -> _Place:
    return entry.bench, entry.nanocoder, entry.dataset


def _places(entries: Sequence[HistoryEntry]) -> dict[_Place, int]:
    """The middle of each bench's column."""
    ordered = dict.fromkeys(
        _place(entry) for entry in sorted(entries, key=lambda entry: (entry.began, entry.bench))
    )
    return {place: _LEFT + _STEP // 2 + _STEP * n for n, place in enumerate(ordered)}


def _legend(modes: set[Mode]) -> Iterator[str]:
    x = _LEFT
    for mode in (mode for mode in _SHIFT if mode in modes):
        yield f'<circle class="{mode}" cx="{x + 5}" cy="40" r="4.5" stroke-width="2"/>'
        yield f'<text class="minor" x="{x + 15}" y="44">{mode}, 95 % interval</text>'
        x += 165


def _grid(width: int) -> Iterator[str]:
    for percent in range(0, 101, 25):
        y = _y(percent / 100)
        yield f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y}" y2="{y}"/>'
        yield (
            f'<text class="minor" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{percent} %</text>"
        )


def _axis(places: dict[_Place, int]) -> Iterator[str]:
    base = _TOP + _HEIGHT
    for (_, nanocoder, dataset), x in places.items():
        for line, text in enumerate((nanocoder, dataset)):
            kind = ' class="minor"' if line else ""
            yield (
                f'<text{kind} x="{x}" y="{base + 20 + 17 * line}" text-anchor="middle">'
                f"{_text(text, _LABEL)}</text>"
            )
    told = "below: version of Nanocoder, dataset"
    yield f'<text class="minor" x="{_LEFT}" y="{base + 56}">{told}</text>'


def _series(entries: Sequence[HistoryEntry], places: dict[_Place, int]) -> Iterator[str]:
    for mode, shift in _SHIFT.items():
        own = [(places[_place(e)] + shift, e) for e in entries if e.mode == mode]
        for (x, old), (then, new) in pairwise(own):
            if _compares(old, new):
                path = f"M{x} {_y(old.pass_rate)}L{then} {_y(new.pass_rate)}"
                yield f'<path class="line {mode}" d="{path}"/>'
        for x, entry in own:
            low, high = entry.pass_rate_interval.low, entry.pass_rate_interval.high
            yield f'<line class="bar {mode}" x1="{x}" x2="{x}" y1="{_y(low)}" y2="{_y(high)}"/>'
            yield (
                f'<circle class="{mode}" cx="{x}" cy="{_y(entry.pass_rate)}" r="4.5" '
                f'stroke-width="2"><title>{escape(_told(entry))}</title></circle>'
            )


def _compares(old: HistoryEntry, new: HistoryEntry) -> bool:
    return (old.task_set, old.dataset, old.ruleset) == (new.task_set, new.dataset, new.ruleset)


def _told(entry: HistoryEntry) -> str:
    low, high = entry.pass_rate_interval.low, entry.pass_rate_interval.high
    return (
        f"Nanocoder {plain(entry.nanocoder, 40)}, {plain(entry.dataset, 40)}, {entry.mode}: "
        f"{entry.solved} of {entry.valid_runs} solved, {100 * entry.pass_rate:.1f} % "
        f"({100 * low:.0f} to {100 * high:.0f})"
    )


def _text(text: str, limit: int) -> str:
    shown = plain(text, 4 * limit)
    return escape(shown if len(shown) <= limit else f"{shown[: limit - 1]}…")


def _y(rate: float) -> float:
    return round(_TOP + _HEIGHT * (1 - rate), 1)
