"""Imports point down the layers of docs/architecture.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import nanobench

ROOT = Path(nanobench.__file__).parent
ORDER = re.findall(r"^\| `(\w+)/` \|", (ROOT.parent / "docs/architecture.md").read_text(), re.M)
RANK = {package: rank for rank, package in enumerate(ORDER)}
PACKAGES = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file())


def _imports(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _upward(package: str) -> list[str]:
    found = []
    for source in sorted((ROOT / package).rglob("*.py")):
        for module in _imports(source):
            parts = module.split(".")
            if (
                parts[0] == "nanobench"
                and RANK.get("".join(parts[1:2]), len(ORDER)) < RANK[package]
            ):
                found.append(f"{source.relative_to(ROOT)} imports {module}")
    return found


def test_every_package_has_its_layer() -> None:
    assert set(PACKAGES) <= set(RANK)


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_down(package: str) -> None:
    assert _upward(package) == []
