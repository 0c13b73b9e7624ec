"""JUnit XML in the dialects of pytest and of `node --test`."""

from pathlib import Path

import pytest

from nanobench.verify.formats import parse
from nanobench.verify.results import ParsedResult, ParseError


def _parse(tmp_path: Path, text: str | bytes, root: str = "/ws") -> ParsedResult:
    path = tmp_path / "result.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return parse("junit", path, root)


def _pytest(*cases: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">'
        '<testsuite name="pytest" timestamp="2026-01-01T00:00:00" hostname="h">'
        + "".join(cases)
        + "</testsuite></testsuites>"
    )


def _node(*cases: str) -> str:
    return '<?xml version="1.0" encoding="utf-8"?>\n<testsuites>' + "".join(cases) + "</testsuites>"


def test_pytest_ids_statuses_and_times(tmp_path: Path) -> None:
    result = _parse(
        tmp_path,
        _pytest(
            '<testcase classname="t.test_a" name="test_ok[a b]" time="0.25" />',
            '<testcase classname="t.test_a.TestC" name="test_x" time="nonsense">'
            '<failure message="TypeError: bad">E   TypeError: bad\n\nt/test_a.py:6: TypeError'
            "</failure></testcase>",
            '<testcase classname="t.test_a" name="test_s" time="0">'
            '<skipped type="pytest.skip" message="no">x</skipped></testcase>',
        ),
    )
    assert [(t.id, t.status, t.duration_seconds) for t in result.tests] == [
        ("t.test_a::test_ok[a b]", "passed", 0.25),
        ("t.test_a.TestC::test_x", "failed", None),
        ("t.test_a::test_s", "skipped", 0.0),
    ]
    assert result.tests[1].error_type == "TypeError"
    assert result.tests[1].message == "TypeError: bad"


def test_a_setup_error_names_the_exception_inside(tmp_path: Path) -> None:
    [test] = _parse(
        tmp_path,
        _pytest(
            '<testcase classname="t" name="x"><error message="failed on setup with '
            '&quot;RuntimeError: down&quot;">E   RuntimeError: down\n\nt.py:8: RuntimeError'
            "</error></testcase>"
        ),
    ).tests
    assert (test.status, test.error_type, test.message) == (
        "error",
        "RuntimeError",
        "RuntimeError: down",
    )


def test_failure_and_teardown_error_of_one_test_are_one_outcome(tmp_path: Path) -> None:
    result = _parse(
        tmp_path,
        _pytest(
            '<testcase classname="t" name="both"><failure message="assert 0">t.py:1: '
            "AssertionError</failure></testcase>",
            '<testcase classname="t" name="both"><error message="failed on teardown with '
            '&quot;ValueError: late&quot;">x</error></testcase>',
        ),
    )
    assert [(t.id, t.status) for t in result.tests] == [("t::both", "failed")]


def test_duplicate_ids_are_kept_apart(tmp_path: Path) -> None:
    case = '<testcase classname="t" name="same" />'
    assert [t.id for t in _parse(tmp_path, _pytest(case, case, case)).tests] == [
        "t::same",
        "t::same #2",
        "t::same #3",
    ]


def test_a_collection_error_belongs_to_no_test_and_keeps_its_exception(tmp_path: Path) -> None:
    result = _parse(
        tmp_path,
        _pytest(
            '<testcase classname="" name="t.test_b"><error message="collection failure">'
            "ImportError while importing test module '/ws/t/test_b.py'.\n"
            "E   ImportError: cannot import name 'gone' from 'pkg' (/ws/pkg/__init__.py)"
            "</error></testcase>",
        ),
    )
    [error] = result.suite_errors
    assert result.tests == ()
    assert (error.file, error.type) == ("t.test_b", "ImportError")
    assert error.message == "ImportError: cannot import name 'gone' from 'pkg' (pkg/__init__.py)"
    assert error.concerns("t.test_b::test_x")
    assert error.concerns("t.test_b.TestC::test_x")
    assert not error.concerns("t.test_bc::test_x")
    assert result.errors == (f"t.test_b: {error.message}",)


def test_a_module_that_skips_itself_is_counted_as_pytest_does(tmp_path: Path) -> None:
    skipped = '<testcase classname="{}" name="{}"><skipped message="{}">x</skipped></testcase>'
    result = _parse(
        tmp_path,
        _pytest(
            skipped.format("", "t.test_d", "collection skipped"),
            skipped.format("", "no class name", "why"),
        ),
    )
    assert [(test.id, test.status) for test in result.tests] == [
        ("t.test_d", "skipped"),
        ("pytest::no class name", "skipped"),
    ]
    assert result.errors == ()


