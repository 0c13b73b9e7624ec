"""Change the modules of nanobench/scoring in every small way; run the tests on each change.

    PYTHONPATH=COSMIC_RAY python scripts/mutants.py FILE...

Runs in the root of a copy of the tree (see scripts/mutate, which makes one). Each change is tried
in a forked process that has pytest and the documents loaded already, so that it costs a second.
"""

import difflib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

import pytest
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

import nanobench.model.record
import nanobench.model.task  # noqa: F401

# Left out: operators of types and of keyword arguments, `is` for `==` of words, and decorators,
# whose changes either stop the program at once or change nothing that can be seen.
LEFT_OUT = re.compile(
    r"core/(ReplaceBinaryOperator_(BitOr|BitAnd|Pow)_.*"
    r"|ReplaceComparisonOperator_(Eq|NotEq|Lt|LtE|Gt|GtE)_(Is|IsNot)"
    r"|ReplaceComparisonOperator_(Is|IsNot)_(Eq|NotEq|Lt|LtE|Gt|GtE)|RemoveDecorator|Variable(Inserter|Replacer))"
)
UNIT = (
    "tests/unit/scoring",
    "tests/contract/test_taxonomy.py",
    "tests/unit/verify/test_assertions.py",
)
PROPERTIES = ("tests/property/test_scoring_judge.py", "tests/property/test_symptoms.py")
CPU_SECONDS = 300  # of one run of tests; a change that loops for ever is noticed


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    path: Path
    operator: str
    source: str

    @property
    def module(self) -> str:
        """Its dotted name."""
        return ".".join(self.path.with_suffix("").parts)

    def diff(self) -> str:
        """The change, as lines before and after it."""
        before, after = (text.splitlines() for text in (self.path.read_text(), self.source))
        lines = difflib.unified_diff(before, after, str(self.path), self.operator, "", "", 1, "")
        return "\n".join(lines)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(mutant.path))
        self._source = mutant.source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec", dont_inherit=True)


@dataclass(frozen=True)
class _Finder(importlib.abc.MetaPathFinder):
    mutant: Mutant

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(fullname, loader=_Loader(self.mutant))


def mutants(path: Path) -> Iterator[Mutant]:
    """All changes of a module that cosmic-ray knows, except those that are left out."""
    source = path.read_text()
    for name in sorted(operator_names()):
        if LEFT_OUT.fullmatch(name):
            continue
        operator, occurrence = get_operator(name)(), 0
        while (changed := mutate_code(source, operator, occurrence)) is not None:
            yield Mutant(path, name, changed)
            occurrence += 1


def survives(mutant: Mutant | None, stages: Sequence[Sequence[str]]) -> bool:
    """Whether the tests of every stage pass; without a mutant, on the code as it is."""
    return all(_passes(mutant, tests) for tests in stages)


def _passes(mutant: Mutant | None, tests: Sequence[str]) -> bool:
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if mutant:
            sys.meta_path.insert(0, _Finder(mutant))
        os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    return os.waitpid(child, 0)[1] == 0


def stages_of(path: Path) -> tuple[Sequence[str], ...]:
    """The module's own tests, if it has some, then all unit tests, then the properties."""
    own = Path("tests/unit/scoring", f"test_{path.stem}.py")
    return (*([(str(own),)] if own.exists() else []), UNIT, PROPERTIES)


def main(paths: Sequence[str]) -> int:
    """Try all changes of some modules, and show those that no test notices."""
    if not survives(None, (UNIT, PROPERTIES)):
        print("error: the tests fail without any change", file=sys.stderr)
        print("  next:  make scripts/test --unit pass", file=sys.stderr)
        return 1
    for path in map(Path, paths):
        changes = live = 0
        for mutant in mutants(path):
            changes += 1
            if survives(mutant, stages_of(path)):
                live += 1
                print(mutant.diff(), flush=True)
        print(f"{path}: {changes} changes, {changes - live} noticed, {live} not", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
