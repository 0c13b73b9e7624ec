"""TAP, `go test -json`, `cargo test`, libtest's JSON and Mocha's JSON beyond what is captured."""

import json
from pathlib import Path
from typing import Any

import pytest

from nanobench.verify.formats import parse
from nanobench.verify.results import ParsedResult, ParseError


def read(tmp_path: Path, format_name: str, text: str | bytes) -> ParsedResult:
    path = tmp_path / "result"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return parse(format_name, path, "/ws")


def statuses(result: ParsedResult) -> dict[str, str]:
    return {test.id: test.status for test in result.tests}


def messages(result: ParsedResult) -> list[str]:
    return [error.message for error in result.suite_errors]


TAP14 = """TAP version 14
# Subtest: before
    ok 1 - child # time=3ms
    1..1
ok 1 - before
not ok 2 - after {
    # Subtest: inner
        not ok 1 - deep \\# 1
        1..1
    not ok 1 - inner
    1..1
}
pragma +strict
ok 3 - skipped \\\\ # SKIP no network
not ok - unnumbered # TODO later
not ok 5 - planned wrongly
    ok 1 - one
    1..2
not ok 6 - planned wrongly
1..6
"""


def test_tap_14_has_subtests_before_and_in_braces(tmp_path: Path) -> None:
    result = read(tmp_path, "tap", TAP14)
    assert statuses(result) == {
        "before > child # time=3ms": "passed",
        "after > inner > deep # 1": "failed",
        "skipped \\": "skipped",
        "unnumbered": "skipped",
        "planned wrongly": "failed",
        "planned wrongly > one": "passed",
        "planned wrongly #2": "failed",
    }
    assert messages(result) == ["planned wrongly: the TAP plans 2 tests and tells 1"]


def test_tap_diagnostics_give_type_message_and_time(tmp_path: Path) -> None:
    text = (
        "1..2\nnot ok 1 - a\n  ---\n  duration_ms: 1500\n  name: 'RangeError'\n"
        "  error: |-\n    too far\n    by one\n  ...\nok 2 - b\n  ---\n  duration_ms: x\n  ...\n"
    )
    first, second = read(tmp_path, "tap", text).tests
    assert (first.duration_seconds, first.error_type) == (1.5, "RangeError")
    assert first.message == "RangeError: too far\nby one"
    assert (second.duration_seconds, second.status) == (None, "passed")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ok 1 - a\n", "the TAP has no plan: it ends early"),
        ("1..3\nok 1 - a\n", "the TAP plans 3 tests and tells 1"),
        ("1..1\nok 1 - a\nok 2 - b\n", "the TAP plans 1 tests and tells 2"),
        ("ok 1 - a\nBail out!\n", "Bail out! no reason told"),
        ("    ok 1 - orphan\n", "the TAP has no plan: it ends early"),
    ],
)
def test_tap_that_is_not_whole_is_a_suite_error(tmp_path: Path, text: str, said: str) -> None:
    result = read(tmp_path, "tap", text)
    assert messages(result) == [said]
    assert result.tests


def test_tap_without_tests_on_purpose_is_no_error(tmp_path: Path) -> None:
    assert read(tmp_path, "tap", "1..0 # SKIP not here\n") == ParsedResult((), ())


def test_tap_names_no_path_of_this_machine(tmp_path: Path) -> None:
    text = "1..2\nok 1 - /ws/empty.test.mjs\nok 2 - /elsewhere\n"
    assert list(statuses(read(tmp_path, "tap", text))) == ["empty.test.mjs", "/elsewhere"]


def test_tap_nested_too_deep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="nests"):
        read(tmp_path, "tap", " " * 4000 + "ok 1\n")


@pytest.mark.parametrize("name", ["tap", "go-json", "cargo-text", "libtest-json"])
def test_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParseError, match="holds no"):
        read(tmp_path, name, "hello\n")


@pytest.mark.parametrize("name", ["tap", "go-json", "cargo-text", "libtest-json"])
def test_another_encoding_is_refused_by_name(tmp_path: Path, name: str) -> None:
    for encoding in ("utf-16", "utf-16-be", "utf-32"):
        with pytest.raises(ParseError, match="UTF-8"):
            read(tmp_path, name, 'TAP version 13\n{"Action": 1}\n'.encode(encoding))


def go(*events: dict[str, Any] | str) -> str:
    lines = (e if isinstance(e, str) else json.dumps({"Package": "m/p", **e}) for e in events)
    return "\n".join(lines) + "\n"


def test_go_runs_a_test_twice_with_count(tmp_path: Path) -> None:
    events = []
    for ending in ("pass", "fail"):
        events += [{"Action": "run", "Test": "TestA"}, {"Action": ending, "Test": "TestA"}]
    result = read(tmp_path, "go-json", go(*events, {"Action": "fail"}))
    assert statuses(result) == {"m/p::TestA": "passed", "m/p::TestA #2": "failed"}
    assert result.suite_errors == ()


def test_go_before_1_24_prints_a_failed_build_between_its_events(tmp_path: Path) -> None:
    text = go(
        "# m/other",
        "other/a.go:1:1: undefined: Elsewhere",
        "# m/p [m/p.test]",
        "./p_test.go:6:2: undefined: Missing",
        {"Action": "start"},
        {"Action": "output", "Output": "FAIL\tm/p [build failed]\n"},
        {"Action": "fail"},
    )
    [error] = read(tmp_path, "go-json", text).suite_errors
    assert (error.file, error.type) == ("m/p", "CompileError")
    assert error.message == "./p_test.go:6:2: undefined: Missing"


