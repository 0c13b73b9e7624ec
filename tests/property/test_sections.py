"""What holds when runner configuration is put back, whatever stands in the files (SPEC V4)."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.verify.invoked import Invoked
from nanobench.verify.sections import Versions, restore

checked = settings(deadline=None, derandomize=True, max_examples=150)
COMMANDS = Invoked(frozenset(), frozenset({"test", "lint"}), make=False)

KEYS = ("scripts", "test", "lint", "\ud800", "jest", "mocha", "dependencies")
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.sampled_from(["", "npm run lint", "npm run \ud800", "jest"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=8,
)
packages = values.map(lambda value: json.dumps(value).encode()) | st.sampled_from(
    [b"", b"{", b"\xff"]
)

LINES = {
    "pyproject.toml": (
        "[tool.pytest.ini_options]",
        "[tool]",
        "pytest = 3",
        "tool = 1",
        "addopts = '-x'",
        "[[tool.pytest]]",
        "tool.pytest.a = 1",
        "[project",
    ),
    "setup.cfg": ("[tool:pytest]", "addopts = -x", " -q", "[metadata]", "name", "[", "%(x)s = 1"),
    "Cargo.toml": ("[[test]]", "name = 'a'", "[patch]", "[patch.crates-io]", "test = 1", "x = {"),
    "go.mod": ("module m", "replace a => b", "replace (", ")", "a => ../a", "require b v1"),
    "pom.xml": (
        "<project>",
        "</project>",
        "<build>",
        "</build>",
        "<plugins/>",
        "<properties>",
        "</properties>",
        "<!--",
        "&x;",
    ),
    "build.gradle": ("test {", "}", "useJUnitPlatform()", "'", "/*", "*/", "exclude 'a'"),
}


def check(path, agent, base, golden):
    content, names = restore(path.encode(), Versions(agent, base, golden), COMMANDS)
    assert isinstance(content, bytes)
    "".join(names).encode()
    assert names or content == agent
    again, _ = restore(path.encode(), Versions(content, base, golden), COMMANDS)
    assert again == content


@checked
@given(agent=packages, base=st.none() | packages, golden=st.none() | packages)
def test_any_package_json_is_put_back_once_and_for_all(agent, base, golden):
    check("package.json", agent, base, golden)


@pytest.mark.parametrize("path", sorted(LINES))
def test_any_lines_are_put_back_once_and_for_all(path):
    files = st.lists(st.sampled_from(LINES[path]), max_size=8).map(
        lambda lines: "\n".join(lines).encode()
    )

    @checked
    @given(agent=files, base=st.none() | files, golden=st.none() | files)
    def holds(agent, base, golden):
        check(path, agent, base, golden)

    holds()
