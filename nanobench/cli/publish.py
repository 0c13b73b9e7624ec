"""`nanobench publish`: results, gates and findings on GitHub."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.collecting import collecting
from nanobench.errors import InvalidInputError, UsageError

if TYPE_CHECKING:
    from nanobench.github.actions import Annotation
    from nanobench.github.context import Context
    from nanobench.github.publishing import Outcome, Page
    from nanobench.model.gate import GateResult
    from nanobench.report.budget import Part
    from nanobench.report.comparison_document import Comparison
    from nanobench.report.document import Report

author_option = click.option(
    "--author",
    metavar="LOGIN",
    help="Who the token writes as.  [default: asked, else github-actions[bot]]",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the comment there as well, e.g. comment.md.",
)

summary_option = click.option(
    "--summary-only", is_flag=True, help="Write the summary; ask GitHub nothing."
)


@dataclass(frozen=True)
class CommentRequest:
    """Who comments, and in which file the comment stands besides, as typed."""

    author: str | None
    out: Path | None


comment_request = collecting("comment", CommentRequest, (author_option, out_option))
"""Gives a command `comment: CommentRequest`."""


@click.group()
def publish() -> None:
    """Tell GitHub: a review, gates, a finding."""


@publish.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--report", "report_url", metavar="URL", default="", help="Link to the whole report.")
@click.option("--key", default="results", show_default=True, help="Tells several comments apart.")
@click.option(
    "--pull-request",
    type=click.IntRange(min=1),
    metavar="N",
    help="Where to comment.  [default: that of the event]",
)
@summary_option
@comment_request
def review(
    directory: Path,
    report_url: str,
    key: str,
    pull_request: int | None,
    summary_only: bool,
    comment: CommentRequest,
) -> None:
    """Comment on a pull request with the results of a bench.

    DIR is what `nanobench report` wrote: report.json, and comparison.json if there is a baseline.
    First the summary of the job, annotations and outputs are written; then the one review that
    carries these results is posted or updated. Without a pull request, and on one from a fork, the
    summary is all. What GitHub refuses is told, and fails nothing.

    Exit codes: 0 written, whether posted or not, 2 usage, 3 there is no report, 4 a file cannot be
    written.
    """
    from nanobench.github.annotating import task_annotations
    from nanobench.github.publishing import Page
    from nanobench.report.comment import Links, comment_parts, pointer

    report, comparison = _read(directory)
    context = _context()
    links = Links(context.tested_sha, context.run_url, report_url)
    parts = comment_parts(report, comparison, links)
    page = Page(key, parts, pointer(links), pull_request, summary_only=summary_only)
    found = task_annotations(report, comparison, _checkout())
    outcome = _publish(context, page, comment, found)
    _hand_over(report, comparison, outcome)


@publish.command()
@click.argument("place", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option(
    "--artifact",
    metavar="NAME",
    help="Take gate.json from this artifact of the run that a workflow_run event is about.",
)
@summary_option
@comment_request
def gate(
    place: Path | None, artifact: str | None, summary_only: bool, comment: CommentRequest
) -> None:
    """Comment on a pull request with the result of its gates.

    The result is read as data that anyone may have written, from gate.json in DIR (or from an
    archive) or from an artifact of the run that triggered this one. The pull request is the one
    whose head is that run's commit; a number in the result only chooses among several.

    Exit codes: 0 written, whether posted or not, 2 usage, 3 there is no gate result or it is
    hostile, 4 GitHub or a file cannot be read or written.
    """
    from nanobench.github.gate_comment import read_gate_result
    from nanobench.github.publishing import Page
    from nanobench.report.gate_markdown import gate_parts

    if (place is None) == (artifact is None):
        raise UsageError("name either a directory or an artifact", where="DIR and --artifact")
    context = _context()
    result = read_gate_result(place) if place else _fetched(context, artifact or "", comment.author)
    where = f"[All of it]({context.run_url})." if context.run_url else ""
    page = Page(
        "gates", gate_parts(result), where, claimed=result.pull_request, summary_only=summary_only
    )
    _publish(context, page, comment, [])


@publish.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--key", required=True, help="Tells several findings apart.")
@click.option("--title", required=True, help="Of the issue.")
@author_option
def finding(file: Path, key: str, title: str, author: str | None) -> None:
    """Open an issue with what a scheduled job found, or update it.

    FILE is a gate result (.json), or text that is shown as it is. An empty text finds nothing, and
    no issue is opened. An issue that a person closed is opened again only if there is news.

    Exit codes: 0 done, 2 usage, 3 the file cannot be read, 4 GitHub refuses or fails.
    """
    from nanobench.github.client import open_client
    from nanobench.github.finding import Finding, post_finding
    from nanobench.report.escape import plain

    context = _context()
    parts = _finding_parts(file)
    if not parts:
        click.echo("nothing was found: no issue")
        return
    where = f"[All of it]({context.run_url})." if context.run_url else ""
    posted = post_finding(
        open_client(os.environ, context, author), Finding(key, plain(title), parts, where)
    )
    click.echo(f"issue {posted.action}: {posted.url}")


@publish.command()
def masks() -> None:
    """Hide the keys of NANOCODER_PROVIDERS in the logs of a job.

    GitHub hides a secret as a whole; keys inside of it have to be named one by one.

    Exit codes: 0 done, 2 this is no job of GitHub Actions, 3 the variable is no JSON.
    """
    from nanobench.github.actions import mask_lines, secrets_in

    if os.environ.get("GITHUB_ACTIONS") != "true":
        raise UsageError("only a job of GitHub Actions can hide keys; a terminal would show them")
    try:
        document = json.loads(os.environ.get("NANOCODER_PROVIDERS") or "[]")
    except (ValueError, RecursionError):
        raise InvalidInputError(
            "this is no JSON", where="NANOCODER_PROVIDERS", remedy="correct the secret"
        ) from None
    for line in mask_lines(secrets_in(document)):
        click.echo(line)


def _read(directory: Path) -> tuple[Report, Comparison | None]:
    from nanobench.github.archives import read_document
    from nanobench.report.comparison_document import Comparison
    from nanobench.report.document import Report

    compared = directory / "comparison.json"
    return (
        read_document(directory / "report.json", Report),
        read_document(compared, Comparison) if compared.exists() else None,
    )


def _context() -> Context:
    from nanobench.github.context import read_context

    return read_context(os.environ)


def _checkout() -> Path | None:
    named = os.environ.get("GITHUB_WORKSPACE")
    return Path(named) if named else None


def _publish(
    context: Context, page: Page, comment: CommentRequest, found: list[Annotation]
) -> Outcome:
    """Summary and annotations first, then GitHub."""
    from nanobench.github.actions import Annotation, annotation_lines
    from nanobench.github.publishing import publish as post
    from nanobench.github.publishing import write_page

    write_page(os.environ, page, comment.out)
    in_actions = os.environ.get("GITHUB_ACTIONS") == "true"
    for line in annotation_lines(found) if in_actions else ():
        click.echo(line)
    outcome = post(os.environ, context, page, comment.author)
    if outcome.action == "failed" and in_actions:
        told = Annotation("warning", "The result could not be posted", outcome.told)
        click.echo("\n".join(annotation_lines([told])))
    click.echo(outcome.told, err=outcome.action == "failed")
    return outcome


def _hand_over(report: Report, comparison: Comparison | None, outcome: Outcome) -> None:
    from nanobench.github.actions import write_outputs
    from nanobench.report.comment import incomplete

    scores = {
        f"{summary.model} {summary.mode}": summary.mean_score
        for section in report.sections
        for summary in section.summaries
    }
    absent = incomplete(report)
    write_outputs(
        os.environ,
        {
            "verdict": comparison.verdict if comparison else "no baseline",
            "score": str(next(iter(scores.values()))) if len(scores) == 1 else "",
            "scores": json.dumps(scores),
            "missing": str(absent.get("missing", 0)),
            "infrastructure": str(absent.get("infrastructure", 0)),
            "review": outcome.action,
            "review-url": outcome.url,
        },
    )


def _fetched(context: Context, artifact: str, author: str | None) -> GateResult:
    from nanobench.github.client import open_client
    from nanobench.github.gate_comment import fetch_gate_result

    if context.triggered_by is None:
        raise UsageError(
            "only a workflow_run event has a run to take artifacts from",
            where=f"--artifact {artifact}",
            remedy="name a directory",
        )
    client = open_client(os.environ, context, author)
    return fetch_gate_result(client, context.triggered_by.run_id, artifact)


def _finding_parts(file: Path) -> tuple[Part, ...]:
    from nanobench.github.gate_comment import read_gate_result
    from nanobench.report.budget import Part
    from nanobench.report.escape import fenced
    from nanobench.report.gate_markdown import gate_parts

    if file.suffix == ".json":
        result = read_gate_result(file)
        return () if result.passed else tuple(gate_parts(result))
    try:
        text = file.read_text("utf-8", "replace")
    except OSError as error:
        raise InvalidInputError(
            f"the finding cannot be read: {error.strerror}", where=str(file)
        ) from None
    return (Part("finding", fenced(text)),) if text.strip() else ()
