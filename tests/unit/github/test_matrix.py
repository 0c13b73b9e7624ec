import json

import pytest

from nanobench.errors import UsageError
from nanobench.github.actions import utf16_bytes
from nanobench.github.matrix import MATRIX_JOBS, github_outputs
from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask


def plan(count: int, *, name: str = "model", task: str = "t") -> Plan:
    models = [f"{provider}/{name}" for provider in ("ollama", "openrouter", "we ird")]
    return Plan(
        tasks=(PlanTask(task_id=task, origin="dataset", sha256="a" * 64),),
        cells=tuple(
            Cell(model=ModelRef.parse(models[n % 3]), task_id=task, mode="hinted", run=n // 3 + 1)
            for n in range(count)
        ),
    )


@pytest.mark.parametrize(("count", "sizes"), [(1, [1]), (300, [100] * 3), (900, [256, 44] * 3)])
def test_every_cell_stands_in_one_batch_with_a_name_of_its_own(
    count: int, sizes: list[int]
) -> None:
    planned = plan(count)
    outputs = github_outputs(planned, 4)
    batches = json.loads(outputs["batches"])
    assert [len(batch["include"]) for batch in batches] == sizes
    assert json.loads(outputs["index"]) == list(range(len(sizes)))
    entries = [entry for batch in batches for entry in batch["include"]]
    assert {entry["index"]: entry["id"] for entry in entries} == {
        number: cell.cell_id for number, cell in enumerate(planned.cells)
    }
    assert outputs["count"] == str(count)


def test_one_matrix_is_offered_only_if_it_holds_the_whole_plan() -> None:
    planned = plan(MATRIX_JOBS)
    found = json.loads(github_outputs(planned, 4)["matrix"])["include"]
    assert [entry["id"] for entry in found] == [cell.cell_id for cell in planned.cells]
    assert "matrix" not in github_outputs(plan(MATRIX_JOBS + 1), 4)


def test_three_thousand_cells_fit_into_what_a_job_hands_on() -> None:
    outputs = github_outputs(plan(3000, name="a-model-" + "x" * 80, task="task-" + "y" * 60), 4)
    assert len(json.loads(outputs["batches"])) == 12
    assert sum(utf16_bytes(text) for text in outputs.values()) < 1024 * 1024


def test_a_plan_whose_matrices_do_not_fit_is_refused_with_both_sizes() -> None:
    with pytest.raises(UsageError, match="1,048,576") as refused:
        github_outputs(plan(9000), 4)
    assert refused.value.remedy


def test_an_empty_plan_counts_none_and_has_an_empty_matrix() -> None:
    outputs = github_outputs(Plan(tasks=(), cells=()), 4)
    assert outputs == {"count": "0", "index": "[]", "batches": "[]", "matrix": '{"include":[]}'}


def test_the_batches_of_a_provider_share_the_jobs_that_may_ask_it_at_once() -> None:
    def at_once(count: int, per_provider: int) -> list[int]:
        batches = json.loads(github_outputs(plan(count), per_provider)["batches"])
        return [batch["max-parallel"] for batch in batches]

    assert at_once(30, 4) == [4, 4, 4]
    assert at_once(3 * 600, 7) == [2] * 9
    assert at_once(3 * 600, 1) == [1] * 9


def test_a_batch_asks_one_provider() -> None:
    planned = plan(30)
    for batch in json.loads(github_outputs(planned, 4)["batches"]):
        indexes = [entry["index"] for entry in batch["include"]]
        assert len({planned.cells[index].model.provider for index in indexes}) == 1
