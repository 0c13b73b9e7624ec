"""Where a compiler's errors begin and end in what a build wrote."""

import pytest

from nanobench.scoring.diagnostics import LIMIT, diagnostics

JAVA = """[INFO] Compiling 2 source files
[ERROR] COMPILATION ERROR :
[ERROR] /w/A.java:[4,12] cannot find symbol
[ERROR]   symbol:   method nope()
[ERROR]   location: class A
[INFO] 1 error
A.java:5: error: incompatible types: int cannot be converted to String
  String s = 1;
             ^
1 error
"""


def read(language, text):
    return [(found.raised.name, found.raised.text) for found in diagnostics(language, text)]


def test_lines_that_belong_to_an_error_are_kept_with_it():
    assert read("java", JAVA) == [
        ("error", "cannot find symbol\nsymbol:   method nope()\nlocation: class A"),
        ("error", "incompatible types: int cannot be converted to String\nString s = 1;\n^"),
    ]


@pytest.mark.parametrize(
    ("language", "line", "error"),
    [
        ("TypeScript", "src/a.ts(1,7): error TS2304: Cannot find", ("TS2304", "Cannot find")),
        ("JavaScript", "src/a.ts:1:7 - error TS2304: Cannot find", ("TS2304", "Cannot find")),
        ("vue", "error TS2688: Cannot find", ("TS2688", "Cannot find")),
        (
            "typescript",
            "\x1b[96ma.ts\x1b[0m:1:7 - \x1b[91merror\x1b[0m\x1b[90m TS2304: \x1b[0mCannot",
            ("TS2304", "Cannot"),
        ),
        ("go", "./a.go:5:2: undefined: x", ("error", "undefined: x")),
        ("Go", "vet: ./a.go:5:2: undefined: x", ("error", "undefined: x")),
        ("rust", "error[E0425]: cannot find value `x`", ("E0425", "cannot find value `x`")),
        ("rust", "src/lib.rs:2:5: error[E0425]: cannot", ("E0425", "cannot")),
        ("rust", "error: cannot find macro `x`", ("error", "cannot find macro `x`")),
    ],
)
def test_how_an_error_begins(language, line, error):
    assert read(language, f"noise\n{line}\n") == [error]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("go", "    a_test.go:5: undefined: x"),  # what a test logs
        ("go", "panic: undefined: x"),
        ("rust", "warning: unused variable: `x`"),
        ("rust", "thread 'a' panicked at src/lib.rs:1:1:"),
        ("java", 'Exception in thread "main" java.lang.Error: A.java'),
        ("java", "[ERROR] Failed to execute goal"),
        ("typescript", "expected error TS to be told"),
        ("python", "error[E0425]: cannot find value `x`"),
        ("cobol", "error[E0425]: cannot find value `x`"),
    ],
)
def test_what_is_no_error_of_the_compiler(language, line):
    assert read(language, line) == []


def test_an_error_that_is_told_twice_is_one():
    assert len(read("go", "./a.go:5:2: undefined: x\n./b.go:1:1: undefined: x\n")) == 1


def test_very_many_errors_and_very_long_lines_are_bounded():
    text = "".join(f"./a.go:{n}:1: undefined: x{n}\n" for n in range(LIMIT + 50))
    assert len(read("go", text)) == LIMIT
    for language in ("go", "rust", "java", "typescript"):
        assert read(language, "a" * 1_000_000 + "\n" + "\t" * 1_000_000) == []


def test_an_error_that_follows_another_at_once_is_one_of_its_own():
    text = (
        "src/A.java:3: error: cannot find symbol\n  foo();\n  ^\n"
        "src/B.java:4: error: incompatible types: String cannot be converted to int\n"
    )
    found = [one.raised.text.partition("\n")[0] for one in diagnostics("Java", text)]
    assert found == [
        "cannot find symbol",
        "incompatible types: String cannot be converted to int",
    ]
