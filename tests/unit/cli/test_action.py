"""What the inputs of the action become: commands, environments, and one exit code."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.cli import action
from nanobench.cli.action import PREFIX, Inputs
from nanobench.errors import InvalidInputError, UsageError

Environ = dict[str, str]


def inputs(**given: str) -> Inputs:
    return Inputs({f"{PREFIX}{name.upper()}": value for name, value in given.items()})


class Commands:
    """Takes the place of our own commands: notes them, and does what each should leave behind."""

    def __init__(self) -> None:
        self.ran: list[tuple[list[str], Environ]] = []
        self.codes: dict[str, int] = {}
        self.leaves: dict[str, Callable[[], None]] = {}

    def __call__(self, argv: list[str], env: Environ, **more: Any) -> Any:
        arguments = argv[4:]
        self.ran.append((arguments, env))
        name = " ".join(arguments[:2])
        for known, leave in self.leaves.items():
            if name.startswith(known):
                leave()
        code = next((c for known, c in self.codes.items() if name.startswith(known)), 0)
        return subprocess.CompletedProcess(argv, code, stdout=b'{"tasks": []}')

    @property
    def names(self) -> list[str]:
        groups = ("publish", "baseline", "task")
        return [" ".join(one[: 1 + (one[0] in groups)]) for one, _ in self.ran]

    def of(self, name: str) -> tuple[list[str], Environ]:
        return next(one for one in self.ran if " ".join(one[0]).startswith(name))


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, Commands]]:
    """`job(command, **inputs)` is a step of the action; returns its code and what it ran."""
    commands = Commands()
    monkeypatch.setattr(subprocess, "run", commands)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("ACTIONS_RUNTIME_TOKEN", "runtime-s3cret")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    results, report = tmp_path / "nanobench/results", tmp_path / "nanobench/report"

    def write(path: Path) -> Callable[[], None]:
        def leave() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")

        return leave

    commands.leaves = {
        "bench": write(results / "plan.json"),
        "report": write(report / "report.json"),
    }

    def run(command: str, codes: dict[str, int] | None = None, **given: str) -> tuple[int, Any]:
        commands.codes = codes or {}
        defaults = {
            "command": command,
            "require_isolation": "true",
            "comment": "true",
            "fail_on": "regression,missing",
            "providers": '[{"apiKey": "s3cret"}]',
            "token": "t0ken",
        }
        for name, value in {**defaults, **given}.items():
            monkeypatch.setenv(f"{PREFIX}{name.upper()}", value)
        code = action.action.callback()  # type: ignore[misc]
        return code, commands

    return run


def test_every_line_of_an_input_is_an_option_of_its_own_and_blanks_are_none() -> None:
    given = inputs(models="a/b\n\n  c/d  \n", tasks="", mode="both")
    options = given.options({"models": "--models", "tasks": "--tasks", "mode": "--mode"})
    assert options == ["--models=a/b", "--models=c/d", "--mode=both"]


def test_a_value_that_looks_like_an_option_stays_a_value() -> None:
    assert inputs(tasks="--out=/etc").options({"tasks": "--tasks"}) == ["--tasks=--out=/etc"]


@pytest.mark.parametrize("value", ["", "yes", "True", "1"])
def test_a_switch_is_true_or_false_and_nothing_else(value: str) -> None:
    with pytest.raises(UsageError, match="neither true nor false"):
        inputs(comment=value).is_on("comment")


def test_bench_runs_judges_and_publishes(job: Any) -> None:
    code, commands = job("bench", models="a/b", nanocoder=".")
    assert code == 0
    assert commands.names == ["bench", "report", "publish review"]
    arguments, _ = commands.of("bench")
    assert "--models=a/b" in arguments
    assert "--nanocoder=." in arguments
    assert "--require-isolation" in arguments


def test_keys_go_to_what_runs_cells_and_the_token_to_what_asks_github(job: Any) -> None:
    _, commands = job("bench", baseline="artifact")
    for arguments, env in commands.ran:
        text = " ".join(env.values())
        assert ("s3cret" in env.get("NANOCODER_PROVIDERS", "")) == (arguments[0] == "bench")
        asks = arguments[0] in ("baseline", "publish")
        assert (env.get("GITHUB_TOKEN") == "t0ken") == asks
        assert "runtime-s3cret" not in text
        assert ("t0ken" in text) == asks
        assert all("s3cret" not in part and "t0ken" not in part for part in arguments)


def test_without_a_baseline_nothing_can_regress_and_the_rest_still_fails_the_check(
    job: Any,
) -> None:
    _, commands = job("bench", baseline="artifact", fail_on="regression, missing")
    arguments, _ = commands.of("report")
    assert "--fail-on=missing" in arguments
    assert not any(part.startswith("--baseline") for part in arguments)


def test_a_baseline_that_was_found_is_compared_with(job: Any, tmp_path: Path) -> None:
    (tmp_path / "nanobench/baseline").mkdir(parents=True)
    _, commands = job("bench", baseline="release:v1", baseline_digest="a" * 64)
    found, _ = commands.of("baseline get")
    assert found[2:4] == ["--from=release:v1", f"--digest={'a' * 64}"]
    arguments, _ = commands.of("report")
    assert f"--baseline={tmp_path / 'nanobench/baseline'}" in arguments
    assert "--fail-on=regression,missing" in arguments


def test_a_directory_called_release_does_not_hide_the_releases(
    job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "release").mkdir()
    monkeypatch.chdir(tmp_path)
    _, commands = job("report", baseline="release")
    assert "--from=release" in commands.of("baseline get")[0]


def test_results_of_this_job_are_compared_with_as_they_are(job: Any, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    _, commands = job("report", baseline=str(tmp_path / "old"))
    assert commands.names == ["report", "publish review"]
    assert f"--baseline={tmp_path / 'old'}" in commands.of("report")[0]


def test_a_damaged_baseline_is_an_error_and_no_first_run(job: Any) -> None:
    with pytest.raises(InvalidInputError, match="baseline cannot be used"):
        job("report", {"baseline": 3}, baseline="artifact")


def test_the_verdict_of_the_report_is_the_codes_and_a_refused_comment_is_not(job: Any) -> None:
    assert job("report", {"report": 1})[0] == 1
    assert job("report", {"publish": 4})[0] == 0


def test_a_bench_that_could_not_start_publishes_nothing(job: Any) -> None:
    code, commands = job("bench", {"bench": 3})
    assert (code, commands.names) == (3, ["bench"])


def test_without_a_comment_the_summary_is_written_all_the_same(job: Any) -> None:
    _, commands = job("report", comment="false")
    assert "--summary-only" in commands.of("publish review")[0]


def test_infrastructure_trouble_with_a_record_is_a_result(job: Any, tmp_path: Path) -> None:
    place = tmp_path / "nanobench/results/cells/c1/attempt-1"
    assert job("run", {"run": 4}, cell="c1")[0] == 4
    place.mkdir(parents=True)
    (place / "record.json").write_text("{}")
    assert job("run", {"run": 4}, cell="c1")[0] == 0
    assert job("run", {"run": 3}, cell="c1")[0] == 3


@pytest.mark.parametrize("name", [f"{PREFIX}PROVIDERS", "NANOCODER_PROVIDERS"])
def test_keys_are_masked_before_anything_runs_wherever_they_are_given(
    job: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("NANOCODER_PROVIDERS", raising=False)
    monkeypatch.setenv(name, "[]")
    _, commands = job("run", cell="c1")
    assert commands.names == ["publish masks", "run"]


def test_publish_refuses_several_report_directories_by_name(job: Any) -> None:
    with pytest.raises(UsageError, match="one report directory"):
        job("publish", results="one\ntwo")


def test_gates_run_without_keys_and_without_a_token(job: Any, tmp_path: Path) -> None:
    code, commands = job("gate", {"task gate": 1}, files="tasks/a/b.json\ntasks/c/-d.json")
    assert code == 1
    arguments, env = commands.of("task gate")
    assert arguments[-3:] == ["--", "tasks/a/b.json", "tasks/c/-d.json"]
    assert not {"GITHUB_TOKEN", "NANOCODER_PROVIDERS", f"{PREFIX}TOKEN"} & set(env)
    assert (tmp_path / "nanobench/gate/gate.json").read_text() == '{"tasks": []}'
    # Without a token nothing can be posted, and nobody needs to be warned of that.
    assert "--summary-only" in commands.of("publish gate")[0]


def test_an_unknown_command_names_those_that_there_are(job: Any) -> None:
    with pytest.raises(UsageError, match="'sing'") as caught:
        job("sing")
    assert "bench, plan, run, report, gate, publish" in caught.value.remedy


def test_the_conclusion_is_an_output(job: Any, tmp_path: Path) -> None:
    job("report", {"report": 4})
    assert "failure" in (tmp_path / "output").read_text()
