"""A plan as matrices for GitHub Actions: a job runs one cell.

A matrix holds 256 jobs at most, and what a job hands on 1 MiB: entries therefore say only what a
job needs to find its cell in the plan file, and larger plans are divided into batches.
"""

import json
import re
from typing import Any

from nanobench.errors import UsageError
from nanobench.github.actions import OUTPUT_BYTES, utf16_bytes
from nanobench.model.plan import Cell, Plan

MATRIX_JOBS = 256
"""What GitHub takes in one matrix."""


def github_outputs(plan: Plan, per_provider: int) -> dict[str, str]:
    """The outputs of a planning job.

    `count`: cells. `batches`: a list of matrices; `index`: their numbers, to be the values of a
    matrix of its own. `matrix`: the only batch; without this output where there are several, so
    that a workflow which knows one matrix alone fails instead of running a part.

    An entry has `index` (unique in the plan), `id` (of the cell) and `group`: of the entries of one
    group one may run at a time, so that at most `per_provider` jobs ask one provider.

    Raises:
        UsageError: the outputs exceed what a job may hand on.
    """
    entries = _entries(plan, per_provider)
    batches = [
        {"include": entries[start : start + MATRIX_JOBS]}
        for start in range(0, len(entries), MATRIX_JOBS)
    ]
    outputs = {
        "count": str(len(entries)),
        "index": _json(list(range(len(batches)))),
        "batches": _json(batches),
    }
    if len(batches) <= 1:
        outputs["matrix"] = _json(batches[0] if batches else {"include": []})
    size = sum(utf16_bytes(text) for text in outputs.values())
    if size > OUTPUT_BYTES:
        raise UsageError(
            f"the matrices of {len(entries):,} cells hold {size:,} bytes, and a job may hand on "
            f"{OUTPUT_BYTES:,}",
            where="--github",
            remedy="divide the tasks or models among several workflow runs",
        )
    return outputs


def _entries(plan: Plan, per_provider: int) -> list[dict[str, Any]]:
    seen: dict[str, int] = {}
    entries = []
    for index, cell in enumerate(plan.cells):
        provider = cell.model.provider
        number = seen[provider] = seen.get(provider, -1) + 1
        entries.append(_entry(index, cell, number % per_provider))
    return entries


def _entry(index: int, cell: Cell, lane: int) -> dict[str, Any]:
    provider = re.sub(r"[^A-Za-z0-9._-]+", "-", cell.model.provider)[:40]
    return {"index": index, "id": cell.cell_id, "group": f"{provider}-{lane}"}


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
