"""`nanobench action`: what the composite action does, as its inputs say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from nanobench.errors import (
    EXIT_INFRASTRUCTURE,
    EXIT_OK,
    InvalidInputError,
    UsageError,
)

PREFIX = "NANOBENCH_INPUT_"
# The option that an input becomes, with the input's value behind it.
PLANNING = {
    "tasks": "--tasks",
    "mode": "--mode",
    "runs": "--runs",
    "purpose": "--purpose",
    "ruleset": "--ruleset",
    "nanocoder": "--nanocoder",
    "max-turns": "--max-turns",
    "timeout": "--timeout",
    "max-requests": "--max-requests",
    "max-tokens": "--max-tokens",
    "max-cost": "--max-cost",
    "tasks-dir": "--tasks-dir",
    "state-dir": "--state-dir",
    "models": "--models",
}
PLACING = {"tasks-dir": "--tasks-dir", "state-dir": "--state-dir"}
ENVIRONMENT = {"strategy": "--strategy", "image": "--image"}
PUBLISHING = {
    "comment-key": "--key",
    "pull-request": "--pull-request",
    "report-url": "--report",
}
GATING = {
    **PLACING,
    **ENVIRONMENT,
    "jobs": "--jobs",
    "registry-before": "--registry-before",
    "pull-request": "--pull-request",
}
_ON, _OFF = "true", "false"
_SECRETS = (
    *(f"{PREFIX}PROVIDERS", f"{PREFIX}TOKEN"),
    *("NANOCODER_PROVIDERS", "GITHUB_TOKEN", "GH_TOKEN"),
)


@dataclass(frozen=True)
class Inputs:
    """The inputs of the action, and what they ask of the commands."""

    environ: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.environ.get(PREFIX + name.upper().replace("-", "_"), "").strip()

    def lines(self, name: str) -> list[str]:
        """The lines of an input that hold something."""
        return [line.strip() for line in self[name].splitlines() if line.strip()]

    def is_on(self, name: str) -> bool:
        """Whether a switch is on.

        Raises:
            UsageError: it is neither `true` nor `false`.
        """
        if self[name] not in (_ON, _OFF):
            raise UsageError(
                f"the input {name} is neither true nor false: {self[name]!r}", where=name
            )
        return self[name] == _ON

    def options(self, table: Mapping[str, str]) -> list[str]:
        """Options for the inputs that are given; every line of one is an option of its own."""
        return [f"{option}={line}" for name, option in table.items() for line in self.lines(name)]

    @property
    def out(self) -> Path:
        """Where to write."""
        default = Path(self.environ.get("RUNNER_TEMP", ".")) / "nanobench"
        return Path(self["out"]) if self["out"] else default


@click.command()
def action() -> int:
    """Do what the inputs of the GitHub action say.

    The inputs are read from the environment (NANOBENCH_INPUT_MODELS for `models`), as action.yml
    hands them over; its descriptions say what each is for.

    Exit codes: 0 done, and nothing that `fail-on` names; else those of the command.
    """
    from nanobench.github.actions import write_outputs

    inputs = Inputs(os.environ)
    command = inputs["command"]
    if command not in COMMANDS:
        raise UsageError(
            f"the input command is {command!r}", remedy=f"one of: {', '.join(COMMANDS)}"
        )
    code = COMMANDS[command](inputs)
    write_outputs(os.environ, {"conclusion": "failure" if code else "success"})
    return code


def _bench(inputs: Inputs) -> int:
    """Plan, run, judge and publish in one job."""
    _mask(inputs)
    out = inputs.out / "results"
    isolation = ["--require-isolation"] if inputs.is_on("require-isolation") else []
    options = inputs.options({**PLANNING, **ENVIRONMENT, "jobs": "--jobs"})
    code = _nanobench(
        ["bench", *options, *isolation, f"--out={out}"], _with_providers(inputs, os.environ)
    )
    if code not in (EXIT_OK, EXIT_INFRASTRUCTURE) or not (out / "plan.json").is_file():
        return code
    return _judged(inputs, [out])


def _plan(inputs: Inputs) -> int:
    """The cells, and the matrix as outputs."""
    from nanobench.github.actions import write_outputs

    out = inputs.out / "plan"
    options = inputs.options({**PLANNING, "per-provider": "--per-provider"})
    write_outputs(os.environ, {"plan-path": str(out)})
    extra = ["--github", "--allow-empty", f"--out={out / 'plan.json'}"]
    return _nanobench(["plan", *options, *extra], _without_secrets(os.environ))


def _run(inputs: Inputs) -> int:
    """One cell. Infrastructure trouble that has a record is a result: the report judges it."""
    from nanobench.github.actions import write_outputs

    _mask(inputs)
    out = inputs.out / "results"
    write_outputs(os.environ, {"results-path": str(out)})
    isolation = ["--require-isolation"] if inputs.is_on("require-isolation") else []
    options = inputs.options({**PLACING, **ENVIRONMENT, "plan": "--plan", "cell": "--cell"})
    code = _nanobench(
        ["run", *options, *isolation, f"--out={out}"], _with_providers(inputs, os.environ)
    )
    recorded = any(out.glob(f"cells/{inputs['cell']}/attempt-*/record.json"))
    return EXIT_OK if code == EXIT_INFRASTRUCTURE and recorded else code


def _report(inputs: Inputs) -> int:
    """Merge, judge and publish what other jobs ran."""
    places = [Path(line) for line in inputs.lines("results")]
    return _judged(inputs, places or [inputs.out / "results"])


def _judged(inputs: Inputs, results: Sequence[Path]) -> int:
    """The report with its verdict, the job summary and the comment; the verdict decides."""
    from nanobench.github.actions import write_outputs

    report = inputs.out / "report"
    write_outputs(os.environ, {"results-path": str(results[0]), "report-path": str(report)})
    environ = _without_secrets(os.environ)
    code = _nanobench(
        [
            "report",
            *map(str, results),
            f"--out={report}",
            *inputs.options({"tasks-dir": "--tasks-dir"}),
            *_compared(inputs),
        ],
        environ,
    )
    if (report / "report.json").is_file():
        _published(inputs, report)
    return code


def _compared(inputs: Inputs) -> list[str]:
    """What is compared, and what fails the check; without a baseline nothing can regress.

    Raises:
        InvalidInputError: the baseline is damaged, or is another one than the digest says.
    """
    place = _baseline(inputs)
    causes = [cause.strip() for cause in inputs["fail-on"].split(",") if cause.strip()]
    if place is None:
        return [f"--fail-on={','.join(cause for cause in causes if cause != 'regression')}"]
    return [f"--baseline={place}", f"--fail-on={','.join(causes)}"]


def _baseline(inputs: Inputs) -> Path | None:
    """Where the baseline is; null if none is named, or this is a first run.

    A directory without `baseline.json` holds results as a bench left them, in this very job.
    """
    from nanobench.github.baselines import MANIFEST

    if not inputs["baseline"]:
        return None
    named = Path(inputs["baseline"])
    on_github = inputs["baseline"].partition(":")[0] in ("artifact", "release")
    kept = on_github or inputs["baseline-digest"] or (named / MANIFEST).exists()
    if named.is_dir() and not kept:
        return named
    place = inputs.out / "baseline"
    options = inputs.options({"baseline": "--from", "baseline-digest": "--digest"})
    code = _nanobench(
        ["baseline", "get", *options, f"--out={place}"], _with_token(inputs, os.environ)
    )
    if code:
        raise InvalidInputError(
            "the baseline cannot be used", where=inputs["baseline"], remedy="see the lines above"
        )
    return place if place.is_dir() else None


def _published(inputs: Inputs, report: Path) -> None:
    """Summary and comment; what GitHub refuses is told, and fails nothing."""
    quiet = [] if inputs.is_on("comment") else ["--summary-only"]
    arguments = ["publish", "review", str(report), *quiet, *inputs.options(PUBLISHING)]
    _nanobench(arguments, _with_token(inputs, os.environ))


def _publish(inputs: Inputs) -> int:
    """The comment alone, from a report that exists."""
    places = inputs.lines("results") or [str(inputs.out / "report")]
    if len(places) > 1:
        raise UsageError("publish takes one report directory", where="results")
    arguments = ["publish", "review", places[0], *inputs.options(PUBLISHING)]
    return _nanobench(arguments, _with_token(inputs, os.environ))


def _gate(inputs: Inputs) -> int:
    """Gates of submitted files: the result in a file, and in the job summary."""
    from nanobench.files import make_directory, write_atomic
    from nanobench.github.actions import write_outputs

    out = make_directory(inputs.out / "gate")
    write_outputs(os.environ, {"gate-path": str(out)})
    arguments = ["task", "gate", "--json", *inputs.options(GATING), "--", *inputs.lines("files")]
    done = subprocess.run(
        _argv(arguments), env=_without_secrets(os.environ), stdout=subprocess.PIPE, check=False
    )
    if done.stdout:
        write_atomic(out / "gate.json", done.stdout)
        told = ["publish", "gate", str(out), "--summary-only"]  # a later stage may comment
        _nanobench(told, _without_secrets(os.environ))
    return done.returncode


COMMANDS: dict[str, Callable[[Inputs], int]] = {
    "bench": _bench,
    "plan": _plan,
    "run": _run,
    "report": _report,
    "gate": _gate,
    "publish": _publish,
}


def _nanobench(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run a command of ours as a person would; its exit code."""
    return subprocess.run(_argv(arguments), env=dict(environ), check=False).returncode


def _argv(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "nanobench", *arguments]


def _mask(inputs: Inputs) -> None:
    """Hide the keys of the providers in the log before anything could show them.

    Raises:
        InvalidInputError: they are no JSON.
    """
    environ = _with_providers(inputs, os.environ)
    if "NANOCODER_PROVIDERS" in environ and os.environ.get("GITHUB_ACTIONS") == _ON:
        code = _nanobench(["publish", "masks"], environ)
        if code:
            raise InvalidInputError("the providers are no JSON", remedy="correct the secret")


def _without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command that needs neither keys nor a token."""
    return {
        name: value
        for name, value in environ.items()
        if name not in _SECRETS and not name.startswith("ACTIONS_")
    }


def _with_providers(inputs: Inputs, environ: Mapping[str, str]) -> dict[str, str]:
    found = _without_secrets(environ)
    given = inputs["providers"] or environ.get("NANOCODER_PROVIDERS", "")
    return {**found, "NANOCODER_PROVIDERS": given} if given else found


def _with_token(inputs: Inputs, environ: Mapping[str, str]) -> dict[str, str]:
    found = _without_secrets(environ)
    return {**found, "GITHUB_TOKEN": inputs["token"]} if inputs["token"] else found
