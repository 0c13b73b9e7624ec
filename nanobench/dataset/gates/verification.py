"""The verification gate: the tests fail at base and pass with the golden patch."""

import json
from pathlib import Path

from nanobench.files import write_atomic
from nanobench.model.task import Expected
from nanobench.pipeline.bench import PlannedTask, Services, resolve
from nanobench.pipeline.places import places
from nanobench.pipeline.verifying import Lab
from nanobench.verify.expected import compute_expected
from nanobench.verify.outputs import OutputStore
from nanobench.verify.suites import Purpose


def verification_gate(planned: PlannedTask, services: Services, outputs: Path) -> Expected:
    """Run all suites on the base and on the golden state, both with the golden test files.

    The whole outputs of the suites go to `outputs`, as `base-<suite>` and `golden-<suite>`.

    Raises:
        GateError: the two states are not told apart, or the golden state does not pass.
        NanobenchError: the task cannot be resolved, installed or run.
    """
    material = resolve(planned, services)
    dependencies = services.environment.prepare(material.task, material.snapshot)
    with places(services.state.runs) as rooms:
        lab = Lab(material, dependencies, rooms, OutputStore(outputs))
        _, base = lab.run("base", (), Purpose("base"))
        _, golden = lab.run("golden", material.golden.changes, Purpose("golden"))
    return compute_expected(base, golden)


def write_expected(path: Path, expected: Expected) -> None:
    """Put `expected` into a task file, leaving the order of its fields as it is.

    Raises:
        StateError: the file cannot be written.
    """
    document = json.loads(path.read_bytes())
    document["expected"] = expected.model_dump(mode="json")
    write_atomic(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
