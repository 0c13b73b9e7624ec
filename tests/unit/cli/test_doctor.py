import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import nanobench.environment.machine as machine
from nanobench.cli.doctor import doctor
from nanobench.environment.machine import Finding, can_run
from nanobench.environment.sandbox import Probe


def run(*arguments: str, state: Path) -> tuple[int, str]:
    result = CliRunner().invoke(doctor, ["--state-dir", str(state), *arguments])
    return result.exit_code, result.output


def test_machine_that_can_run_is_told_so(tmp_path: Path) -> None:
    code, output = run("--json", state=tmp_path)
    report = json.loads(output)
    assert code == 0
    assert report["can_run"] is True
    names = {finding["name"] for finding in report["findings"]}
    assert {"git", "uv", "node", "nanocoder", "bubblewrap", "state directory"} <= names


def test_every_lack_has_a_remedy_and_a_required_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = tuple(Probe(name, None, "refused") for name in ("bubblewrap", "namespaces", "none"))
    monkeypatch.setattr(machine, "probe_sandboxes", lambda: nothing)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, output = run("--json", state=tmp_path)
    findings = {finding["name"]: finding for finding in json.loads(output)["findings"]}
    assert code == 4
    assert findings["git"]["state"] == "missing"
    assert "not installed" in findings["git"]["seen"]
    lacking = [finding for finding in findings.values() if finding["state"] != "ok"]
    assert all(finding["remedy"] for finding in lacking)
    assert findings["supervision"]["required"]
    code, output = run(state=tmp_path)
    assert "lacks  git" in output
    assert output.endswith("A bench cannot run here.\n")


def test_full_disk_stops_a_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 100 << 20

    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: Usage)
    code, output = run(state=tmp_path)
    assert code == 4
    assert "0.1 GiB free" in output


@pytest.mark.parametrize(
    ("required", "state", "runnable"),
    [(True, "missing", False), (False, "missing", True), (True, "degraded", True)],
)
def test_only_a_missing_requirement_stops_a_bench(
    required: bool, state: machine.State, runnable: bool
) -> None:
    assert can_run((Finding("x", state, "", required=required),)) is runnable
