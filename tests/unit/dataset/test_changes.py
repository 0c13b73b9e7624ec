"""What a file is, by its path."""

import pytest

from nanobench.dataset.changes import PathRules, path_kind
from nanobench.dataset.languages import language_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/widget.py", "source"),
        ("cmd/main.go", "source"),
        ("api/widget.proto", "source"),
        ("rust/lancedb/examples/search.rs", "source"),
        ("contest/latest.py", "source"),
        ("tests/test_widget.py", "test"),
        ("pkg/widget_test.go", "test"),
        ("src/a.test.tsx", "test"),
        ("src/__snapshots__/a.test.ts.snap", "test"),
        ("core/src/test/java/io/grpc/WidgetTest.java", "test"),
        ("core/src/testFixtures/java/Helper.java", "test"),
        ("core/src/main/java/Protest.java", "source"),
        ("cpp/fory/struct_test.cc", "test"),
        ("crates/core/src/tests.rs", "test"),
        ("testdata/input.json", "test"),
        ("storage/mappings/fixtures/span.json", "test"),
        ("storage/fixture.go", "source"),
        ("lib/widget_spec.rb", "test"),
        ("uv.lock", "lock"),
        ("frontend/pnpm-lock.yaml", "lock"),
        ("go.sum", "lock"),
        ("bun.lockb", "lock"),
        ("vendor/github.com/a/b.go", "vendored"),
        ("third_party/x/test_y.py", "vendored"),
        ("api/widget.pb.go", "generated"),
        ("api/widget_pb2.pyi", "generated"),
        ("web/dist/app.js", "generated"),
        ("pkg/apis/zz_generated.deepcopy.go", "generated"),
        ("README.md", "docs"),
        ("docs/conf.py", "docs"),
        ("LICENSE", "docs"),
        ("pyproject.toml", "other"),
        ("core/build.gradle.kts", "other"),
        ("src/main/kotlin/Build.kts", "source"),
        (".github/workflows/ci.yml", "other"),
    ],
)
def test_the_kind_of_a_path(path: str, kind: str) -> None:
    assert path_kind(path) == kind


def test_patterns_come_first_and_cross_directories() -> None:
    rules = PathRules(test=("checks/*",), source=("docs/*.py",), generated=("*.ts",))
    assert path_kind("checks/a/b.go", rules) == "test"
    assert path_kind("docs/a/conf.py", rules) == "source"
    assert path_kind("src/a.ts", rules) == "generated"
    assert path_kind("src/a.go", rules) == "source"


@pytest.mark.parametrize(
    ("path", "language"),
    [("a.PY", "Python"), ("a.d.ts", "TypeScript"), ("a.hpp", "C++"), ("a", None), ("a.json", None)],
)
def test_the_language_of_a_path(path: str, language: str | None) -> None:
    assert language_of(path) == language
