import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.dataset.catalog import TaskEntry, load_task
from nanobench.dataset.planning import PlanOptions, build_plan
from nanobench.errors import UsageError
from nanobench.model.plan import AgentSettings, Limits, ModelRef
from nanobench.stats.sampling import FEWEST_RUNS_THAT_SEPARATE

ONE, TWO = ModelRef(provider="acme", model="one"), ModelRef(provider="acme", model="two")
Entries = Callable[..., list[TaskEntry]]


@pytest.fixture
def entries(add_task: Callable[..., Path]) -> Entries:
    """`entries(a=1, b=3)`: tasks and their tiers."""

    def make(changes: dict[str, Any] | None = None, **tiers: int) -> list[TaskEntry]:
        return [load_task(add_task(n, tier=tier, **(changes or {}))) for n, tier in tiers.items()]

    return make


@pytest.mark.parametrize(("tier", "runs"), [(1, 1), (2, 1), (3, 5), (4, 5)])
def test_auto_runs_each_task_as_often_as_a_comparison_needs(
    entries: Entries, tier: int, runs: int
) -> None:
    plan = build_plan([ONE], entries(a=tier), PlanOptions()).plan
    assert [cell.run for cell in plan.cells] == list(range(1, runs + 1))
    assert plan.tasks[0].tier == tier


def test_a_smoke_test_runs_each_task_once_and_says_what_it_is_not(entries: Entries) -> None:
    planned = build_plan([ONE], entries(a=1, b=4), PlanOptions(purpose="smoke"))
    assert [(cell.run, cell.task_id) for cell in planned.plan.cells] == [(1, "a"), (1, "b")]
    assert any("needs 5 runs before its score enters" in text for text in planned.warnings)


def test_runs_interleave_models_so_that_drift_meets_all_alike(entries: Entries) -> None:
    options = PlanOptions(modes=("hinted", "navigation"), runs=2)
    cells = build_plan([TWO, ONE], entries(b=1, a=1), options).plan.cells
    assert [(c.run, c.task_id, c.mode, c.model.model) for c in cells] == [
        (run, task, mode, model)
        for run in (1, 2)
        for task in ("a", "b")
        for mode in ("hinted", "navigation")
        for model in ("two", "one")
    ]


def test_tasks_of_few_runs_do_not_run_again_beside_those_of_many(entries: Entries) -> None:
    cells = build_plan([ONE], entries(a=1, b=3), PlanOptions()).plan.cells
    assert [(c.run, c.task_id) for c in cells] == [
        (1, "a"),
        *((run, "b") for run in range(1, 6)),
    ]


def test_the_order_of_tasks_given_does_not_change_the_plan(entries: Entries) -> None:
    tasks = entries(a=1, b=2, c=3)
    plans = [build_plan([ONE], order, PlanOptions()).plan for order in (tasks, tasks[::-1])]
    assert plans[0].to_json() == plans[1].to_json()


def test_the_plan_pins_task_files_and_settings(entries: Entries) -> None:
    tasks = entries(a=1)
    options = PlanOptions(
        ruleset="1.0", agent=AgentSettings(nanocoder="9.9.9"), limits=Limits(max_turns=7)
    )
    plan = build_plan([ONE], tasks, options).plan
    assert [task.sha256 for task in plan.tasks] == [tasks[0].sha256]
    assert (plan.ruleset, plan.agent.nanocoder, plan.limits.max_turns) == ("1.0", "9.9.9", 7)
    assert json.loads(plan.to_json())["schema_version"] == "1.0"


def test_what_stands_twice_or_not_at_all_is_refused(entries: Entries) -> None:
    tasks = entries(a=1)
    with pytest.raises(UsageError, match="the model acme/one stands twice"):
        build_plan([ONE, TWO, ONE], tasks, PlanOptions())
    with pytest.raises(UsageError, match="the task a stands twice"):
        build_plan([ONE], tasks * 2, PlanOptions())
    with pytest.raises(UsageError, match="at least one model"):
        build_plan([], tasks, PlanOptions())
    with pytest.raises(UsageError, match="at least one task"):
        build_plan([ONE], [], PlanOptions())
    with pytest.raises(UsageError, match="at least 1"):
        build_plan([ONE], tasks, PlanOptions(runs=0))


def wilson(passed: int, runs: int) -> tuple[float, float]:
    z = 1.959963984540054
    centre = (passed + z * z / 2) / (runs + z * z)
    half = z * (passed * (runs - passed) / runs + z * z / 4) ** 0.5 / (runs + z * z)
    return centre - half, centre + half


def test_the_fewest_runs_are_the_first_whose_extreme_intervals_do_not_overlap() -> None:
    separate = [n for n in range(1, 10) if wilson(0, n)[1] < wilson(n, n)[0]]
    assert separate[0] == FEWEST_RUNS_THAT_SEPARATE


def test_a_plan_that_could_never_separate_two_models_is_warned_of(entries: Entries) -> None:
    tasks = entries(a=1, b=1, c=1, d=1)
    few = build_plan([ONE], tasks[:3], PlanOptions()).warnings
    assert [w for w in few if "even 0/3 against 3/3 overlaps" in w]
    assert build_plan([ONE], tasks, PlanOptions()).warnings == ()


def test_too_few_runs_of_a_hard_task_are_warned_of(entries: Entries) -> None:
    warnings = build_plan([ONE], entries(a=3, b=1), PlanOptions(runs=4)).warnings
    assert warnings == ("a (tier 3) needs 5 runs before its score enters a comparison; planned: 4",)


def test_tasks_that_cannot_be_scored_or_are_retired_are_warned_of(entries: Entries) -> None:
    retired = {"state": "retired", "reason": "flaky", "retired_on": "2026-06-01"}
    changes = {"expected": ..., "status": retired}
    warnings = build_plan([ONE], entries(changes, a=3), PlanOptions()).warnings
    assert warnings[0] == "a is retired (flaky)"
    assert warnings[1].startswith("a has no 'expected'")
