"""Comments: what they say, that they fit, and that foreign text in them stays text."""

import re
from collections.abc import Callable, Sequence

import pytest
from markdown_it import MarkdownIt

from nanobench.github.review import BODY_LIMIT, body, marker
from nanobench.model.gate import GateOutcome, GateProblem, GateResult, TaskGates
from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.budget import Part, fit
from nanobench.report.comment import SHED_ORDER, Links, comment_parts, headline, pointer
from nanobench.report.comparison import compare_results
from nanobench.report.comparison_document import Comparison
from nanobench.report.document import Report
from nanobench.report.gate_markdown import gate_parts
from nanobench.report.pairing import Results

Make = Callable[..., Record]
EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>|`y`\n\n# h\n- [ ] x\n"
    "\x1b[31m\u202e**b** [l](http://evil.example) www.evil.example @all #1 <!-- nanobench:review "
    "results --> ::error::x"
)
LINKS = Links("c" * 40, "https://github.com/a/b/actions/runs/1", "https://github.com/a/b/art/2")
MODELS = [f"provider-{n}/some-vendor/some-model-with-a-long-name-{n}" for n in range(8)]
TASKS = [f"some-owner-some-repository-{n}" for n in range(6)]
MADE: list[tuple[Report, Comparison]] = []
RENDERED = MarkdownIt("commonmark", {"html": True}).enable("table")


def results(make: Make, solved: Callable[[int, int], bool], missing: int = 0) -> Results:
    """Six tasks, eight models, two modes, five runs; the last `missing` cells have no record."""
    cells = [
        Cell(model=ModelRef.parse(model), task_id=task, mode=mode, run=run)  # type: ignore[arg-type]
        for model in MODELS
        for task in TASKS
        for mode in ("hinted", "navigation")
        for run in range(1, 6)
    ]
    records = []
    for cell in cells[: len(cells) - missing]:
        passed = solved(MODELS.index(str(cell.model)), cell.run)
        failed = {"category": "hallucinated_api", "rule": 3, "level": "4 content"}
        name = f"{cell.model} {cell.task_id} {cell.run}"
        verdict = {} if passed else failed
        records.append(make(float(passed), name, mode=cell.mode, verdict=verdict))
    tasks = [PlanTask(task_id=t, origin="dataset", sha256="a" * 64, tier=3) for t in TASKS]
    return Results.of("side", Plan(tasks=tuple(tasks), cells=tuple(cells)), records)


@pytest.fixture
def big(make_record: Make) -> tuple[Report, Comparison]:
    """480 runs, of which the model 0 got worse and 3 runs are missing; made once."""
    if not MADE:
        MADE.append(_big(make_record))
    return MADE[0]


def _big(make_record: Make) -> tuple[Report, Comparison]:
    before = results(make_record, lambda model, run: run != 5)
    after = results(make_record, lambda model, run: run != 5 and model > 0, missing=3)
    return after.report, compare_results(before, after)


def page(parts: Sequence[Part]) -> str:
    return body(marker("review", "results"), parts, pointer(LINKS))


def test_a_comment_on_six_tasks_eight_models_and_two_modes_says_all_and_fits(
    big: tuple[Report, Comparison],
) -> None:
    text = page(comment_parts(*big, LINKS))
    assert len(text) < BODY_LIMIT < 65_536
    assert "Left out" not in text
    lines = text.splitlines()
    assert lines[0] == "<!-- nanobench:review results -->"
    assert lines[1] == "## NanoBench: regression; 334 of 477 graded runs solved"
    assert "regression (2): <code>provider-0/some-vendor" in text
    for told in (
        "**3 missing**, of 480 planned runs",
        "0/5**<br>0.0<br>was&nbsp;4/5",
        "Failure taxonomy against the baseline",
        "477 of 477 runs are non-deterministic",
        "[full report](https://github.com/a/b/art/2)",
        "95 % intervals",
    ):
        assert told in text


def test_without_a_baseline_a_comment_says_that_it_is_a_first_run(
    big: tuple[Report, Comparison],
) -> None:
    text = page(comment_parts(big[0], None, Links()))
    assert "first run, compared with nothing" in text
    assert "verdict |" not in text
    assert headline(big[0], None) == "334 of 477 graded runs solved"
    assert "smallest drop" in text


