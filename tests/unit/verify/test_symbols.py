"""Where a symbol existed, and who added it."""

from typing import Any

import pytest

from nanobench.model.signals import Symptom
from nanobench.scoring.symptoms import RawSymptom
from nanobench.verify.definitions import defines
from nanobench.verify.symbols import SymbolContext, complete
from nanobench.workspace.changes import Change


def _complete(symbol: str | None, context: SymbolContext) -> Symptom:
    raw = RawSymptom("missing_symbol", "Python", "NameError", symbol, "tests", ("t::x",), "m")
    [symptom] = complete([raw], context)
    return symptom


def _written(path: bytes, content: bytes, mode: int = 0o100644) -> Change:
    return Change(path, mode, content, None)


def _context(snapshot: Any, files: dict[bytes, bytes], **changes: Any) -> SymbolContext:
    return SymbolContext(
        snapshot(files), ("a.py",), changes.get("golden", ()), changes.get("agent", ())
    )


@pytest.mark.parametrize(
    ("files", "in_required", "in_repository"),
    [
        ({b"a.py": b"x.nam\xc3\xa9 = 1\n"}, True, True),
        ({b"a.py": b"pre_nam\xc3\xa9\nnam\xc3\xa9s\n$nam\xc3\xa9"}, False, False),
        ({b"a.py": b"", b"docs/b.md": b"see `nam\xc3\xa9`"}, False, True),
        ({b"a.py": b"", b"b.bin": b"\0nam\xc3\xa9"}, False, False),
        ({b"a.py": b"", "pkg/namé/x.py".encode(): b""}, False, True),
        ({b"b.py": b"nam\xc3\xa9"}, False, True),  # the required file is new
    ],
)
def test_a_symbol_is_a_whole_identifier(
    snapshot: Any, files: dict[bytes, bytes], in_required: bool, in_repository: bool
) -> None:
    symptom = _complete("namé", _context(snapshot, files))
    assert symptom.in_required_files_at_base is in_required
    assert symptom.in_repository_at_base is in_repository


def test_links_of_the_base_are_not_read_as_text(snapshot: Any) -> None:
    base = snapshot({b"a.py": b"", b"link": b"wanted"}, {b"link": 0o120000})
    assert (
        _complete("wanted", SymbolContext(base, ("a.py",), (), ())).in_repository_at_base is False
    )


def test_only_lines_that_are_new_count_as_added(snapshot: Any) -> None:
    base = {b"a.py": b"one = 1\nwanted()\n"}
    moved = _context(snapshot, base, agent=[_written(b"a.py", b"wanted()\none = 1\n")])
    again = _context(snapshot, base, agent=[_written(b"a.py", b"wanted()\nwanted()\none = 1\n")])
    assert _complete("wanted", moved).in_agent_lines is False
    assert _complete("wanted", again).in_agent_lines is True


def test_golden_and_agent_definitions_are_told_apart_by_file(snapshot: Any) -> None:
    context = _context(
        snapshot,
        {b"a.py": b""},
        golden=[
            _written(b"a.py", b"def wanted(x):\n    pass\n"),
            _written(b"u.py", b"wanted(1)\n"),
        ],
        agent=[
            _written(b"lib/b.ts", b"export const wanted = 1;\n"),
            _written(b"c.py", b"from b import wanted\n"),
            _written(b"link.py", b"def wanted(): pass", 0o120000),
            Change(b"gone.py", None, None, 0o100644),
            Change(b"huge.py", 0o100644, None, None),
        ],
    )
    symptom = _complete("wanted", context)
    assert symptom.in_golden_patch is True
    assert symptom.in_agent_lines is True
    assert symptom.golden_defines_in == ("a.py",)
    assert symptom.agent_defines_in == ("lib/b.ts",)


def test_a_module_is_built_by_adding_its_file(snapshot: Any) -> None:
    context = _context(
        snapshot,
        {b"a.py": b""},
        golden=[_written(b"pkg/wanted.py", b"x = 1\n")],
        agent=[_written(b"a.py", b"from pkg.wanted import x\n")],
    )
    symptom = _complete("wanted", context)
    assert symptom.in_repository_at_base is False
    assert symptom.in_golden_patch is True
    assert symptom.golden_defines_in == ("pkg/wanted.py",)
    assert (symptom.in_agent_lines, symptom.agent_defines_in) == (True, ())


@pytest.mark.parametrize(
    ("symbol", "line", "path"),
    [
        ("github.com/a/b", b'import "github.com/a/b"', b"x.go"),
        ("com.acme.util", b"import com.acme.util.Text;", b"X.java"),
        ("com.acme.util", b"", b"src/com/acme/util/X.java"),
        ("@scope/pkg", b"import x from '@scope/pkg';", b"x.ts"),
        ("left-pad", b'require("left-pad")', b"x.js"),
        ("gr\u00f6\u00dfe", "gro\u0308\u00dfe = 1".encode(), b"x.py"),
    ],
)
def test_imports_and_normalised_names_are_found(
    snapshot: Any, symbol: str, line: bytes, path: bytes
) -> None:
    there = _complete(symbol, _context(snapshot, {b"a.py": b"", path: line}))
    absent = _complete(symbol, _context(snapshot, {b"a.py": b"", b"y": b"other"}))
    assert (there.in_repository_at_base, absent.in_repository_at_base) == (True, False)