@pytest.mark.parametrize("file_attribute", [' file="/ws/test/a.mjs"', ""])
def test_node_ids_name_suites_and_the_file_where_node_tells_it(
    tmp_path: Path, file_attribute: str
) -> None:
    result = _parse(
        tmp_path,
        _node(
            f'<testcase name="top" time="0.1" classname="test"{file_attribute}/>',
            '<testsuite name="outer" disabled="0"><testsuite name="in" disabled="0">',
            f'<testcase name="a &amp;quot;q&amp;quot;" classname="test"{file_attribute}/>',
            "</testsuite></testsuite>",
        ),
    )
    prefix = "test/a.mjs::" if file_attribute else ""
    assert [t.id for t in result.tests] == [f"{prefix}top", f'{prefix}outer > in > a "q"']


def test_node_failures_name_the_exception_behind_the_wrapper(tmp_path: Path) -> None:
    result = _parse(
        tmp_path,
        _node(
            '<testcase name="f" classname="test" failure="{}.x is not a function">'
            '<failure type="testCodeFailure" message="{}.x is not a function">\n'
            "[Error [ERR_TEST_FAILURE]: {}.x is not a function] {\n"
            "  cause: TypeError [Error]: {}.x is not a function\n"
            "      at TestContext.&lt;anonymous> (file:///ws/test/a.mjs:6:88)\n}"
            "</failure></testcase>",
            '<testcase name="todo" classname="test"><skipped type="todo" message="true"/>'
            '<failure type="testCodeFailure" message="x">y</failure></testcase>',
            '<testcase name="never" classname="test"><failure type="cancelledByParent" '
            'message="cancelled">z</failure></testcase>',
        ),
    )
    failed, todo, never = result.tests
    assert failed.error_type == "TypeError"
    assert failed.message == "TypeError: {}.x is not a function"
    assert "(test/a.mjs:6:88)" in (failed.details or "")
    assert (todo.status, never.status) == ("skipped", "error")


def test_a_node_file_that_died_is_a_suite_error_and_an_empty_one_is_nothing(
    tmp_path: Path,
) -> None:
    result = _parse(
        tmp_path,
        _node(
            '<testcase name="test/b.mjs" classname="test" file="/ws/test/b.mjs">'
            '<failure type="testCodeFailure" message="test failed">[Error: test failed] '
            "{ exitCode: 1, signal: null }</failure></testcase>",
            '<testcase name="test/d.mjs" classname="test" file="/ws/test/d.mjs"/>',
            '<testcase name="/ws/test/e.mjs" classname="test"/>',  # Node before 24
            '<testcase name="/api/e.mjs" classname="test"/>',
        ),
    )
    assert [test.id for test in result.tests] == ["/api/e.mjs"]
    assert [error.file for error in result.suite_errors] == ["test/b.mjs"]


def test_control_characters_that_node_leaves_in_do_not_spoil_the_file(tmp_path: Path) -> None:
    [test] = _parse(tmp_path, _node('<testcase name="a\x1bb" classname="test"/>')).tests
    assert test.id == "a?b"


@pytest.mark.parametrize(
    ("text", "truncated"),
    [
        (_pytest()[:-20], True),
        (_pytest('<testcase classname="t" name="x" />')[:150], True),
        ("<testsuites>", True),
        ("", True),
        ("not xml", False),
        ("<a></b>", False),
        ('<?xml version="1.0" encoding="utf-8"?><a>\xff</a>'.encode("latin-1"), False),
        ('<?xml version="1.0" encoding="no-such"?><a/>', False),
        ("<a>" * 200, False),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, text: str | bytes, truncated: bool) -> None:
    with pytest.raises(ParseError) as caught:
        _parse(tmp_path, text)
    assert caught.value.truncated == truncated


def test_an_entity_bomb_is_refused_before_it_expands(tmp_path: Path) -> None:
    entities = '<!ENTITY a0 "ha">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 30)
    )
    with pytest.raises(ParseError, match="document type"):
        _parse(tmp_path, f"<!DOCTYPE x [{entities}]><testsuites>&a29;</testsuites>")


def test_texts_are_bounded_and_free_of_the_workspace_path(tmp_path: Path) -> None:
    long = "/ws/a.py " + "x" * 50_000 + " the end"
    [test] = _parse(
        tmp_path,
        _pytest(
            f'<testcase classname="t" name="x"><failure message="{long}">{long}</failure>'
            "</testcase>"
        ),
    ).tests
    assert test.message is not None
    assert test.details is not None
    assert len(test.message) <= 2000
    assert len(test.details) <= 4000
    assert test.details.startswith("a.py ")
    assert test.details.endswith("the end")


def test_texts_of_two_equal_runs_are_equal(tmp_path: Path) -> None:
    def details(address: str) -> str | None:
        case = (
            '<testcase classname="t" name="x"><failure message="m">'
            f"self = &lt;C object at {address}&gt;</failure></testcase>"
        )
        return _parse(tmp_path, _pytest(case)).tests[0].details

    assert details("0x7f1dd6844750") == details("0x7fffe0c0ffee") == "self = <C object at 0x...>"