def test_sections_go_as_a_whole_and_in_the_stated_order(big: tuple[Report, Comparison]) -> None:
    parts = comment_parts(*big, LINKS)
    whole = fit(parts, 10**9, len, "There.")
    for kept in range(len(SHED_ORDER)):
        gone = [part for part in parts if part.sheds is not None and part.sheds < kept]
        limit = len(whole) - sum(len(part.text) + 2 for part in gone) + 2000
        text = fit(parts, min(limit, len(whole)) if gone else len(whole) + 2, len, "There.")
        for part in parts:
            assert (part.text in text) or part.sheds is not None
        if gone:
            assert text.endswith("There.")
    least = fit(parts, 1, len, "There.")
    assert least.startswith("## NanoBench: regression")
    assert f"Left out for length: {', '.join(n for n in SHED_ORDER if n in least)}" in least


@pytest.mark.parametrize("models", [1, 120])
def test_a_comment_of_any_size_fits(make_record: Make, models: int) -> None:
    records = [
        make_record(0.0, f"p/{'|' * 150}{n} t{m} 1", verdict={"reason": EVIL})
        for n in range(models)
        for m in range(3)
    ]
    report = Results.of("x", None, records).report
    text = page(comment_parts(report, None, LINKS))
    assert len(text.encode("utf-16-le")) // 2 <= BODY_LIMIT
    assert ("Left out for length" in text) == (models == 120)


def hostile_texts(make: Make) -> list[str]:
    """Comments in which everything that others write is hostile."""
    model = EVIL.replace(" ", "\u00a0").replace("\n", "\u2028")
    verdict = {"reason": EVIL, "evidence": [EVIL], "category": "unclassified"}
    records = [make(0.0, f"p/{model} t1 {run}", verdict=verdict) for run in range(1, 6)]
    other = [make(1.0, f"p/{model} t1 {run}", provenance={"nanocoder": EVIL}) for run in (1, 2)]
    plan = Plan(
        tasks=(PlanTask(task_id="t1", origin="dataset", sha256="a" * 64),),
        cells=tuple(record.cell for record in records),
    )
    after = Results.of(EVIL, plan, [*records[:3], make(None, f"p/{model} t1 4", verdict=verdict)],
                       [EVIL])  # fmt: skip
    comparison = compare_results(Results.of(EVIL, None, other), after)
    problem = GateProblem(gate="clone", file=EVIL, field=EVIL, seen=EVIL, remedy=EVIL)
    gate = GateOutcome(gate="clone", status="failed", problems=(problem,))
    gates = GateResult(tasks=(TaskGates(task=EVIL, gates=(gate,)),))
    links = Links(EVIL, EVIL, EVIL)
    return [
        page(comment_parts(after.report, comparison, links)),
        page(comment_parts(after.report, None, links)),
        page(gate_parts(gates)),
    ]


def test_foreign_text_stays_text(make_record: Make) -> None:
    for text in hostile_texts(make_record):
        html = RENDERED.render(text.partition("\n")[2])
        tags = set(re.findall(r"</?([a-z0-9]+)", html))
        assert tags <= {
            *("h2", "h3", "p", "ul", "li", "code", "strong", "table", "thead", "tbody", "tr"),
            *("th", "td", "br", "sub", "a", "hr"),
        }
        assert 'evil.example"' not in html
        assert "<a href" not in html.replace(f'<a href="{LINKS.run_url}"', "").replace(
            f'<a href="{LINKS.report_url}"', ""
        )
        assert "<!--" not in html
        shown = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
        assert "@all" not in shown
        assert "alert" not in shown
        assert "\x1b" not in html
        assert "\u202e" not in html


def test_every_row_of_every_table_has_as_many_cells_as_its_head(make_record: Make) -> None:
    for text in hostile_texts(make_record):
        width = 0
        for line in text.splitlines():
            count = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            assert count in (0, width) or width == 0, line
            width = count


def test_gates_say_which_failed_what_was_seen_and_what_to_do() -> None:
    problem = GateProblem(
        gate="verification", file="tasks/a/b.json", field="test_command",
        seen="the tests pass at the base commit", remedy="name tests that the change makes pass",
    )  # fmt: skip
    failed = GateOutcome(gate="verification", status="failed", problems=(problem,))
    tasks = (
        TaskGates(task="good", gates=(GateOutcome(gate="schema", status="passed"),)),
        TaskGates(task="bad", gates=(GateOutcome(gate="schema", status="passed"), failed)),
        TaskGates(task="half", gates=(GateOutcome(gate="flakiness", status="not_run"),)),
    )
    text = page(gate_parts(GateResult(tasks=tasks)))
    assert "2 of 3 did not pass" in text
    assert "A gate that was not run has not passed" in text
    assert "| <code>bad</code> | passed | **failed** |" in text
    assert "<code>tasks/a/b.json</code>: <code>test&#95;command</code>" in text or (
        "<code>tasks/a/b.json</code>: <code>test_command</code>" in text
    )
    assert "to do: <code>name tests that the change makes pass</code>" in text


