"""The command line's root: lazy commands, one place where errors become text and exit codes."""

import importlib
import io
import os
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

import click

from nanobench import __version__
from nanobench.errors import (
    EXIT_INFRASTRUCTURE,
    EXIT_INTERRUPTED,
    InfrastructureError,
    NanobenchError,
)

# Plug-ins of other packages have no place in a benchmark; looking for them takes 10 ms.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# name -> module and attribute, short help. The modules are imported only when called.
COMMANDS: dict[str, tuple[str, str]] = {
    "action": ("nanobench.cli.action:action", "Do what the inputs of the GitHub action say."),
    "audit": ("nanobench.cli.audit:audit", "Let people check labels, blinded."),
    "baseline": (
        "nanobench.cli.baseline:baseline",
        "Keep results to compare with, and find them again.",
    ),
    "bench": ("nanobench.cli.bench:bench", "Plan, run and report on one machine."),
    "calibrate": (
        "nanobench.cli.calibrate:calibrate",
        "Check that known causes get their known labels.",
    ),
    "compare": ("nanobench.cli.compare:compare", "Say whether a result is better or worse."),
    "contract": ("nanobench.cli.contract:contract", "Check the Nanocoder report contract."),
    "dataset": ("nanobench.cli.dataset:dataset", "List the dataset, look after it."),
    "demo": ("nanobench.cli.demo:demo", "Run the sample task with the scripted models."),
    "doctor": ("nanobench.cli.doctor:doctor", "Show what this machine has and lacks."),
    "explain": ("nanobench.cli.explain:explain", "Show why a run has its verdict."),
    "export": ("nanobench.cli.export:export", "Write results in the format of another tool."),
    "history": ("nanobench.cli.history:history", "Keep results over time, and show them."),
    "logs": ("nanobench.cli.logs:logs", "Show the whole output of a command of a run."),
    "plan": ("nanobench.cli.plan:plan", "Write the cells of a bench to a plan file."),
    "publish": ("nanobench.cli.publish:publish", "Tell GitHub: a review, gates, a finding."),
    "regrade": ("nanobench.cli.regrade:regrade", "Judge records by another ruleset."),
    "repo": ("nanobench.cli.repo:repo", "Score repositories and rank their merged changes."),
    "report": ("nanobench.cli.report:report", "Merge records, judge them, and render a report."),
    "run": ("nanobench.cli.run:run", "Run one cell of a plan."),
    "schema": ("nanobench.cli.schema:schema", "Export or check the JSON Schemas."),
    "status": ("nanobench.cli.status:status", "Show how far a bench is; end one of its runs."),
    "task": ("nanobench.cli.task:task", "Extract, gate and keep the task files of the dataset."),
}


class LazyGroup(click.Group):
    """A group that lists its commands from a table and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the table."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="nanobench")
def root() -> None:
    """Benchmark the coding agent Nanocoder on real merged pull requests.

    Exit codes: 0 fine, 1 a regression or a failed gate, 2 usage, 3 invalid input or contract
    mismatch, 4 infrastructure, 130 interrupted.
    """


def main() -> NoReturn:
    """Run the command line; never lets a traceback out."""
    for number in _STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a job in the background
            signal.signal(number, _interrupt)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file name can be no text
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    try:
        return root.main(standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except NanobenchError as error:
        return _tell(error)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except SystemExit:  # click's answer to a closed pipe
        return EXIT_INFRASTRUCTURE
    except Exception as error:
        if os.environ.get("NANOBENCH_TRACEBACK"):
            traceback.print_exc()
        return _tell(_unforeseen(error))


def _tell(error: NanobenchError) -> int:
    click.echo(f"error: {error}", err=True)
    return error.exit_code


def _unforeseen(error: Exception) -> NanobenchError:
    if isinstance(error, OSError) and error.strerror:
        return InfrastructureError(
            f"the system refused something: {error.strerror}",
            where=os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "",
            remedy="check the free space, the permissions and the directories that were named",
        )
    return InfrastructureError(
        f"internal error: {type(error).__name__}: {error}",
        remedy="this is a defect of NanoBench; report it with the output of the same command "
        "under NANOBENCH_TRACEBACK=1",
    )


def _interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    """Stop once: impatience must not break the teardown, which takes seconds."""
    for number in _STOPPING:
        # A handler: SIG_IGN would make Python complain of a signal that is already on its way.
        signal.signal(number, lambda signum, frame: None)
    raise KeyboardInterrupt
