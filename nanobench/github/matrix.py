"""A plan as matrices for GitHub Actions: a job runs one cell.

A matrix holds 256 jobs at most, and what a job hands on 1 MiB: entries therefore say only what a
job needs to find its cell in the plan file, and larger plans are divided into batches. A batch is
of one provider, whose limit on requests is its own: `max-parallel` counts the jobs of a matrix,
while a concurrency group lets one run and cancels those that wait beyond a hundred.
"""

import json
from collections.abc import Iterator
from typing import Any

from nanobench.errors import UsageError
from nanobench.github.actions import OUTPUT_BYTES, utf16_bytes
from nanobench.model.plan import Cell, Plan

MATRIX_JOBS = 256
"""What GitHub takes in one matrix."""


def github_outputs(plan: Plan, per_provider: int) -> dict[str, str]:
    """The outputs of a planning job.

    `count`: cells. `batches`: a list of matrices, each of one provider, each with `max-parallel`:
    the jobs of all batches of a provider that run at once are `per_provider` at most (one per
    batch at least). `index`: the numbers of the batches, to be the values of a matrix of its own.
    `matrix`: all cells as one matrix; without this output where they are too many for one, so
    that a workflow which knows one matrix alone fails instead of running a part.

    An entry has `index` (unique in the plan) and `id` (of the cell).

    Raises:
        UsageError: the outputs exceed what a job may hand on.
    """
    batches = list(_batches(plan, per_provider))
    outputs = {
        "count": str(len(plan.cells)),
        "index": _json(list(range(len(batches)))),
        "batches": _json(batches),
    }
    if len(plan.cells) <= MATRIX_JOBS:
        outputs["matrix"] = _json({"include": [_entry(*one) for one in enumerate(plan.cells)]})
    size = sum(utf16_bytes(text) for text in outputs.values())
    if size > OUTPUT_BYTES:
        raise UsageError(
            f"the matrices of {len(plan.cells):,} cells hold {size:,} bytes, and a job may hand on "
            f"{OUTPUT_BYTES:,}",
            where="--github",
            remedy="divide the tasks or models among several workflow runs",
        )
    return outputs


def _batches(plan: Plan, per_provider: int) -> Iterator[dict[str, Any]]:
    of_provider: dict[str, list[dict[str, Any]]] = {}
    for index, cell in enumerate(plan.cells):
        of_provider.setdefault(cell.model.provider, []).append(_entry(index, cell))
    for entries in of_provider.values():
        starts = range(0, len(entries), MATRIX_JOBS)
        at_once = max(1, per_provider // len(starts))
        for start in starts:
            yield {"max-parallel": at_once, "include": entries[start : start + MATRIX_JOBS]}


def _entry(index: int, cell: Cell) -> dict[str, Any]:
    return {"index": index, "id": cell.cell_id}


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
