"""Outputs of equal runs, made equal: samples are what the runners really print."""

import pytest

from nanobench.verify.masking import without_times

PYTEST = (
    "============================= test session starts ==============================\n"
    "tests/test_units.py ..F                                                  [100%]\n"
    "E       AssertionError: assert '30s' == '30 s'\n"
    "E        +  where <tempo.Unit object at {address}> = unit()\n"
    "{bar} 1 failed, 2 passed{took} {bar}\n"
)
QUIET = "F..                [100%]\n1 failed, 2 passed, 1 warning{took}\n"
NODE = (
    "▶ parsing\n"
    "  ✔ reads 30s ({took}ms)\n"
    "✖ fails after 5ms ({took}ms)\n"
    "ℹ duration_ms {took}\n"  # noqa: RUF001
    "# duration_ms {took}\n"
)
VITEST = (
    " RUN  v3.2.4 /ws\n"
    " ✓ src/a.test.ts (3 tests){slow}\n"
    "   ✓ waits for 20ms{slow}\n"
    "   Start at  {clock}\n"
    "   Duration  {took}s (transform {took}ms, setup 0ms, collect {took}ms)\n"
)
JEST = (
    "  ✓ parses{jest}\n"
    "    expect(received).toBe('90s')\n"
    "Tests:       1 failed, 1 total\n"
    "Time:        {took} s{estimate}\n"
)


@pytest.mark.parametrize(
    ("sample", "once", "again"),
    [
        (
            PYTEST,
            {"took": " in 0.05s", "bar": "=" * 26, "address": "0x7f00deadbeef"},
            {"took": " in 83.20s (0:01:23)", "bar": "=" * 20, "address": "0x7fffdeadbeef"},
        ),
        (QUIET, {"took": " in 0.04s"}, {"took": " in 12.30s"}),
        (NODE, {"took": "0.664081"}, {"took": "1234.5"}),
        (
            VITEST,
            {"took": "1.20", "slow": " 12ms", "clock": "09:59:59"},
            {"took": "93", "slow": "  301ms", "clock": "23:00:01"},
        ),
        (
            JEST,
            {"took": "0.5", "jest": " (5 ms)", "estimate": ""},
            {"took": "12.345", "jest": "", "estimate": ", estimated 2 s"},
        ),
    ],
    ids=["pytest", "pytest -q", "node", "vitest", "jest"],
)
def test_runs_of_different_speed_read_alike(
    sample: str, once: dict[str, str], again: dict[str, str]
) -> None:
    assert sample.format(**once) != sample.format(**again)
    assert without_times(sample.format(**once)) == without_times(sample.format(**again))


@pytest.mark.parametrize(
    "line",
    [
        "E       AssertionError: assert '30s' == '1m 30s'",
        "expected 12ms to be 13ms",
        "  + actual: 'took 5 ms'",
        "FAILED tests/test_a.py::test_in_5s - timed out in 5 seconds of waiting",
        "✖ fails after 5ms of nothing",
        "at line 12:30",
        "0xff is 255",
    ],
)
def test_times_that_a_test_speaks_of_stay(line: str) -> None:
    assert without_times(line) == line


def test_the_directory_of_a_run_is_no_difference() -> None:
    said = "generated xml file: /home/a/.cache/nanobench/runs/{}/verify/run/results"
    assert without_times(said.format("29178602")) == without_times(said.format("800ed043"))
    kept = "/data/runs/2917860/x /runs/29178602x/y"
    assert without_times(kept) == kept


@pytest.mark.parametrize("part", ["=", " ", "x ", "\t ", "passed ", " (", "1:11:", "1", "✔ "])
def test_the_work_stays_linear_in_the_text(part: str) -> None:
    text = "✔ " + part * 100_000 + "."
    assert without_times(text) == text
