"""Large results in little memory, and directories of results."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nanobench.verify import results
from nanobench.verify.formats import documents, parse
from nanobench.verify.results import ParseError

MEGABYTE = 1 << 20

MEASURE = """
import re, sys
from collections import Counter
from pathlib import Path
from nanobench.verify.formats import parse
result = parse(sys.argv[1], Path(sys.argv[2]), "/ws")
counts = Counter(test.status for test in result.tests)
# Not ru_maxrss: Linux lets a child inherit that of the process that started it.
peak = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024
print(peak, counts["passed"], counts["failed"], len(result.suite_errors))
"""


def measured(format_name: str, path: Path) -> tuple[int, int, int, int]:
    """Peak memory in MiB, passed, failed, suite errors, of a process of its own."""
    command = [sys.executable, "-c", MEASURE, format_name, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    peak, passed, failed, errors = map(int, done.stdout.split())
    return peak, passed, failed, errors


def write_junit(path: Path, size: int) -> tuple[int, int]:
    """A JUnit file of this size: small cases, failures with long texts, much output."""
    line = "some output of a test, /ws/src/a.py, 0x7f1dd6844750\n"
    passed = failed = written = 0
    with path.open("w") as stream:
        stream.write('<testsuites><testsuite name="s">')
        while written < size:
            number = passed + failed
            body = ""
            if number % 10 == 0:
                failed += 1
                body = f'<failure message="m{number}" type="E">{line * 100}</failure>'
            else:
                passed += 1
            body += f"<system-out>{line * (number % 40)}</system-out>"
            written += stream.write(
                f'<testcase classname="c" name="t{number}" time="0.1">{body}</testcase>\n'
            )
        stream.write("</testsuite></testsuites>")
    return passed, failed


@pytest.mark.slow
def test_a_hundred_megabytes_of_junit_take_less_than_three_hundred_of_memory(
    tmp_path: Path,
) -> None:
    path = tmp_path / "big.xml"
    passed, failed = write_junit(path, 100 * MEGABYTE)
    peak, *counts = measured("junit", path)
    assert counts == [passed, failed, 0]
    assert peak < 300


@pytest.mark.parametrize("megabytes", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_output_of_one_test_is_dropped_as_it_is_read(tmp_path: Path, megabytes: int) -> None:
    path = tmp_path / "loud.xml"
    with path.open("w") as stream:
        stream.write('<testsuite><testcase classname="c" name="loud"><system-out>begin\n')
        for _ in range(megabytes):
            stream.write(("y" * 79 + "\n") * (MEGABYTE // 80))
        stream.write("</system-out><failure/></testcase></testsuite>")
    peak, *counts = measured("junit", path)
    assert counts == [0, 1, 0]
    assert peak < 150
    details = parse("junit", path, "/ws").tests[0].details
    assert details is not None
    assert details.startswith("begin")
    assert details.endswith("y" * 79)


def go_lines(tests: int) -> Iterator[str]:
    for number in range(tests):
        name = f'"Package":"m/p","Test":"Test{number}"'
        yield f'{{"Action":"run",{name}}}\n'
        for _ in range(50):
            yield f'{{"Action":"output",{name},"Output":"{"z" * 200}\\n"}}\n'
        yield f'{{"Action":"{"fail" if number % 2 else "pass"}",{name},"Elapsed":0.1}}\n'
    yield '{"Action":"fail","Package":"m/p"}\n'


@pytest.mark.slow
def test_fifty_megabytes_of_go_events_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    with path.open("w") as stream:
        stream.writelines(go_lines(4000))
    peak, *counts = measured("go-json", path)
    assert counts == [2000, 2000, 0]
    assert peak < 150


def test_ten_thousand_tests_are_all_told(tmp_path: Path) -> None:
    lines = [f"ok {n} - test {n}" for n in range(1, 10_001)]
    (tmp_path / "t.tap").write_text("\n".join(["1..10000", *lines]) + "\n")
    assert len(parse("tap", tmp_path / "t.tap", "/ws").tests) == 10_000
    cases = "".join(f'<testcase classname="c" name="t{n}"/>' for n in range(10_000))
    (tmp_path / "t.xml").write_text(f'<testsuite name="s">{cases}</testsuite>')
    assert len(parse("junit", tmp_path / "t.xml", "/ws").tests) == 10_000


def test_a_document_that_would_not_fit_in_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "SIZE_LIMIT", 100)
    (tmp_path / "big.json").write_text('{"testResults": [' + " " * 100 + "]}")
    with pytest.raises(ParseError, match="more than 100 bytes"):
        parse("jest-json", tmp_path / "big.json", "/ws")


CASE = '<testsuite name="a.B"><testcase classname="a.B" name="{}"/></testsuite>'


def test_a_directory_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    directory = tmp_path / "results"
    for place, name in (("z", "same"), ("a", "same"), ("a/deep", "other")):
        (directory / place).mkdir(parents=True, exist_ok=True)
        (directory / place / f"TEST-{name}.xml").write_text(CASE.format(name))
    (directory / "notes.md").write_text("no result")
    found = parse("junit", directory, "/ws")
    assert [test.id for test in found.tests] == ["a.B::same", "a.B::other", "a.B::same #2"]


def test_links_in_a_directory_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text(CASE.format("secret"))
    directory = tmp_path / "results"
    directory.mkdir()
    (directory / "TEST-a.xml").symlink_to(tmp_path / "secret.xml")
    with pytest.raises(ParseError, match="cannot be opened"):
        parse("junit", directory, "/ws")
    (directory / "TEST-a.xml").unlink()
    (directory / "more").symlink_to(tmp_path, target_is_directory=True)
    (directory / "TEST-b.xml").write_text(CASE.format("own"))
    assert [test.id for test in parse("junit", directory, "/ws").tests] == ["a.B::own"]


def test_more_tests_than_memory_holds_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "TESTS_LIMIT", 3)
    (tmp_path / "t.tap").write_text("ok\nok\nok\n1..3\n")
    assert len(parse("tap", tmp_path / "t.tap", "/ws").tests) == 3
    (tmp_path / "t.tap").write_text("ok\nok\nok\nok\n1..4\n")
    with pytest.raises(ParseError, match="more than 3 tests"):
        parse("tap", tmp_path / "t.tap", "/ws")
    cases = '<testcase name="t"/>' * 9
    (tmp_path / "t.xml").write_text(f"<testsuite>{cases}</testsuite>")
    with pytest.raises(ParseError, match="more than 3 tests"):
        parse("junit", tmp_path / "t.xml", "/ws")
