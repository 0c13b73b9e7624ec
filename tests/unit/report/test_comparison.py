import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from markdown_it import MarkdownIt

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.comparison import compare_results
from nanobench.report.comparison_document import Change, Comparison
from nanobench.report.comparison_markdown import render_comparison
from nanobench.report.pairing import Results
from nanobench.report.terminal import render_verdict

Make = Callable[..., Record]
EVIL = "<script>alert(1)</script>|`y`\x1b[31m\u202e**b**[l](http://e.org)@all"


@pytest.fixture
def runs(make_record: Make) -> Callable[..., list[Record]]:
    """`runs("acme/one", a=(4, 5), ...)`: 4 of 5 runs of task a solved, the rest Zero Signal."""

    def make(model: str = "acme/one", **tasks: Any) -> list[Record]:
        common = {key: tasks.pop(key) for key in ("provenance", "mode") if key in tasks}
        ruleset = tasks.pop("ruleset", "1.1")
        found = []
        for task, (solved, count) in tasks.items():
            for run in range(1, count + 1):
                verdict = {"ruleset": ruleset}
                if run > solved:
                    verdict |= {"rule": 2, "level": "1 structural"}
                score = 1.0 if run <= solved else 0.0
                found.append(make_record(score, f"{model} {task} {run}", verdict=verdict, **common))
        return found

    return make


def compared(before: Iterable[Record], after: Iterable[Record]) -> Comparison:
    return compare_results(side("old", before), side("new", after))


def side(name: str, records: Iterable[Record], runs: int | None = None) -> Results:
    """Results with a plan of exactly these cells, or of `runs` runs of each."""
    kept = list(records)
    cells = {record.cell.cell_id: record.cell for record in kept}
    for record in kept:
        for run in range(1, (runs or 0) + 1):
            cell = Cell(**{**dict(record.cell), "run": run})
            cells[cell.cell_id] = cell
    ids = sorted({cell.task_id for cell in cells.values()})
    plan = Plan(
        tasks=tuple(PlanTask(task_id=i, origin="dataset", sha256="a" * 64, tier=4) for i in ids),
        cells=tuple(cells.values()),
    )
    return Results.of(name, plan, kept)


def only(comparison: Comparison) -> Change:
    (change,) = comparison.changes
    return change


SIX = dict.fromkeys("abcdef", (5, 5))
WORSE = dict.fromkeys("abcdef", (2, 5))


def test_a_clear_drop_is_a_regression_and_the_reverse_an_improvement(
    runs: Callable[..., list[Record]],
) -> None:
    down, up = compared(runs(**SIX), runs(**WORSE)), compared(runs(**WORSE), runs(**SIX))
    assert (down.verdict, up.verdict) == ("regression", "improvement")
    change = only(down)
    assert change.before is not None
    assert change.after is not None
    assert change.after.high < change.before.low
    assert change.same_tasks is not None
    assert change.same_tasks.value == pytest.approx(-0.6)
    assert change.p is not None
    assert change.p < 0.001


def test_one_flipped_run_is_noise_and_the_report_says_what_would_have_shown(
    runs: Callable[..., list[Record]],
) -> None:
    comparison = compared(runs(**SIX), runs(**{**SIX, "a": (4, 5)}))
    assert comparison.verdict == "not distinguishable from noise"
    change = only(comparison)
    assert change.detectable_drop is not None
    assert 0.2 < change.detectable_drop < 0.5
    assert "smallest drop" in render_comparison(comparison)
    assert "points often do not show" in render_verdict(comparison)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"provenance": {"dataset": "nanobench 0.2.0"}}, "different dataset"),
        ({"provenance": {"task_sha256": "b" * 64}}, "different task_sha256"),
        ({"provenance": {"platform": "darwin-arm64"}}, "different platform"),
        ({"provenance": {"limits": {"agent_seconds": 60.0}}}, "different limits.agent_seconds"),
        ({"ruleset": "1.0"}, "different ruleset"),
        ({"mode": "navigation"}, "only"),
    ],
)
def test_other_conditions_do_not_compare_and_the_reason_is_named(
    runs: Callable[..., list[Record]], changed: dict[str, Any], reason: str
) -> None:
    comparison = compared(runs(**SIX), runs(**WORSE, **changed))
    assert comparison.verdict == "not comparable"
    for change in comparison.changes:
        assert (change.compared, change.excluded) == (0, 6)
        assert change.before is None
        assert all(told.startswith(reason) for told in change.reasons)
    assert reason in render_comparison(comparison)
    assert reason in render_verdict(comparison)


