"""`docs/configuration.md` names the exit codes and the variables that the code knows."""

import re
from pathlib import Path

from nanobench import errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "configuration.md").read_text()


def test_the_exit_codes_are_those_of_the_code() -> None:
    table = PAGE.split("## Exit codes")[1]
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    known = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert told == known


def test_every_variable_of_ours_and_of_nanocoders_that_is_read_is_told_and_no_other() -> None:
    read = set()
    for path in (ROOT / "nanobench").rglob("*.py"):
        pattern = r"(?:environ(?:\.get\(|\[)|envvar=)\s*\"((?:NANO|XDG_|PYENV|HOME)\w*)\""
        read |= set(re.findall(pattern, path.read_text()))
    table = PAGE.split("## Environment variables")[1].split("##")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == read
