"""The label that each scripted model must get, and the line of the specification that says so.

One table for all tasks. Where the specification leaves a verdict to how the task's tests fail at
its base, a row allows every label that such a failure can have. A behaviour without a row in a
mode has no known label there.
"""

from dataclasses import dataclass
from typing import get_args

from nanobench.model.plan import Mode, Ruleset
from nanobench.model.verdict import Category, Verdict

SOLVED, ZERO, CAPPED, INFRASTRUCTURE = "solved", "zero_signal", "ended_by_limit", "infrastructure"
OVERFLOW: Category = "context_window_exceeded"
UNREAD: Category = "insufficient_context_read"
INVENTED: Category = "hallucinated_api"
LAYER: Category = "wrong_abstraction_layer"
PARTIAL: Category = "partial_fix_only"
SPLIT: Category = "missing_cross_language_change"
OTHER: Category = "unclassified"
LABELS: tuple[str, ...] = (SOLVED, ZERO, *get_args(Category), CAPPED, INFRASTRUCTURE)
"""Every label of a run: a category, or what stands in its place."""

Scores = tuple[float | None, float | None]
_WHOLE: Scores = (1.0, 1.0)
_HALF: Scores = (0.5, 0.5)
_FAILED: Scores = (0.0, 0.1)
_NOTHING: Scores = (0.0, 0.0)
_NO_SCORE: Scores = (None, None)
_MODES: tuple[Mode, ...] = get_args(Mode)
_RULESETS: tuple[Ruleset, ...] = get_args(Ruleset)


@dataclass(frozen=True)
class Row:
    """What holds for one behaviour.

    Attributes:
        labels: the one that it must get, or those of which it must get one.
        scores: in hinted and in navigation mode.
        because: the reason in the words of the specification, with its line.
        reasons: of which the verdict's reason must be one; empty: whatever it is.
    """

    behaviour: str
    labels: tuple[str, ...]
    scores: Scores
    because: str
    modes: tuple[Mode, ...] = _MODES
    rulesets: tuple[Ruleset, ...] = _RULESETS
    reasons: tuple[str | None, ...] = ()

    def score(self, mode: Mode) -> float | None:
        """The score in this mode; null without a grade."""
        return self.scores[_MODES.index(mode)]


def label_of(verdict: Verdict) -> str:
    """The label of a verdict, one of `LABELS`."""
    if verdict.outcome == "infrastructure_error":
        return INFRASTRUCTURE
    if verdict.solved:
        return SOLVED
    if verdict.category is not None:
        return verdict.category
    return ZERO if verdict.rule == 2 else CAPPED


def expected(behaviour: str, mode: Mode, ruleset: Ruleset) -> Row | None:
    """The row that holds; null where no label is known."""
    return _BY_KEY.get((behaviour, mode, ruleset))


def expected_modes(behaviour: str) -> tuple[Mode, ...]:
    """The modes in which a behaviour has a known label."""
    return tuple(mode for mode in _MODES if expected(behaviour, mode, _RULESETS[-1]))


def _nothing_required(
    behaviour: str, because: str, rulesets: tuple[Ruleset, ...] = _RULESETS
) -> tuple[Row, Row]:
    """Rule 2: a category in navigation mode only."""
    hinted = f"7 rule 2, hinted: Zero Signal without category; {because}"
    navigation = f"7 rule 2, navigation: no required file edited; {because}"
    return (
        Row(behaviour, (ZERO,), _NOTHING, hinted, ("hinted",), rulesets, (None,)),
        Row(behaviour, (UNREAD,), _NOTHING, navigation, ("navigation",), rulesets, (None,)),
    )


_SOLVED = "6: every target passes, nothing broken; solved is decided before any category"
_AS_AT_BASE = (INVENTED, LAYER, OTHER)
_ASSERTIONS = ("assertion_failures",)

_EDITING = (
    Row("gold", (SOLVED,), _WHOLE, _SOLVED),
    *_nothing_required("noop", "nothing is edited"),
    *_nothing_required("irrelevant-edit", "only another file is"),
    Row("partial", (PARTIAL,), _HALF, "7 rule 5: half of the targets pass, a required file edited"),
    Row(
        "partial-below-half",
        (OTHER,),
        _FAILED,
        "7 F1: less than half pass, the rest fails on assertions, which no rule names",
        reasons=_ASSERTIONS,
    ),
    Row(
        "cross-language-half",
        (SPLIT,),
        _FAILED,
        "7 rule 6: navigation, one language passes fully, another fails; 1.1: before 3 and 4",
        modes=("navigation",),
    ),
    Row(
        "regression",
        (PARTIAL,),
        _HALF,
        "6: a pass_to_pass test that fails keeps it unsolved; 7 rule 5: all targets pass",
    ),
    Row("bash-only", (SOLVED,), _WHOLE, f"{_SOLVED}, whatever the report lists (X5)"),
    *_nothing_required(
        "bash-only-partial", "F3 1.0: filesChanged[] misses edits of the shell", rulesets=("1.0",)
    ),
    Row(
        "bash-only-partial",
        (PARTIAL,),
        _HALF,
        "7 rule 5, F3 1.1: edited is what the diff shows (X5)",
        rulesets=("1.1",),
    ),
    Row("commits", (SOLVED,), _WHOLE, f"{_SOLVED}; X5: committed work is in the diff"),
    *_nothing_required(
        "renames", "F3 1.0: filesChanged[] misses what file_op moves (X5)", rulesets=("1.0",)
    ),
    Row(
        "renames",
        (LAYER, OTHER),
        _FAILED,
        "6: a rename counts both paths, so rule 2 does not hold; F3 1.1: what is missing existed, "
        "and a mismatch that the tests meet at the base stays one (7 rule 4)",
        rulesets=("1.1",),
    ),
    Row(
        "failed-edits",
        _AS_AT_BASE,
        _FAILED,
        "F3 1.0: filesChanged[] lists the rejected edits (X5), and the tests fail as at the base",
        rulesets=("1.0",),
    ),
    *_nothing_required("failed-edits", "F3 1.1: the diff is empty (X5)", rulesets=("1.1",)),
)

