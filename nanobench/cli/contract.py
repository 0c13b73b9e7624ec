"""`nanobench contract`: the pinned shape of Nanocoder's report."""

import json
from pathlib import Path
from typing import Any

import click

from nanobench.cli.options import json_option, state_dir_option
from nanobench.errors import WHERE_INDENT, ContractError, InvalidInputError, UsageError


@click.group()
def contract() -> None:
    """Check the Nanocoder report contract."""


@contract.command()
@click.option(
    "--nanocoder",
    "version",
    metavar="VERSION",
    help="Whose contract, and which version is run.  [default: the pinned one]",
)
@click.option(
    "--newest",
    is_flag=True,
    help="Run the newest Nanocoder there is, and hold it against its contract or the newest one.",
)
@click.option(
    "--payload",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Check this report instead of running Nanocoder.",
)
@state_dir_option
@json_option
def check(
    version: str | None,
    newest: bool,
    payload: Path | None,
    state_dir: Path | None,
    as_json: bool,
) -> None:
    """Fail, naming the fields, if reports of the real Nanocoder break the contract.

    Exit codes: 0 they keep to it, 3 they do not, or there is no contract for the version,
    4 Nanocoder cannot be installed.
    """
    from nanobench.agent.contract import check_report, contract_schema, known_versions
    from nanobench.model.plan import AgentSettings

    if newest and (version or payload):
        raise UsageError("--newest runs a version of its own", remedy="leave out the other options")
    version = _newest(state_dir) if newest else version or AgentSettings().nanocoder
    pinned = known_versions()[-1] if newest and version not in known_versions() else version
    contract_schema(pinned)
    reports = {str(payload): _read(payload)} if payload else _fresh(version, state_dir)
    found = {name: check_report(report, pinned) for name, report in reports.items()}
    problems = [f"{name}: {problem}" for name, listed in found.items() for problem in listed]
    if as_json:
        click.echo(json.dumps({"nanocoder": version, "problems": found}, indent=2))
    elif not problems:
        click.echo(f"{', '.join(found)}: Nanocoder {version} reports as {pinned} is pinned to")
    if problems:
        raise ContractError(
            f"Nanocoder {version} breaks the report contract of {pinned}",
            where=WHERE_INDENT.join(problems),
            remedy=f"adapt nanobench/agent and schemas/nanocoder/{version}.schema.json to it",
        )


def _newest(state_dir: Path | None) -> str:
    from nanobench.environment.toolchain import Toolchain
    from nanobench.files import StateDirectory

    return Toolchain(StateDirectory.locate(state_dir).tools).newest_nanocoder()


def _fresh(version: str, state_dir: Path | None) -> dict[str, Any]:
    from nanobench.agent.probe import fresh_reports
    from nanobench.environment.toolchain import Toolchain
    from nanobench.files import StateDirectory

    return fresh_reports(version, Toolchain(StateDirectory.locate(state_dir).tools))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InvalidInputError(
            f"cannot read the report: {error.strerror}", where=str(path), remedy="name a file"
        ) from None
    except (ValueError, RecursionError):
        raise InvalidInputError(
            "the report is not JSON", where=str(path), remedy="name a file with one JSON object"
        ) from None
