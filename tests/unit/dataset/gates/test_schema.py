"""The schema gate tells what a person still has to say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.dataset.gates.findings import Findings
from nanobench.dataset.gates.schema import schema_gate

Add = Callable[..., Path]


@pytest.mark.parametrize("field", ["domain", "task_type", "reasoning_category", "contributor"])
def test_what_nobody_has_said_is_a_warning(add_task: Add, field: str) -> None:
    findings = Findings("schema", "t1")
    assert schema_gate(add_task("t1", "acme-widget", tier=1, **{field: "unassigned"}), findings)
    (problem,) = findings.outcome().problems
    assert (problem.severity, problem.field) == ("warning", field)
    assert findings.passed