_MISTAKES = (
    Row(
        "hallucinated-api",
        (INVENTED,),
        _FAILED,
        "7 rule 3, F3: the symbol is in added lines and nowhere else",
    ),
    Row("wrong-layer", (LAYER,), _FAILED, "7 rule 4: every call is an interface mismatch"),
    Row(
        "asked-symbol-elsewhere",
        (INVENTED,),
        _FAILED,
        "7 rule 3, F3 1.0: the missing symbol is in no required file at the base",
        rulesets=("1.0",),
    ),
    Row(
        "asked-symbol-elsewhere",
        (LAYER,),
        _FAILED,
        "F3 1.1: an asked symbol, defined in another place than the golden patch does: rule 4",
        rulesets=("1.1",),
    ),
    Row(
        "wrong-logic",
        (OTHER,),
        _FAILED,
        "7 F1: assertions fail, which no rule names",
        reasons=_ASSERTIONS,
    ),
    Row(
        "crashes-suite",
        (OTHER,),
        _FAILED,
        "6: the control passes, so the targets are failed; 7 F1: no rule names it",
    ),
)

_ENDINGS = (
    Row(
        "context-overflow",
        (OVERFLOW,),
        _NOTHING,
        "7 rule 1: ended on context size, nothing edited",
        reasons=("context_size",),
    ),
    Row("context-overflow-after-edit", (SOLVED,), _WHOLE, f"{_SOLVED}; rule 1 wants no edit"),
    Row(
        "pollutes",
        (OVERFLOW,),
        _NOTHING,
        "7 rule 1: ended on context size; 6: what tools generate is no edit",
        reasons=("context_size",),
    ),
    Row(
        "rate-limited",
        (OVERFLOW,),
        _NOTHING,
        "7 rule 1, F3 1.0: ended on a rate limit, nothing edited",
        rulesets=("1.0",),
        reasons=("rate_limit",),
    ),
    Row(
        "rate-limited",
        (INFRASTRUCTURE,),
        _NO_SCORE,
        "X11, F3 1.1: without a single response of the model",
        rulesets=("1.1",),
        reasons=("rate_limit",),
    ),
    Row(
        "rate-limited-after-reply",
        (OVERFLOW,),
        _NOTHING,
        "X11: after a response, with no edit, rule 1 applies",
        reasons=("rate_limit",),
    ),
    Row(
        "rate-limited-after-edit",
        (INFRASTRUCTURE,),
        _NO_SCORE,
        "X11: with edits, infrastructure",
        reasons=("rate_limit",),
    ),
    Row(
        "server-error",
        (INFRASTRUCTURE,),
        _NO_SCORE,
        "X11: it outlasts the retries",
        reasons=("server_error",),
    ),
    Row("auth-error", (INFRASTRUCTURE,), _NO_SCORE, "X11: at once", reasons=("authentication",)),
    Row(
        "stream-cut",
        (INFRASTRUCTURE,),
        _NO_SCORE,
        "X11: a stream cut by the provider; infrastructure beats a passing tree",
        reasons=("stream_cut",),
    ),
    *_nothing_required("endless", "X10: ended by the clock, it is verified"),
    Row(
        "endless-after-work",
        (CAPPED,),
        _HALF,
        "X10: all tests pass, ended by the clock: 0.5, no category",
        reasons=("timed_out",),
    ),
    Row("out-of-turns", (SOLVED,), _WHOLE, f"{_SOLVED}; X10: the turn limit caps nothing"),
    *_nothing_required("empty-reply", "X11: an empty reply is the model's own"),
    *_nothing_required("cut-by-length", "X11: a reply ended by length is the model's own"),
    *_nothing_required("mines-history", "X3: there is nothing to be found"),
)

TABLE: tuple[Row, ...] = (*_EDITING, *_MISTAKES, *_ENDINGS)

_BY_KEY = {
    (row.behaviour, mode, ruleset): row
    for row in TABLE
    for mode in row.modes
    for ruleset in row.rulesets
}