def test_a_task_without_gates_has_not_passed_and_nothing_gated_says_so() -> None:
    assert not GateResult(tasks=(TaskGates(task="t", gates=()),)).passed
    assert "nothing to gate" in page(gate_parts(GateResult(tasks=())))
    many = tuple(
        TaskGates(
            task=f"t{n}",
            gates=(
                GateOutcome(
                    gate="schema",
                    status="failed",
                    problems=(GateProblem(gate="schema", file="f", seen="s" * 400, remedy="r"),),
                ),
            ),
        )
        for n in range(500)
    )
    text = page(gate_parts(GateResult(tasks=many)))
    assert len(text) <= BODY_LIMIT
    assert "problems of <code>t499</code>" in text
    assert "### <code>t0</code>" in text


def of_runs(make: Make, models: Sequence[str], tasks: Sequence[str], solved: int) -> Results:
    """Five runs of each, of which the first `solved` are solved."""
    cells = [
        Cell(model=ModelRef.parse(model), task_id=task, mode="hinted", run=run)
        for model in models
        for task in tasks
        for run in range(1, 6)
    ]
    failed = {"rule": 2, "level": "1 structural"}
    records = [
        make(
            float(cell.run <= solved),
            f"{cell.model} {cell.task_id} {cell.run}",
            verdict={} if cell.run <= solved else failed,
        )
        for cell in cells
    ]
    planned = [PlanTask(task_id=t, origin="dataset", sha256="a" * 64, tier=3) for t in tasks]
    return Results.of("side", Plan(tasks=tuple(planned), cells=tuple(cells)), records)


def test_a_regression_of_all_models_together_is_told_where_no_single_one_shows_it(
    make_record: Make,
) -> None:
    models = [f"acme/{n}" for n in range(4)]
    before, after = (of_runs(make_record, models, TASKS, solved) for solved in (4, 3))
    comparison = compare_results(before, after)
    assert {change.verdict for change in comparison.changes} == {"not distinguishable from noise"}
    told = "regression, all models hinted: 80.0 % (72 to 86) before, 60.0 % (51 to 68) now"
    assert told in page(comment_parts(after.report, comparison, LINKS))


def test_the_baseline_stands_beside_the_rate_of_the_same_tasks(make_record: Make) -> None:
    before = of_runs(make_record, ["acme/one"], TASKS[:4], 4)
    more = of_runs(make_record, ["acme/one"], TASKS[4:], 0)
    same = of_runs(make_record, ["acme/one"], TASKS[:4], 4)
    cells = (*same.records.values(), *more.records.values())
    planned = [PlanTask(task_id=t, origin="dataset", sha256="a" * 64, tier=3) for t in TASKS]
    plan = Plan(tasks=tuple(planned), cells=tuple(record.cell for record in cells))
    after = Results.of("after", plan, cells)
    comparison = compare_results(before, after)
    text = page(comment_parts(after.report, comparison, LINKS))
    (line,) = [line for line in text.splitlines() if line.startswith("| 1 |")]
    _, _, _, rate, baseline, *_ = line.split(" | ")
    assert rate.startswith("16/30<br>53.3&nbsp;%")
    was, _, now = baseline.partition("<br>now, same 4&nbsp;tasks:<br>")
    assert was == now == "80.0&nbsp;%<br>(58&nbsp;to&nbsp;92)"
    assert "Not compared: <code>acme/one</code> hinted: <code>only after (2 tasks)</code>" in text


def test_the_verdict_on_a_model_does_not_stand_beside_its_runs_of_the_sample(
    make_record: Make,
) -> None:
    dataset = of_runs(make_record, ["acme/one"], ["t1"], 5)
    trial = make_record(0.0, "acme/one greet 1", provenance={"dataset": "sample"})
    after = Results.of("after", None, [*dataset.records.values(), trial])
    comparison = compare_results(dataset, dataset)
    text = page(comment_parts(after.report, comparison, LINKS))
    first, second = [line for line in text.splitlines() if line.startswith("| 1 |")]
    assert "| noise | 5/5" in first
    assert "| – | 0/1" in second  # noqa: RUF001 - the sign of an empty cell
    assert second.count("100.0") == 0
