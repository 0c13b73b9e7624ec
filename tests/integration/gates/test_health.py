"""Active tasks are looked at again: what is proposed, and what is only not known."""

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from nanobench.cli.dataset import dataset
from nanobench.errors import GateError, InfrastructureError

pytestmark = pytest.mark.real
Submit = Callable[..., Any]


def look(task: Any, *options: str) -> Any:
    arguments = ["--tasks-dir", str(task.tasks), "--state-dir", str(task.state), "--json", *options]
    return CliRunner().invoke(dataset, ["health", *arguments])


def test_a_healthy_task_gives_nothing_to_do(submit: Submit) -> None:
    task = submit()
    task.write()
    done = look(task)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["healthy"], found["proposals"], found["unchecked"]) == (["add-1"], [], [])


def test_a_container_task_that_names_no_image_can_be_looked_at(
    submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NANOBENCH_IMAGE", raising=False)
    task = submit()
    task.write(environment={"strategy": "container"})
    done = look(task)
    assert isinstance(done.exception, InfrastructureError)
    assert "--image" in json.loads(done.stdout)["unchecked"][0]["because"]
    done = look(task, "--image", "nanobench.invalid/none")
    assert "names no image" not in json.loads(done.stdout)["unchecked"][0]["because"]
    assert look(task, "--strategy", "native").exit_code == 0


def test_a_history_that_was_rewritten_is_proposed_though_a_cache_still_has_it(
    submit: Submit,
) -> None:
    task = submit()
    task.write()
    assert look(task).exit_code == 0
    shutil.rmtree(task.repository / ".git")
    task.git(task.repository, "init", "-q", "-b", "main")
    task.git(task.repository, "add", "-A")
    task.git(task.repository, "commit", "-q", "-m", "another history")
    done = look(task)
    assert isinstance(done.exception, GateError)
    (proposal,) = json.loads(done.stdout)["proposals"]
    assert (proposal["task_id"], proposal["reason"]) == ("add-1", "history_rewritten")


def test_a_repository_that_does_not_answer_is_not_a_rewritten_history(submit: Submit) -> None:
    task = submit()
    task.write()
    shutil.rmtree(task.repository)
    done = look(task)
    assert isinstance(done.exception, InfrastructureError)
    found = json.loads(done.stdout)
    assert found["proposals"] == []
    assert [one["task_id"] for one in found["unchecked"]] == ["add-1"]


def test_a_task_that_became_flaky_is_proposed_with_what_was_seen(submit: Submit) -> None:
    tests = "".join(
        f"test('f{n}', () => {{ if (Math.random() < .5) throw 1; }});" for n in range(9)
    )
    task = submit(change={"test/flaky.test.js": f"const test = require('node:test');\n{tests}\n"})
    task.write(test_files=["test/add.test.js", "test/flaky.test.js"])
    done = look(task)
    (proposal,) = json.loads(done.stdout)["proposals"]
    assert proposal["reason"] == "flaky"
    assert "change from run to run" in proposal["seen"][0]


def test_tests_that_do_something_else_now_are_proposed_and_nothing_is_retired(
    submit: Submit,
) -> None:
    task = submit()
    path = task.write(expected={"fail_to_pass": {"node": ["gone"]}, "pass_to_pass": {"node": []}})
    before = path.read_bytes()
    done = look(task)
    (proposal,) = json.loads(done.stdout)["proposals"]
    assert proposal["reason"] == "other"
    assert path.read_bytes() == before
