"""What each scripted model does about the sample task, whose patch and tests are real."""

from collections.abc import Iterator

import pytest

from nanobench.agent.scripted.behaviours import BEHAVIOURS, script_for
from nanobench.agent.scripted.script import Act, Cut, Fault, Say, Script, ToolCall
from nanobench.agent.scripted.sources import TaskView

FILES = {"js/src/notation.js", "js/src/units.js", "tempo/notation.py", "tempo/units.py"}


def calls(script: Script) -> Iterator[ToolCall]:
    for step in script.steps:
        if isinstance(step, Act):
            yield from step.calls


def written(view: TaskView, name: str) -> dict[str, str]:
    return {
        call.arguments["path"]: call.arguments["content"]
        for call in calls(script_for(name, view))
        if call.name == "write_file"
    }


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_every_behaviour_can_play_the_sample_and_plays_it_alike(
    sample: TaskView, name: str
) -> None:
    script = script_for(name, sample)
    assert script.steps
    assert script == script_for(name, sample)


def test_a_share_below_half_leaves_something_to_fail_in_every_language(sample: TaskView) -> None:
    made = written(sample, "partial-below-half")
    held = [name for name in _targets(sample, "pytest") if name in made["tempo/units.py"]]
    assert 0 < len(held) < len(_targets(sample, "pytest"))
    assert "HELD" not in made["js/src/units.js"]
    assert "null ? null.includes" in made["js/src/units.js"]


def test_a_regression_holds_back_no_target_test(sample: TaskView) -> None:
    made = written(sample, "regression")
    assert not any(name in made["tempo/units.py"] for name in _targets(sample, "pytest"))
    assert "test_a_unit_is_found_by_its_symbol" in made["tempo/units.py"]
    gold = written(sample, "gold")
    assert {path: made[path] for path in made if path.startswith("js/")} == {
        path: gold[path] for path in gold if path.startswith("js/")
    }


def test_wrong_logic_is_in_every_source_file(sample: TaskView) -> None:
    made = written(sample, "wrong-logic")
    assert {path for path in made if "AssertionError" in made[path]} == FILES


def test_the_shell_does_the_same_without_the_tools_for_files(sample: TaskView) -> None:
    for name in ("bash-only", "bash-only-partial"):
        assert {call.name for call in calls(script_for(name, sample))} == {"execute_bash"}


def test_the_commit_comes_after_the_work(sample: TaskView) -> None:
    steps = script_for("commits", sample).steps
    assert steps[:-2] == script_for("gold", sample).steps[:-1]
    assert isinstance(steps[-2], Act)
    assert "git commit" in steps[-2].calls[0].arguments["command"]


def test_every_required_file_gets_another_name(sample: TaskView) -> None:
    moved = list(calls(script_for("renames", sample)))
    assert {call.arguments["path"] for call in moved} == FILES
    assert all(call.arguments["operation"] == "move" for call in moved)
    assert FILES.isdisjoint(call.arguments["destination"] for call in moved)


def test_an_edit_is_rejected_because_nothing_was_read_or_is_there(sample: TaskView) -> None:
    edits = list(calls(script_for("failed-edits", sample)))
    assert {call.name for call in edits} == {"string_replace"}
    assert {call.arguments["path"] for call in edits} == FILES


def test_asked_symbols_are_defined_beside_their_place_and_nowhere_else(sample: TaskView) -> None:
    made = written(sample, "asked-symbol-elsewhere")
    assert set(made) == {
        "js/src/units.js",
        "js/src/units_support.js",
        "tempo/units.py",
        "tempo/units_support.py",
    }
    assert made["tempo/units_support.py"].startswith("def largest_unit(")
    assert "function largestUnit(" in made["js/src/units_support.js"]
    for path in ("tempo/units.py", "js/src/units.js"):
        base = sample.snapshot.blob(path.encode()).decode()
        assert made[path].startswith(base)
        assert made[path].count("\n") == base.count("\n") + 1


def test_a_process_of_the_tests_is_killed_by_every_module(sample: TaskView) -> None:
    made = written(sample, "crashes-suite")
    assert {path for path in made if "SIGKILL" in made[path]} == FILES


@pytest.mark.parametrize(
    ("name", "kind", "works"),
    [
        ("context-overflow-after-edit", Fault, True),
        ("rate-limited", Fault, False),
        ("rate-limited-after-reply", Fault, False),
        ("rate-limited-after-edit", Fault, True),
        ("server-error", Fault, False),
        ("auth-error", Fault, False),
        ("pollutes", Fault, False),
        ("stream-cut", Cut, True),
        ("endless", Act, False),
        ("endless-after-work", Act, True),
        ("out-of-turns", Act, True),
        ("empty-reply", Say, False),
        ("cut-by-length", Say, False),
    ],
)
def test_an_ending_comes_after_the_whole_work_or_without_any(
    sample: TaskView, name: str, kind: type, works: bool
) -> None:
    script = script_for(name, sample)
    assert isinstance(script.steps[-1], kind)
    assert bool(written(sample, name)) is works
    if works:
        assert script.steps[:-1] == script_for("gold", sample).steps[:-1]


def test_what_is_tried_again_asks_for_a_short_wait(sample: TaskView) -> None:
    for name in ("rate-limited", "server-error"):
        (fault,) = script_for(name, sample).steps
        assert isinstance(fault, Fault)
        assert int(fault.headers["retry-after-ms"]) <= 100


def test_the_miner_asks_for_the_very_commit(sample: TaskView) -> None:
    commands = [call.arguments["command"] for call in calls(script_for("mines-history", sample))]
    assert f"git checkout {sample.task.merge_commit} -- ." in commands


def _targets(view: TaskView, suite: str) -> list[str]:
    assert view.task.expected is not None
    return [test.rpartition("::")[2] for test in view.task.expected.fail_to_pass[suite]]
