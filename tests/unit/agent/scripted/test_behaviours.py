"""Which edits a scripted model makes of a task, and when it makes no sense."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from nanobench.agent.scripted.behaviours import (
    BEHAVIOURS,
    NotApplicableError,
    TaskView,
    script_for,
)
from nanobench.agent.scripted.script import Act, Fault, Say, Script
from nanobench.errors import EXIT_USAGE, UsageError
from nanobench.model.task import Task
from nanobench.workspace.changes import Change
from nanobench.workspace.golden import Golden
from nanobench.workspace.snapshot import Entry

PY = b"def f(a):\n    return a\n"
JS = b"export const f = (a) => a;\n"
BASE = {
    b"lib/core.py": PY,
    b"lib/other.py": b"x = 1\n",
    b"js/core.js": JS,
    b"tests/test_core.py": b"def test_f(): ...\n",
    b"README.md": b"# Read\n",
}
AFTER = {
    b"lib/core.py": b"def f(a, b=0):\n    return a + b\n",
    b"js/core.js": b"export const f = (a, b = 0) => a + b;\n",
    b"tests/test_core.py": b"def test_f(): assert 1\n",
    b"README.md": b"# Read me\n",
}


class FakeSnapshot:
    def __init__(self, files: dict[bytes, bytes]) -> None:
        self.files = files
        self.entries = {path: Entry(0o100644, "0" * 40) for path in files}

    def blob(self, path: bytes) -> bytes:
        return self.files[path]


def view(
    python: int = 3,
    javascript: int = 5,
    after: dict[bytes, bytes] = AFTER,
    expected: bool = True,
    **changed: Any,
) -> TaskView:
    suites = [
        ("pytest", "Python", "python -m pytest", python),
        ("node", "TypeScript", "node --test", javascript),
    ]
    fields: dict[str, Any] = {
        "task_id": "t",
        "repo": "o/r",
        "repo_url": "/nowhere",
        "base_commit": "0123456789" * 4,
        "languages": ["Python", "TypeScript"],
        "domain": "d",
        "complexity_tier": "Tier 2 (Interface Mapping)",
        "task_type": "feature",
        "reasoning_category": "c",
        "token_estimate": 1,
        "problem_statement": "do it",
        "required_files": ["lib/core.py", "js/core.js"],
        "ground_truth_patch": "-",
        "contributor": "c",
        "merged_at": datetime(2026, 5, 1, tzinfo=UTC),
        "suites": [
            {"name": name, "language": language, "command": command}
            for name, language, command, count in suites
            if count
        ],
        "test_files": ["tests"],
    }
    if expected:
        fields["expected"] = {
            "fail_to_pass": {
                name: [f"{name}-{number}" for number in range(count)]
                for name, _, _, count in suites
                if count
            },
            "pass_to_pass": {},
        }
    task = Task.model_validate_json(json.dumps(fields | changed, default=str))
    changes = tuple(
        Change(path, 0o100644, content, 0o100644 if path in BASE else None)
        for path, content in sorted(after.items())
    )
    return TaskView(task, Golden(b"", changes), FakeSnapshot(BASE))  # type: ignore[arg-type]


def written(script: Script) -> dict[str, str]:
    calls = [call for step in script.steps if isinstance(step, Act) for call in step.calls]
    return {c.arguments["path"]: c.arguments["content"] for c in calls if c.name == "write_file"}


def paths(script: Script) -> set[str]:
    return set(written(script))


def test_gold_writes_every_golden_file_except_tests() -> None:
    script = script_for("gold", view())
    assert paths(script) == {"lib/core.py", "js/core.js", "README.md"}
    assert written(script)["lib/core.py"].encode() == AFTER[b"lib/core.py"]
    assert isinstance(script.steps[-1], Say)


def test_gold_leaves_tests_alone_that_the_task_does_not_name() -> None:
    assert "tests/test_core.py" not in paths(script_for("gold", view(test_files=[])))


def test_gold_includes_generated_files_but_no_protected_ones() -> None:
    after = {**AFTER, b"gen/out.py": b"1\n", b"ci.yml": b"x\n"}
    script = script_for(
        "gold", view(after=after, generated_files=["gen/out.py"], protected_files=["ci.yml"])
    )
    assert "gen/out.py" in paths(script)
    assert "ci.yml" not in paths(script)


def test_noop_only_speaks() -> None:
    assert [type(step) for step in script_for("noop", view()).steps] == [Say]


def test_gold_and_noop_do_not_need_expected() -> None:
    for name in ("gold", "noop"):
        assert script_for(name, view(expected=False)).steps


def test_an_irrelevant_edit_is_a_new_file_that_is_not_required() -> None:
    assert paths(script_for("irrelevant-edit", view())) == {"NOTES.md"}
    required = view(required_files=["NOTES.md"])
    assert paths(script_for("irrelevant-edit", required)) == {"NOTES-2.md"}


@pytest.mark.parametrize(
    ("python", "javascript", "edited"),
    [(3, 5, "js/core.js"), (5, 3, "lib/core.py"), (4, 4, "js/core.js")],
)
def test_partial_edits_the_language_with_half_of_the_targets(
    python: int, javascript: int, edited: str
) -> None:
    assert paths(script_for("partial", view(python, javascript))) == {edited, "README.md"}


@pytest.mark.parametrize(
    ("python", "javascript", "edited"), [(3, 5, "lib/core.py"), (5, 3, "js/core.js")]
)
def test_cross_language_half_edits_the_language_with_less_than_half(
    python: int, javascript: int, edited: str
) -> None:
    script = script_for("cross-language-half", view(python, javascript))
    assert paths(script) == {edited, "README.md"}


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("partial", view(1, 0)),
        ("partial", view(0, 5)),
        ("partial-below-half", view(2, 0)),
        ("partial-below-half", view(0, 5)),
        ("regression", view()),
        ("asked-symbol-elsewhere", view()),
        ("renames", view(required_files=["lib/new.py"])),
        ("wrong-logic", view(required_files=["README.md"], after={b"README.md": b"x"})),
        ("partial", view(expected=False)),
        ("partial", view(5, 3, required_files=["js/core.js"])),
        ("cross-language-half", view(4, 4)),
        ("cross-language-half", view(3, 0)),
        ("hallucinated-api", view(required_files=["lib/core.py"])),
        ("hallucinated-api", view(required_files=["README.md"])),
        ("wrong-layer", view(required_files=["js/core.js"])),
        ("wrong-layer", view(required_files=["lib/core.py"])),
        ("wrong-layer", view(3, 0, required_files=["lib/other.py"])),
    ],
)
def test_what_makes_no_sense_says_why(name: str, task: TaskView) -> None:
    with pytest.raises(NotApplicableError) as caught:
        script_for(name, task)
    assert caught.value.exit_code == EXIT_USAGE
    assert caught.value.where == "t"


def test_a_hallucination_breaks_every_required_module_and_nothing_else() -> None:
    script = script_for("hallucinated-api", view())
    assert paths(script) == {"lib/core.py", "js/core.js"}
    for path, content in written(script).items():
        before, call = content.rstrip("\n").rsplit("\n", 1)
        assert before + "\n" == BASE[path.encode()].decode()
        name = call.split("(")[0]
        assert name.isidentifier()
        known: Iterable[bytes] = (*BASE.values(), *AFTER.values())
        assert not any(name.encode() in text for text in known)
    with pytest.raises(NameError, match="load_adapter_01234567"):
        exec(written(script)["lib/core.py"], {})


def test_a_required_file_that_the_base_lacks_is_hallucinated_too() -> None:
    after = {**AFTER, b"lib/new.py": b"y = 2\n"}
    script = script_for("hallucinated-api", view(3, 0, after, required_files=["lib/new.py"]))
    with pytest.raises(NameError):
        exec(written(script)["lib/new.py"], {})


def test_the_wrong_layer_wants_more_of_every_python_call() -> None:
    script = script_for("wrong-layer", view())
    assert paths(script) == {"lib/core.py", "js/core.js", "js/core.inner.js", "README.md"}
    module: dict[str, Any] = {}
    exec(written(script)["lib/core.py"], module)
    for arguments in ((), (1,), (1, 2)):
        with pytest.raises(TypeError, match=r"f\(\) missing 1 required"):
            module["f"](*arguments)


def test_the_context_overflows_before_any_edit() -> None:
    (step,) = script_for("context-overflow", view()).steps
    assert isinstance(step, Fault)
    assert (step.status, step.code) == (400, "context_length_exceeded")


def test_an_unknown_model_is_told_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        script_for("genius", view())
    assert all(name in str(caught.value) for name in BEHAVIOURS)


def test_a_golden_file_that_was_not_stored_is_refused() -> None:
    task = view()
    huge = Change(b"big.bin", 0o100644, None, None)
    with pytest.raises(NotApplicableError, match="too large"):
        script_for("gold", TaskView(task.task, Golden(b"", (huge,)), task.snapshot))
