"""Change the modules of nanobench/scoring in every small way; run the tests on each change.

    PYTHONPATH=.:COSMIC_RAY python scripts/mutants.py FILE...

Runs in the root of a copy of the tree (see scripts/mutate, which makes one). The tests are
collected once. Each change is then tried in a forked process: one inside a function by giving the
function its new code, any other by importing everything afresh, which takes a second longer.
"""

import difflib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import re
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# Left out: operators of types and of keyword arguments, `is` for `==` of words, and decorators,
# whose changes either stop the program at once or change nothing that can be seen.
LEFT_OUT = re.compile(
    r"core/(ReplaceBinaryOperator_(BitOr|BitAnd|Pow)_.*"
    r"|ReplaceComparisonOperator_(Eq|NotEq|Lt|LtE|Gt|GtE)_(Is|IsNot)"
    r"|ReplaceComparisonOperator_(Is|IsNot)_(Eq|NotEq|Lt|LtE|Gt|GtE)"
    r"|RemoveDecorator|Variable(Inserter|Replacer))"
)
UNIT = (
    "tests/unit/scoring",
    "tests/contract/test_taxonomy.py",
    "tests/unit/verify/test_assertions.py",
)
PROPERTIES = ("tests/property/test_scoring_judge.py", "tests/property/test_symptoms.py")
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider")
CPU_SECONDS = 60  # of the tests of one change; one that loops for ever is noticed


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

    def code(self) -> CodeType:
        """The changed module, compiled."""
        return compile(self.source, self.path, "exec", dont_inherit=True)

    def functions(self) -> Mapping[CodeType, CodeType] | None:
        """The code of the functions that differ, old and new; null if it is not only they."""
        old = compile(self.path.read_text(), self.path, "exec", dont_inherit=True)
        return dict(pairs) if (pairs := _differing(old, self.code())) is not None else None


def _differing(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    inner = [[one for one in code.co_consts if inspect.iscode(one)] for code in (old, new)]
    if len(inner[0]) != len(inner[1]) or _own(old) != _own(new):
        return None
    found = []
    for before, after in zip(*inner, strict=True):
        if before == after:
            continue
        if before.co_flags & inspect.CO_OPTIMIZED:  # of a function, not of a class
            found.append((before, after))
        elif (deeper := _differing(before, after)) is not None:
            found += deeper
        else:
            return None
    return found


def _own(code: CodeType) -> tuple[object, ...]:
    """What a code does itself, without the functions and classes that it makes."""
    constants = [None if inspect.iscode(one) else repr(one) for one in code.co_consts]
    return code.co_code, code.co_names, constants


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


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(mutant.path))
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        return self._mutant.code()


@dataclass(frozen=True)
class _Finder(importlib.abc.MetaPathFinder):
    mutant: Mutant

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(fullname, loader=_Loader(self.mutant))


def passes(run: Callable[[], int]) -> bool:
    """Whether a run of tests in a process of its own exits with 0."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            os._exit(run())
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def afresh(mutant: Mutant, tests: Sequence[str]) -> bool:
    """Whether the tests pass on a change when everything is imported after it."""

    def run() -> int:
        sys.meta_path.insert(0, _Finder(mutant))
        return pytest.main([*OPTIONS, *tests])

    return passes(run)


@dataclass(frozen=True)
class Tries:
    """Runs the collected tests on each change of some functions, and tells which of them pass."""

    mutants: Sequence[Mutant]
    survivors: int  # a file descriptor that takes a line for each, its place in `mutants`

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests as they are, then on each change."""
        loop = session.config.pluginmanager.get_plugin("main").pytest_runtestloop

        def run(codes: Mapping[CodeType, CodeType]) -> int:
            for one in gc.get_objects():
                if isinstance(one, FunctionType) and one.__code__ in codes:
                    one.__code__ = codes[one.__code__]
            loop(session)
            return int(session.testsfailed > 0)

        if not passes(lambda: run({})):
            raise pytest.UsageError("the tests fail without any change")
        for place, mutant in enumerate(self.mutants):
            codes = mutant.functions() or {}
            if passes(lambda codes=codes: run(codes)):
                os.write(self.survivors, f"{place}\n".encode())
        return True


def survivors_of_units(mutants: Sequence[Mutant], tests: Sequence[str]) -> list[Mutant] | None:
    """The changes of functions on which the tests pass; null if they fail without any."""
    with tempfile.TemporaryFile() as told:
        tries = Tries(mutants, told.fileno())
        if not passes(lambda: pytest.main([*OPTIONS, *tests], [tries])):
            return None
        told.seek(0)
        return [mutants[int(line)] for line in told]


def main(paths: Sequence[str]) -> int:
    """Try all changes of some modules, and show those that no test notices."""
    first = Path(paths[0])
    if not afresh(Mutant(first, "none", first.read_text()), PROPERTIES):
        print("error: the properties fail without any change", file=sys.stderr)
        return 1
    for path in map(Path, paths):
        own = Path("tests/unit/scoring", f"test_{path.stem}.py")
        tests = [*([str(own)] if own.exists() else []), *UNIT]
        found = list(mutants(path))
        inside = [mutant for mutant in found if mutant.functions() is not None]
        outside = [mutant for mutant in found if mutant.functions() is None]
        live = survivors_of_units(inside, tests)
        if live is None:
            print(f"error: {path}: the tests fail without any change", file=sys.stderr)
            return 1
        # What lived is tried on fresh imports too: closures made at import keep their old code.
        live = [
            mutant for mutant in (*live, *outside) if all(afresh(mutant, [one]) for one in tests)
        ]
        live = [mutant for mutant in live if afresh(mutant, PROPERTIES)]
        for mutant in live:
            print(mutant.diff())
        noticed = len(found) - len(live)
        print(f"{path}: {len(found)} changes, {noticed} noticed, {len(live)} not", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