def test_another_version_of_nanocoder_compares_and_is_named_as_what_varied(
    runs: Callable[..., list[Record]],
) -> None:
    comparison = compared(runs(**SIX), runs(**SIX, provenance={"nanocoder": "1.31.0"}))
    assert comparison.verdict == "not distinguishable from noise"
    (varied,) = comparison.varied
    assert (varied.name, varied.before, varied.after) == ("nanocoder", ("1.30.0",), ("1.31.0",))
    assert comparison.held["node"] == "22.0.0"
    assert "nanocoder" not in comparison.held


def test_a_task_with_too_few_runs_is_left_out_by_name(runs: Callable[..., list[Record]]) -> None:
    comparison = compared(runs(**SIX, g=(5, 5)), runs(**WORSE, g=(0, 4)))
    change = only(comparison)
    assert (change.compared, change.excluded) == (6, 1)
    assert change.reasons == ("4 valid of the 5 runs that a task of tier 4 needs after (1 tasks)",)
    excluded = [task for task in comparison.tasks if task.excluded]
    assert [(task.task_id, task.solved_after, task.p) for task in excluded] == [("g", 0, None)]


def test_a_missing_run_leaves_its_task_out_even_if_enough_are_left(
    runs: Callable[..., list[Record]],
) -> None:
    before = side("old", runs(a=(6, 6), b=(6, 6)))
    after = side("new", [*runs(a=(6, 6)), *runs(b=(0, 5))], runs=6)
    comparison = compare_results(before, after)
    assert only(comparison).reasons == ("1 missing after (1 tasks)",)
    assert comparison.verdict == "not distinguishable from noise"
    assert len(comparison.after.missing) == 1
    assert comparison.after.missing[0] in render_comparison(comparison).replace("&#45;", "-")


def test_a_model_that_only_one_side_has_is_named(runs: Callable[..., list[Record]]) -> None:
    comparison = compared(runs(**SIX), [*runs(**SIX), *runs("acme/two", **SIX)])
    verdicts = {str(change.model): change.verdict for change in comparison.changes}
    assert verdicts["acme/two"] == "not comparable"
    assert comparison.changes[1].reasons == ("only after (6 tasks)",)


def test_it_tells_whether_all_models_changed_or_one(runs: Callable[..., list[Record]]) -> None:
    before = [*runs("acme/one", **SIX), *runs("acme/two", **SIX)]
    after = [*runs("acme/one", **WORSE), *runs("acme/two", **SIX)]
    comparison = compared(before, after)
    verdicts = {str(change.model): change.verdict for change in comparison.changes}
    assert verdicts == {
        "acme/one": "regression",
        "acme/two": "not distinguishable from noise",
    }
    (overall,) = comparison.overall
    assert (overall.model, overall.compared) == (None, 12)
    headline = render_comparison(comparison).splitlines()[2]
    assert headline.startswith("**Regression**")
    assert headline.index("one") < headline.index("two")


def test_scripted_models_are_not_compared_beside_real_ones(
    runs: Callable[..., list[Record]],
) -> None:
    scripted = runs("scripted/gold", **WORSE, provenance={"scripted": True})
    good = runs("scripted/gold", **SIX, provenance={"scripted": True})
    comparison = compared([*runs(**SIX), *good], [*runs(**SIX), *scripted])
    assert [str(change.model) for change in comparison.changes] == ["acme/one"]
    assert compared(good, scripted).verdict == "regression"


def test_failures_that_moved_are_counted_within_tasks(make_record: Make) -> None:
    def failed(task: str, run: int, category: str) -> Record:
        return make_record(
            0.0, f"acme/one {task} {run}", verdict={"category": category, "level": "4 content"}
        )

    before = [failed("a", run, "hallucinated_api") for run in range(1, 6)]
    after = [failed("a", run, "hallucinated_api") for run in (1, 2)]
    after += [failed("a", run, "wrong_abstraction_layer") for run in (3, 4)]
    after.append(make_record(1.0, "acme/one a 5"))
    shift = only(compared(before, after)).shift
    assert shift is not None
    assert {(m.before, m.after): m.runs for m in shift.moves} == {
        ("hallucinated_api", "hallucinated_api"): 2,
        ("hallucinated_api", "solved"): 1,
        ("hallucinated_api", "wrong_abstraction_layer"): 2,
    }
    assert shift.after.levels == {"4 content": 4}
    merged = compare_results(
        Results.of("old", None, before, merged_rulesets=("1.1",)),
        Results.of("new", None, after, merged_rulesets=("1.1",)),
    )
    shift = only(merged).shift
    assert shift is not None
    assert shift.before.counts["implementation_error"] == 5
    assert "hallucinated_api" not in shift.before.counts
    assert shift.before.coverage == 1.0


