"""`nanobench audit`: people look at the Level 4 verdicts, blinded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import RULESETS, json_option, tasks_dir_option
from nanobench.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from nanobench.model.audit import AuditKey
    from nanobench.model.plan import Ruleset

_SIZE = 40


@click.group()
def audit() -> None:
    """Let people check labels, blinded."""


@audit.command()
@click.argument(
    "directories", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The bundle for the reviewers; a directory that does not exist yet.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="Where the truth about the items goes: not to the reviewers.",
)
@click.option("--size", type=click.IntRange(min=1), default=_SIZE, show_default=True)
@click.option("--seed", required=True, help="Any text; the same one draws the same sample.")
@click.option("--ruleset", type=click.Choice(RULESETS), default=RULESETS[-1], show_default=True)
def export(
    directories: tuple[Path, ...], out: Path, key: Path, size: int, seed: str, ruleset: Ruleset
) -> None:
    """Draw a sample of Level 4 verdicts and write a blinded bundle.

    The sample has every category in every language that the records below DIR... have. An item
    is what the tests said, the agent's diff, and the lines that it replaced; the names of
    provider, model and run are taken out. The bundle has a form for any browser (form.html) and
    the same as a sheet (answers.csv).

    Exit codes: 0 written, 2 usage, 3 no verdict of Level 4 or a record or patch is unusable,
    4 it cannot be written.
    """
    from nanobench.audit.bundle import build, write
    from nanobench.audit.sampling import candidates, draw
    from nanobench.files import write_atomic
    from nanobench.model.record import Record
    from nanobench.pipeline.records import records_below

    if out.exists():
        raise UsageError("the bundle exists already", where=f"--out {out}")
    if key.exists():
        raise UsageError(
            "the key exists already, perhaps that of another audit", where=f"--key {key}"
        )
    if key.resolve().is_relative_to(out.resolve()):
        raise UsageError(
            "the key would go to the reviewers",
            where=f"--key {key}",
            remedy="write it outside the bundle",
        )
    read = [pair for directory in directories for pair in records_below(directory)]
    bad = [f"{path}: {one}" for path, one in read if isinstance(one, str)]
    if bad:
        raise InvalidInputError(
            "not every record can be read", where=bad[0], remedy="repair or remove it"
        )
    found = candidates(((path, one) for path, one in read if isinstance(one, Record)), ruleset)
    if not found:
        raise InvalidInputError(
            f"there is no verdict of Level 4 under ruleset {ruleset}",
            where=", ".join(map(str, directories)),
            remedy="name result directories with such runs, or regrade them",
        )
    bundle, truth = build(draw(found, size, seed), found, seed, ruleset)
    write_atomic(key, truth.to_json())
    write(bundle, out)
    click.echo(f"{len(bundle.items)} of {len(found)} runs: {out}")


@audit.command()
@click.argument("key", metavar="KEY", type=click.Path(path_type=Path))
@click.argument(
    "answers", nargs=-1, required=True, metavar="ANSWERS...", type=click.Path(path_type=Path)
)
@click.option("--record", is_flag=True, help="Add the audit to audit.json of the dataset.")
@tasks_dir_option
@json_option
def score(
    key: Path, answers: tuple[Path, ...], record: bool, tasks_dir: Path | None, as_json: bool
) -> None:
    """Hold the reviewers' answers against the rules.

    Agreement with its 95 % interval, Cohen's kappa, what was taken for what, and each language.
    With --record, reports go by the outcome: below 90 % they show hallucinated_api and
    wrong_abstraction_layer as implementation_error, until a later audit reaches 90 % again.
    Scores never change.

    Exit codes: 0 fine, 2 usage, 3 the key or a sheet is wrong, or answers are missing and
    --record is given, 4 it cannot be written.
    """
    from datetime import UTC, datetime

    from nanobench.audit.agreement import score_audit
    from nanobench.audit.answers import read_answers
    from nanobench.audit.page import render_score
    from nanobench.audit.status import record as add

    truth = _read_key(key)
    found = score_audit(truth, read_answers(answers, truth))
    click.echo(found.to_json() if as_json else render_score(found), nl=False)
    if record:
        add(_status_file(tasks_dir), found, datetime.now(UTC).replace(microsecond=0))


@audit.command()
@tasks_dir_option
@json_option
def status(tasks_dir: Path | None, as_json: bool) -> None:
    """Show the audits so far and what reports make of them.

    Exit codes: 0 fine, 2 usage, 3 audit.json cannot be used.
    """
    from nanobench.audit.page import render_status
    from nanobench.audit.status import read_status

    found = read_status(_status_file(tasks_dir))
    click.echo(found.to_json() if as_json else render_status(found), nl=False)


def _status_file(tasks_dir: Path | None) -> Path:
    from nanobench.audit.status import STATUS
    from nanobench.dataset.catalog import find_tasks_dir

    directory = find_tasks_dir(tasks_dir)
    if directory is None:
        raise UsageError(
            "there is no dataset here", remedy="run in a checkout, or name one with --tasks-dir"
        )
    return directory / STATUS


def _read_key(path: Path) -> AuditKey:
    from pydantic import ValidationError

    from nanobench.model.audit import AuditKey

    try:
        return AuditKey.from_json(path.read_bytes())
    except OSError as error:
        what = f"the key cannot be read: {error.strerror}"
    except ValidationError:
        what = "this is not the key of an audit"
    raise InvalidInputError(
        what, where=str(path), remedy="name the file that `audit export --key` wrote"
    )
