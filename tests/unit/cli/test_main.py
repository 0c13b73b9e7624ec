"""The root command: its table, what it loads, and how every error becomes text and a code."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import click
import pytest

from nanobench import errors
from nanobench.cli import main as cli
from nanobench.cli.main import COMMANDS, LazyGroup, root

CHECKOUT = Path(__file__).parents[3]
HEAVY = [
    *("pydantic", "jsonschema", "aiohttp", "asyncio", "rich", "psutil", "filelock"),
    *("scipy", "docker", "github", "matplotlib"),
]


def test_the_table_agrees_with_the_commands_themselves() -> None:
    context = click.Context(root)
    for name, (_, short_help) in COMMANDS.items():
        command = root.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str(200) == short_help


def test_the_readme_lists_the_same_commands() -> None:
    text = (CHECKOUT / "README.md").read_text()
    table = text.split("<!-- commands: begin -->")[1].split("<!-- commands: end -->")[0]
    rows = dict(re.findall(r"^\| `nanobench (\S+)` \| (.*) \|$", table, re.MULTILINE))
    assert rows == {name: short_help for name, (_, short_help) in COMMANDS.items()}


def test_every_command_documents_its_exit_codes() -> None:
    def leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group):
            yield path, command
            return
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, f"{path} {name}")

    silent = [path for path, found in leaves(root, "") if "Exit codes: 0" not in (found.help or "")]
    assert silent == []


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], ["nonsense"], []])
def test_the_root_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from nanobench.cli.main import root\n"
        "try:\n"
        f"    root({arguments!r}, standalone_mode=False)\n"
        "except Exception: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_can_be_read(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nanobench", name, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"nanobench {name}" in done.stdout.splitlines()[0]


class Failing(LazyGroup):
    """A root whose only command raises."""

    error: BaseException

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        def fail() -> NoReturn:
            raise self.error

        return click.Command("fail", callback=fail)


def _ended(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    failing = Failing("nanobench")
    failing.error = error
    monkeypatch.setattr(cli, "root", failing)
    monkeypatch.setattr(sys, "argv", ["nanobench", "fail"])
    code = cli._run()
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return code, err


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.GateError, 1),
        (errors.UsageError, 2),
        (errors.InvalidInputError, 3),
        (errors.ContractError, 3),
        (errors.HashMismatchError, 3),
        (errors.RepositoryError, 4),
        (errors.EnvironmentSetupError, 4),
        (errors.StateError, 4),
        (errors.InterruptedRunError, 130),
    ],
)
def test_an_error_says_what_where_and_what_next(
    kind: type[errors.NanobenchError],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = kind("it broke", where="here", remedy="mend it")
    assert _ended(error, monkeypatch, capsys) == (
        code,
        "error: it broke\n  where: here\n  next:  mend it\n",
    )


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (EOFError(), 130, "interrupted"),
        (click.UsageError("no such thing"), 2, "no such thing"),
        (click.BadParameter("not a number"), 2, "not a number"),
        (OSError(28, "No space left on device", "/full/disk"), 4, "where: /full/disk"),
        (OSError(28, "No space left on device", b"/full/disk"), 4, "where: /full/disk"),
        (OSError(5, "Input/output error"), 4, "Input/output error"),
        (BrokenPipeError(32, "Broken pipe"), 4, ""),
        (KeyError("name"), 4, "internal error: KeyError: 'name'"),
        (RecursionError("too deep"), 4, "NANOBENCH_TRACEBACK=1"),
        (ImportError("no module"), 4, "internal error: ImportError"),
        (MemoryError(), 4, "internal error: MemoryError"),
    ],
    ids=repr,
)
def test_whatever_is_raised_there_is_no_traceback(
    error: BaseException,
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended, err = _ended(error, monkeypatch, capsys)
    assert (ended, told in err) == (code, True), err


def test_a_defect_shows_its_traceback_when_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NANOBENCH_TRACEBACK", "1")
    with pytest.raises(AssertionError):
        _ended(KeyError("name"), monkeypatch, capsys)


SLEEPER = """
import sys, time
from nanobench.cli import main as cli
import click

@click.command()
def sleeper():
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        print("tearing", flush=True)
        sys.stdin.readline()  # until the test has sent its other signals
        print("torn down", flush=True)

cli.root = sleeper
cli.main()
"""


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_impatience_does_not_break_the_teardown(first: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(first)
        assert process.stdout.readline() == "tearing\n"
        for again in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            process.send_signal(again)
        out, err = process.communicate("\n", timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "torn down\n", "interrupted")


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    code = (
        "import signal\n"
        "from nanobench.cli import main as cli\n"
        "import click\n"
        "cli.root = click.Command('x', callback=lambda: print("
        "signal.getsignal(signal.SIGHUP) is signal.SIG_IGN))\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "True\n"


def test_a_reader_that_went_away_is_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -m nanobench --help | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 4)  # it may have been read before
    assert done.stderr == ""


def test_a_name_that_is_no_text_can_be_printed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nanobench", "schema", "export", "--out", tmp_path / "a\udcff"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"a\udcff" in done.stdout
