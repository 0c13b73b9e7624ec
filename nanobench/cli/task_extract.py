"""`nanobench task extract`: a candidate's task file from a merged change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanobench.cli.options import json_option, tasks_dir_option
from nanobench.errors import UsageError

if TYPE_CHECKING:
    from nanobench.dataset.extract.extraction import Extraction, Request
    from nanobench.dataset.extract.origin import Origin

_TASK_FIELDS = ("task_id", "issue_url", "task_type", "test_command", "base")
_SHOWN = 70
_ASSIGNED = ("domain", "reasoning_category", "contributor")


def _paragraphs(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, int] | None:
    if value is None:
        return None
    first, _, last = value.partition("-") if "-" in value else (value, "", value)
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise click.BadParameter(f"{value!r} is neither N nor N-M, counted from 1")
    return int(first), int(last)


@click.command()
@click.argument("clone", type=click.Path(path_type=Path))
@click.argument("change", metavar="COMMIT|PR-URL")
@click.option("--repo", metavar="OWNER/NAME", help="The repository.  [default: the clone's origin]")
@click.option("--repo-url", metavar="URL", help="What git clones.  [default: by --repo, or origin]")
@click.option("--base", metavar="COMMIT", help="Where the change starts.  [default: first parent]")
@click.option("--task-id", metavar="ID", help="[default: name and number of the pull request]")
@click.option("--domain", help="What the repository is for.  [default: the registry's]")
@click.option("--task-type", help="[default: by the word a conventional message begins with]")
@click.option("--reasoning-category", help="What must be thought through.")
@click.option("--contributor", help="Who writes the task file.")
@click.option("--issue-url", metavar="URL", help="The issue.")
@click.option("--test-command", metavar="COMMAND", help="In the place of the suites found by rule.")
@click.option(
    "--paragraphs",
    metavar="N-M",
    callback=_paragraphs,
    help="Of the commit message, the ones that are the statement.",
)
@click.option("--test", multiple=True, metavar="PATTERN", help="Paths that are tests.")
@click.option("--source", multiple=True, metavar="PATTERN", help="Paths that are sources.")
@click.option("--generated", multiple=True, metavar="PATTERN", help="Paths that tools write.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A file, or the directory of the task files.  [default: standard output]",
)
@tasks_dir_option
@json_option
def extract(
    clone: Path,
    change: str,
    out: Path | None,
    tasks_dir: Path | None,
    as_json: bool,
    **said: Any,
) -> None:
    """Write the task file of a merge or squash commit, or of a merged pull request.

    Base, patch hash, files, suites and statement are facts of the clone; the file is a candidate
    that a person completes. What needs a look is told on standard error, or with --json beside
    the task, under `notes`.

    Exit codes: 0 written, 2 usage, 3 the change cannot be a task, 4 infrastructure.
    """
    from nanobench.dataset.clone import open_clone
    from nanobench.dataset.extract.extraction import extract_task
    from nanobench.dataset.extract.origin import origin_of
    from nanobench.dataset.extract.pull_request import (
        fetch_pull_request,
        is_pull_url,
        rebased_base,
    )

    with open_clone(clone) as opened:
        if is_pull_url(change):
            pull = fetch_pull_request(change)
            sha = opened.resolve(pull.merge_commit)
            said["base"] = said["base"] or rebased_base(opened, pull)
            said["issue_url"] = said["issue_url"] or pull.issue_url
            said.update(repo=said["repo"] or pull.repo, repo_url=said["repo_url"] or pull.url)
            said.update(pull=pull.number, merged_at=pull.merged_at)
        else:
            sha = opened.resolve(change)
        origin = origin_of(opened, said["repo"], said["repo_url"])
        said["domain"] = said["domain"] or _domain(tasks_dir, origin)
        extraction = extract_task(opened, sha, origin, _request(said))
    _give(extraction, origin, out, as_json)


def _request(said: dict[str, Any]) -> Request:
    from nanobench.dataset.changes import PathRules
    from nanobench.dataset.extract.extraction import Request

    named = {name: said[name] for name in (*_TASK_FIELDS, "paragraphs")}
    named.update({name: said[name] for name in _ASSIGNED if said[name]})
    named.update({name: said[name] for name in ("pull", "merged_at") if name in said})
    return Request(**named, rules=PathRules(said["test"], said["source"], said["generated"]))


def _domain(tasks_dir: Path | None, origin: Origin) -> str | None:
    """What the registry says of the repository."""
    from nanobench.dataset.catalog import find_tasks_dir
    from nanobench.dataset.repositories.registry import known_domain

    directory = find_tasks_dir(tasks_dir)
    return known_domain(directory, origin.repo) if directory else None


def _give(extraction: Extraction, origin: Origin, out: Path | None, as_json: bool) -> None:
    from nanobench.dataset.task_files import task_text

    text = task_text(extraction.task)
    if out is not None:
        path = _place(out, origin, extraction.task.task_id)
        _write(path, text)
        click.echo(path, err=as_json)
    if as_json:
        click.echo(json.dumps(extraction.document(), indent=2))
        return
    if out is None:
        click.echo(text, nl=False)
    tokens = extraction.document()["tokens"]
    click.echo(
        f"tokens ({extraction.document()['tokenizer']}): required files "
        f"{tokens['required_files']}, statement {tokens['statement']}",
        err=True,
    )
    for line in (*_paragraphs_of(extraction), *(f"note: {note}" for note in extraction.notes)):
        click.echo(line, err=True)


def _paragraphs_of(extraction: Extraction) -> Iterator[str]:
    """The message's paragraphs by number and first line, for who chooses others."""
    from nanobench.report.escape import plain

    message, (first, last) = extraction.statement.message, extraction.statement.chosen
    yield "statement, by the paragraphs of the message (-: left out, see --paragraphs):"
    for number, paragraph in enumerate(message, 1):
        mark = " " if first <= number <= last else "-"
        yield f" {mark}{number:3}  {plain(paragraph.strip().splitlines()[0], _SHOWN)}"


def _place(out: Path, origin: Origin, task_id: str) -> Path:
    return out if out.suffix == ".json" else out / origin.folder / f"{task_id}.json"


def _write(path: Path, text: str) -> None:
    from nanobench.files import make_directory, write_atomic

    if path.exists():
        raise UsageError(
            "the task file exists", where=str(path), remedy="remove it first, or choose another"
        )
    make_directory(path.parent)
    write_atomic(path, text)
