"""A build of Nanocoder that is no release runs through plan and run, on another machine too."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nanobench.cli.plan import plan
from nanobench.cli.run import run
from nanobench.environment.toolchain import NANOCODER_ENTRY, Toolchain
from nanobench.errors import EnvironmentSetupError, InvalidInputError
from nanobench.files import StateDirectory
from nanobench.model.plan import AgentSettings

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def checkout(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a checkout is after its build: the package's files, with another version."""
    entry = toolchain.nanocoder(AgentSettings().nanocoder)
    package = entry.parents[1]
    assert entry == package.parents[2] / NANOCODER_ENTRY
    place = tmp_path_factory.mktemp("built") / "nanocoder"
    shutil.copytree(package, place, ignore=shutil.ignore_patterns("node_modules"))
    manifest = json.loads((place / "package.json").read_text())
    (place / "package.json").write_text(json.dumps({**manifest, "version": "1.99.0"}))
    return place


def planned(nanocoder: Path, state: Path, out: Path) -> Result:
    where = ["--nanocoder", str(nanocoder), "--state-dir", str(state)]
    what = ["--models", "scripted/noop", "--tasks", "sample", "--json"]
    return CliRunner().invoke(plan, [*what, *where, "--out", str(out / "plan.json")])


def test_a_built_checkout_is_planned_and_run_elsewhere_by_its_content(
    checkout: Path, shared_state: StateDirectory, tmp_path: Path
) -> None:
    done = planned(checkout, tmp_path / "here", tmp_path / "plan")
    assert done.exit_code == 0, done.output
    (cell_id,) = json.loads(done.stdout)["cells"]
    plan_file = tmp_path / "plan/plan.json"
    version = json.loads(plan_file.read_text())["agent"]["nanocoder"]
    assert version.startswith("1.99.0+sha256.")
    assert (tmp_path / f"plan/nanocoder-{version.rpartition('.')[2]}.tgz").is_file()
    where = ["--out", str(tmp_path / "out"), "--state-dir", str(shared_state.root), "--json"]
    done = CliRunner().invoke(run, ["--plan", str(plan_file), "--cell", cell_id, *where])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["provenance"]["nanocoder"] == version
    assert record["verdict"]["outcome"] == "graded"


def test_without_the_build_nothing_is_run_under_its_name(checkout: Path, tmp_path: Path) -> None:
    name = Toolchain(tmp_path / "here").take_in(checkout)
    with pytest.raises(EnvironmentSetupError, match="is not on this machine"):
        Toolchain(tmp_path / "there").nanocoder(name)


def test_a_checkout_that_was_not_built_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nanocoder").mkdir()
    error = planned(tmp_path / "nanocoder", tmp_path / "state", tmp_path / "plan").exception
    assert isinstance(error, InvalidInputError)
    assert "has not been built" in error.what
    assert "pnpm run build" in error.remedy


def test_packing_runs_no_script_of_the_checkout(checkout: Path, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    shutil.copytree(checkout, hostile)
    manifest = json.loads((hostile / "package.json").read_text())
    touch = f"touch {tmp_path / 'ran'}"
    manifest["scripts"] = {"prepack": touch, "prepare": touch, "prepublishOnly": touch}
    (hostile / "package.json").write_text(json.dumps(manifest))
    Toolchain(tmp_path / "tools").take_in(hostile)
    assert not (tmp_path / "ran").exists()