def test_go_that_was_killed_leaves_tests_without_an_end(tmp_path: Path) -> None:
    text = go({"Action": "run", "Test": "TestA"}) + '{"Action":"out'
    result = read(tmp_path, "go-json", text)
    assert statuses(result) == {"m/p::TestA": "error"}
    assert messages(result) == ["the results of the package end early"]


def test_packages_of_go_that_run_side_by_side_are_told_in_order(tmp_path: Path) -> None:
    def package(name: str) -> list[dict[str, Any]]:
        return [
            {"Action": "run", "Package": name, "Test": "T"},
            {"Action": "pass", "Package": name, "Test": "T"},
            {"Action": "pass", "Package": name},
        ]

    one, two = package("m/a"), package("m/b")
    mixed = [event for pair in zip(two, one, strict=True) for event in pair]
    assert read(tmp_path, "go-json", go(*one, *two)) == read(tmp_path, "go-json", go(*mixed))


def test_values_of_wrong_types_in_events_do_no_harm(tmp_path: Path) -> None:
    strange = {"Action": ["run"], "Package": 3, "Test": {}, "Output": None, "Elapsed": "x"}
    text = json.dumps(strange) + "\n[1]\n{}\n" + go({"Action": "pass"})
    assert read(tmp_path, "go-json", text) == ParsedResult((), ())


CARGO = """     Running unittests src/lib.rs (target/debug/deps/demo-0123456789abcdef)

running 3 tests
test a ... ok
test b ... printed
FAILED
test c ... ignored, slow

failures:

---- b stdout ----
running 1 test
test nested ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out

failures:
    b

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out

"""


def test_cargo_without_capture_and_with_another_cargo_in_its_output(tmp_path: Path) -> None:
    result = read(tmp_path, "cargo-text", CARGO)
    place = "demo/src/lib.rs::"
    assert statuses(result) == {
        f"{place}a": "passed",
        f"{place}b": "failed",
        f"{place}c": "skipped",
    }
    assert result.suite_errors == ()
    assert "nested" in (result.tests[1].details or "")


def test_cargo_whose_numbers_do_not_add_up_is_a_suite_error(tmp_path: Path) -> None:
    text = CARGO.replace("test a ... ok\n", "").partition("failures:")[0]
    text += "test result: ok. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out\n"
    result = read(tmp_path, "cargo-text", text)
    assert messages(result) == [
        "cargo counts (1, 1, 1) passed, failed, ignored, and tells (0, 1, 1)"
    ]


def test_cargo_in_colours_and_with_other_names_of_programs(tmp_path: Path) -> None:
    text = (
        "\x1b[32m     Running\x1b[0m target/debug/deps/old-0123456789abcdef\n"
        "running 1 test\ntest x ... \x1b[32mok\x1b[0m\n"
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
        "     Running tests/it.rs (target/x86_64/debug/deps/it-0123456789abcdef.exe)\n"
        "running 1 test\ntest bench_it ... bench:  12 ns/iter (+/- 1)\n"
        "test result: ok. 0 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out\n"
    )
    result = read(tmp_path, "cargo-text", text)
    assert statuses(result) == {"old::x": "passed", "it/tests/it.rs::bench_it": "passed"}
    assert result.suite_errors == ()


def test_the_number_of_a_thread_is_not_kept(tmp_path: Path) -> None:
    def message(number: int) -> ParsedResult:
        text = CARGO.replace(
            "running 1 test\n", f"thread 'b' ({number}) panicked at a.rs:1:2:\nbad\n"
        )
        return read(tmp_path, "cargo-text", text)

    assert message(17) == message(18)
    assert (message(17).tests[1].error_type, message(17).tests[1].message) == ("panic", "bad")


def test_libtest_json_is_named_by_the_lines_of_cargo(tmp_path: Path) -> None:
    text = (
        "     Running tests/it.rs (target/debug/deps/it-0123456789abcdef)\n"
        '{"type":"suite","event":"started","test_count":2}\n'
        '{"type":"test","event":"started","name":"a"}\n'
        '{"type":"test","event":"ok","name":"a","exec_time":0.5}\n'
        '{"type":"test","event":"started","name":"b"}\n'
    )
    result = read(tmp_path, "libtest-json", text)
    assert statuses(result) == {"it/tests/it.rs::a": "passed"}
    assert result.tests[0].duration_seconds == 0.5
    [error] = result.suite_errors
    assert error.message == "the test program ended early while it ran b"
    assert error.concerns("it/tests/it.rs::b")


def test_mocha_tells_states_by_its_lists(tmp_path: Path) -> None:
    def entry(**fields: Any) -> dict[str, Any]:
        return {"title": "same", "fullTitle": "same", "file": "/ws/t.js", "err": {}, **fields}

    pending, failed, passed = entry(), entry(err={"message": "m"}), entry(duration=1500)
    document = {
        "tests": [pending, failed, passed, 3],
        "pending": [pending],
        "failures": [failed, None],
        "passes": [passed],
    }
    result = read(tmp_path, "mocha-json", json.dumps(document))
    assert statuses(result) == {
        "t.js::same": "skipped",
        "t.js::same #2": "failed",
        "t.js::same #3": "passed",
    }
    assert result.tests[2].duration_seconds == 1.5


@pytest.mark.parametrize(
    ("text", "truncated"), [('{"tests": [', True), ("{}", False), ('{"tests": 3}', False)]
)
def test_damaged_mocha_json_is_refused(tmp_path: Path, text: str, truncated: bool) -> None:
    with pytest.raises(ParseError) as caught:
        read(tmp_path, "mocha-json", text)
    assert caught.value.truncated == truncated
