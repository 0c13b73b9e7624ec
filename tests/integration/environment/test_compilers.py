"""Go, Rust and Java of this machine: fetched once, built and tested without network after."""

import shutil
from typing import Any

import pytest

from nanobench.environment.sandbox import Sandbox
from nanobench.errors import EnvironmentSetupError

pytestmark = pytest.mark.real

GO = {
    "go.mod": "module example.com/m\n\ngo 1.21\n\nrequire github.com/google/uuid v1.6.0\n",
    "m_test.go": 'package m\n\nimport (\n\t"testing"\n\n\t"github.com/google/uuid"\n)\n\n'
    "func TestNil(t *testing.T) {\n\tif len(uuid.Nil.String()) != 36 {\n\t\tt.Fatal()\n\t}\n}\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n\n'
    '[dependencies]\nitoa = "1"\n',
    "src/lib.rs": "#[test]\nfn writes() {\n"
    '    assert_eq!(itoa::Buffer::new().format(7), "7");\n}\n',
}
JAVA = {
    "M.java": "public class M {\n    public static void main(String[] words) {\n"
    "        System.out.println(java.security.Security.getProviders().length);\n    }\n}\n"
}


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"no {program} here")


@needs("go")
def test_go_modules_come_once_and_serve_offline(bubblewrap: Sandbox, bench: Any) -> None:
    compile_all = "go test -run '^$' ./..."
    task = bench.task(GO, "go mod tidy", compile_all, runtimes={"go": ">=1.21"})
    prepared = bench.prepare(bubblewrap, task)
    for _ in range(2):
        workspace, run_dir = bench.workspace(task)
        with prepared.open(workspace, run_dir) as room:
            result, output = bench.run(room, "go", "test", "./...")
            assert result.exit_code == 0, output
            # What was fetched is no part of the source; the lock that the install wrote is.
            assert {path.name for path in workspace.iterdir()} == {*GO, "go.sum", ".git"}
            assert b"go.sum" in room.residue
            _, said = bench.run(room, "sh", "-c", "touch $(go env GOMODCACHE)/planted")
            assert "Read-only" in said


@needs("cargo")
def test_crates_come_once_and_serve_offline(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task(RUST, "cargo fetch", runtimes={"rust": ">=1.60"})
    prepared = bench.prepare(sandbox, task)
    workspace, run_dir = bench.workspace(task)
    with prepared.open(workspace, run_dir) as room:
        result, output = bench.run(room, "cargo", "test", "-q")
        assert result.exit_code == 0, output
        assert not (workspace / "target").exists()
        result, output = bench.run(room, "cargo", "add", "ryu")
        assert result.exit_code != 0


@needs("javac")
def test_java_finds_its_settings(sandbox: Sandbox, bench: Any) -> None:
    task = bench.task(JAVA, runtimes={"java": ">=11"})
    prepared = bench.prepare(sandbox, task)
    workspace, run_dir = bench.workspace(task)
    with prepared.open(workspace, run_dir) as room:
        result, output = bench.run(room, "sh", "-c", "javac M.java && java M")
        assert result.exit_code == 0, output
        assert int(output.split()[-1]) > 3


def test_a_compiler_that_is_not_here_is_a_clear_error(bubblewrap: Sandbox, bench: Any) -> None:
    task = bench.task(GO, runtimes={"go": "0.1"})
    with pytest.raises(EnvironmentSetupError, match=r"asks for go 0\.1, here is"):
        bench.prepare(bubblewrap, task)