def test_without_a_symbol_nothing_is_said(snapshot: Any) -> None:
    symptom = _complete(None, _context(snapshot, {b"a.py": b"x"}))
    assert symptom.in_required_files_at_base is None
    assert symptom.in_agent_lines is None


def test_symptoms_keep_their_order(snapshot: Any) -> None:
    raws = [
        RawSymptom("missing_symbol", "Python", "NameError", name, "tests", ("t",), "m")
        for name in ("zz", "aa", "zz")
    ]
    found = complete(raws, _context(snapshot, {b"a.py": b"aa\n"}))
    assert [(s.symbol, s.in_required_files_at_base) for s in found] == [
        ("zz", False),
        ("aa", True),
        ("zz", False),
    ]


@pytest.mark.parametrize(
    ("path", "line", "is_definition"),
    [
        ("a.py", "def f(x):", True),
        ("a.py", "    async def f(self):", True),
        ("a.py", "class f(Base):", True),
        ("a.py", "f = 1", True),
        ("a.py", "    self.f: int = 1", True),
        ("a.py", "    f: int", True),
        ("a.py", "import x as f", True),
        ("a.py", "from a import f", False),
        ("a.py", "f(x)", False),
        ("a.py", "x = f == 1", False),
        ("a.py", "    f=value,", False),
        ("a.py", "def ff(x):", False),
        ("a.py", "if f: pass", False),
        ("a.ts", "export async function f<T>(x: T) {", True),
        ("a.ts", "export interface f {", True),
        ("a.ts", "  private async f(x: number): Promise<void> {", True),
        ("a.ts", "  f(x: number): void;", True),
        ("a.ts", "  readonly f?: string;", True),
        ("a.js", "const { a, f } = make();", True),
        ("a.js", "exports.f = 1;", True),
        ("a.js", "export { g as f } from './g'", True),
        ("a.js", "  f: (x) => x,", True),
        ("a.js", "  static f = 1", True),
        ("a.js", "import { f } from './x';", False),
        ("a.js", "f(x);", False),
        ("a.js", "f('x', () => {", False),
        ("a.js", "  f: 1,", False),
        ("a.js", "x.f === 1", False),
        ("a.js", "const $f = 1;", False),
        ("a.rb", "def f(): pass", False),
        ("a.ts", "  constructor(private f: string) {}", True),
        ("a.ts", "export * as f from './f';", True),
        ("a.go", "func f(x int) error {", True),
        ("a.go", "func (t *T) f() {", True),
        ("a.go", "func f[T any](x T) {", True),
        ("a.go", "type f struct {", True),
        ("a.go", "var a, f = 1, 2", True),
        ("a.go", "\tf, err := make()", True),
        ("a.go", '\tf string `json:"f"`', True),
        ("a.go", "\tf(x int) error", True),
        ("a.go", "\tf = iota", True),
        ("a.go", "\tf(x)", False),
        ("a.go", "\tx.f = 1", False),
        ("a.go", "\treturn f", False),
        ("a.go", "\tif f == 1 {", False),
        ("a.go", "type ff struct {", False),
        ("a.rs", "pub(crate) async fn f<T>(x: T) {", True),
        ("a.rs", "    pub f: i32,", True),
        ("a.rs", "    f: Option<i32>,", True),
        ("a.rs", "    f { x: i32 },", True),
        ("a.rs", "macro_rules! f {", True),
        ("a.rs", "pub use crate::g as f;", True),
        ("a.rs", "let mut f = 1;", True),
        ("a.rs", "use crate::f;", False),
        ("a.rs", "    f: value,", False),
        ("a.rs", "    f(x);", False),
        ("a.rs", "x.f()", False),
        ("A.java", "public record f(int a) {", True),
        ("A.java", "    @Override public static <T> List<T> f(T a) {", True),
        ("A.java", "    private final Map<String, int[]> f = new HashMap<>();", True),
        ("A.java", "    protected f(int a) {", True),
        ("A.java", "    String f;", True),
        ("A.java", "    f(1),", True),
        ("A.java", "    return f;", False),
        ("A.java", "    f(1);", False),
        ("A.java", "    x.f = 1;", False),
        ("A.java", "import p.f;", False),
        ("A.java", "    new f(1);", False),
        ("README", "def f(): pass", False),
    ],
)
def test_what_defines_a_name(path: str, line: str, is_definition: bool) -> None:
    assert defines(path, [line], "f") is is_definition


def test_names_with_pattern_characters_are_taken_literally() -> None:
    assert defines("a.js", ["const $a = 1"], "$a")
    assert not defines("a.js", ["const xa = 1"], ".a")
