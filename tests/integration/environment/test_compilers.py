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
WRAPPER = "org.apache.maven.plugins:maven-wrapper-plugin:3.3.2:wrapper -Dmaven=3.9.9"
MAVEN = {
    "pom.xml": """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>m</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>11</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.11.4</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
      <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version></plugin>
    </plugins>
  </build>
</project>
""",
    "src/main/java/M.java": "class M {\n    static int one() {\n        return 1;\n    }\n}\n",
    "src/test/java/MTest.java": "import static org.junit.jupiter.api.Assertions.assertEquals;\n\n"
    "import org.junit.jupiter.api.Test;\n\nclass MTest {\n    @Test\n    void isOne() {\n"
    "        assertEquals(1, M.one());\n    }\n}\n",
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


@needs("mvn")
def test_maven_and_its_wrapper_come_once_and_serve_offline(bubblewrap: Sandbox, bench: Any) -> None:
    install = (f"mvn -q -B {WRAPPER}", "mvn -q -B test", "./mvnw -q -B test")
    task = bench.task(MAVEN, *install, runtimes={"java": ">=11"})
    prepared = bench.prepare(bubblewrap, task)
    workspace, run_dir = bench.workspace(task)
    with prepared.open(workspace, run_dir) as room:
        for program in ("mvn", "./mvnw"):
            result, output = bench.run(room, program, "-B", "test")
            assert (result.exit_code, "Tests run: 1, Failures: 0" in output) == (0, True), output
        _, output = bench.run(room, "sh", "-c", "touch /run/nb-deps/maven/planted")
        assert "Read-only" in output
        # What the install compiled does not hide a change of the source.
        source = workspace / "src/main/java/M.java"
        source.write_text(source.read_text().replace("1", "2"))
        result, output = bench.run(room, "./mvnw", "-B", "test")
        assert (result.exit_code, "expected: <1> but was: <2>" in output) == (1, True), output
        pom = workspace / "pom.xml"
        pom.write_text(pom.read_text().replace("5.11.4", "5.11.3"))
        result, output = bench.run(room, "./mvnw", "-B", "test")
        assert (result.exit_code, "offline" in output) == (1, True), output


def test_a_compiler_that_is_not_here_is_a_clear_error(bubblewrap: Sandbox, bench: Any) -> None:
    task = bench.task(GO, runtimes={"go": "0.1"})
    with pytest.raises(EnvironmentSetupError, match=r"asks for go 0\.1, here is"):
        bench.prepare(bubblewrap, task)
