"""`go test`."""

import posixpath
import re
import shlex
from collections.abc import Sequence

from nanobench.dataset.extract.plan import Plan, Step, at_least, grouped, in_directory
from nanobench.dataset.extract.tree import Tree, below, inside

_VERSION = re.compile(r"^go\s+([0-9]+\.[0-9]+)", re.M)
_DATA = re.compile(r"(?:(.*?)/)?testdata/")


def go_plan(paths: Sequence[str], tree: Tree) -> Plan:
    """One command per module, on the packages that hold the tests; the install compiles them."""
    package = _packages(paths, tree)
    steps, install, versions = [], [], []
    modules = grouped(package, lambda path: tree.nearest(path, ["go.mod"]))
    for module, files in modules.items():
        places = sorted({below(package[path], module) for path in files})
        names = shlex.join(place if place == "." else f"./{place}" for place in places)
        steps.append(Step("go", "Go", module, f"go test {names}"))
        install.append(in_directory(module, f"go mod download && go test -run '^$' {names}"))
        versions.append(at_least(_VERSION, tree.text(inside(module, "go.mod"))))
    runtime = next((version for version in versions if version), None)
    covered = frozenset(path for files in modules.values() for path in files)
    return Plan(tuple(steps), tuple(install), {"go": runtime} if runtime else {}, covered)


def _packages(paths: Sequence[str], tree: Tree) -> dict[str, str]:
    """Test files to their packages; what lies in `testdata` is read by the package beside it."""
    tested = {posixpath.dirname(path) for path in tree.blobs if path.endswith("_test.go")}
    found = {}
    for path in paths:
        data = _DATA.match(path)
        if path.endswith("_test.go"):
            found[path] = posixpath.dirname(path) or "."
        elif data and (data[1] or "") in tested:
            found[path] = data[1] or "."
    return found