def test_any_order_of_records_gives_the_same_bytes(runs: Callable[..., list[Record]]) -> None:
    before = [*runs("acme/one", **SIX), *runs("acme/two", **WORSE)]
    after = [*runs("acme/one", **WORSE), *runs("acme/two", **SIX)]
    expected = compared(before, after)
    shuffler = random.Random(3)
    for _ in range(5):
        shuffler.shuffle(before)
        shuffler.shuffle(after)
        again = compared(before, after)
        assert again.to_json() == expected.to_json()
        assert render_comparison(again) == render_comparison(expected)
    assert Comparison.from_json(expected.to_json()) == expected


def test_nothing_and_nothing_do_not_compare() -> None:
    comparison = compared([], [])
    assert comparison.verdict == "not comparable"
    assert "nothing to compare" in render_comparison(comparison)
    assert render_verdict(comparison) == "verdict: not comparable\n"


def test_foreign_text_is_inert(runs: Callable[..., list[Record]]) -> None:
    name = f"acme/{EVIL}"
    before = side(EVIL, runs(name, **SIX, provenance={"platform": EVIL}))
    after = side(EVIL, runs(name, **WORSE, provenance={"node": EVIL}))
    for comparison in (compare_results(before, after), compare_results(after, after)):
        page = render_comparison(comparison)
        assert "\x1b" not in page + render_verdict(comparison)
        assert "\u202e" not in page + render_verdict(comparison)
        tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
        assert not any(token.type == "html_block" for token in tokens)
        inline = [child for token in tokens for child in token.children or ()]
        html = {child.content for child in inline if child.type == "html_inline"}
        assert html <= {"<code>", "</code>", "<br>"}
        assert not any(child.type in ("link_open", "image") for child in inline)


def test_every_table_row_has_as_many_cells_as_its_head(runs: Callable[..., list[Record]]) -> None:
    page = render_comparison(compared(runs(**SIX), [*runs(**WORSE), *runs("x/y", **SIX)]))
    tables = 0
    for block in page.split("\n\n"):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1
        tables += bool(lines)
    assert tables == 4


def test_models_are_told_apart_by_provider(runs: Callable[..., list[Record]]) -> None:
    assert ModelRef.parse("a/m") != ModelRef.parse("b/m")
    comparison = compared(runs("a/m", **SIX), runs("b/m", **WORSE))
    assert [change.verdict for change in comparison.changes] == ["not comparable"] * 2


def test_a_change_of_all_models_together_stands_in_the_headline(
    runs: Callable[..., list[Record]],
) -> None:
    models = [f"acme/m{number}" for number in range(4)]
    sides = [
        [one for model in models for one in runs(model, **dict.fromkeys("abcdef", (solved, 5)))]
        for solved in (4, 3)
    ]
    comparison = compared(*sides)
    assert "24 pairs of model and task compared, 0 left out" in render_verdict(comparison)
    assert render_verdict(comparison).count("; 6 tasks compared, 0 left out") == 4
    headline = render_comparison(comparison).splitlines()[2]
    assert "1 regression: all models hinted;" in headline
    assert "4 not distinguishable from noise:" in headline


def test_nothing_is_said_of_tasks_where_none_was_compared(
    runs: Callable[..., list[Record]],
) -> None:
    page = render_comparison(compared(runs(a=(5, 5)), runs(b=(0, 5))))
    assert "No compared task" not in page
    assert "## Where\n\nThere is nothing to compare." in page


def test_a_sample_that_shows_no_drop_reliably_says_so_in_the_terminal(
    runs: Callable[..., list[Record]],
) -> None:
    told = render_verdict(compared(runs(a=(2, 5)), runs(a=(2, 5))))
    assert "even the largest drop often does not show" in told


def test_other_proportions_of_runs_are_told_wherever_the_rates_are(
    runs: Callable[..., list[Record]],
) -> None:
    easy, hard = dict.fromkeys("abcdef", (10, 10)), {"g": (1, 10), "h": (0, 10)}
    fewer = dict.fromkeys("abcdef", (5, 5))
    comparison = compared(runs(**easy, **hard), runs(**fewer, g=(0, 20), h=(0, 20)))
    change = only(comparison)
    assert change.before is not None
    assert change.after is not None
    assert change.after.high < change.before.low
    assert comparison.verdict == "not distinguishable from noise"
    assert change.caution is not None
    assert change.caution in render_comparison(comparison)
    assert change.caution in render_verdict(comparison)
    assert only(compared(runs(**easy), runs(**fewer))).caution is None
