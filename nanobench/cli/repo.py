"""`nanobench repo`: scores, the registry, and candidates of repositories."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanobench.cli.options import json_option, tasks_dir_option
from nanobench.cli.tables import table
from nanobench.errors import UsageError

if TYPE_CHECKING:
    from nanobench.model.registry import Novelty, ScoredRepository

_POINTS = ("0", "2", "4")

clone_argument = click.argument("clone", type=click.Path(path_type=Path))
repo_option = click.option(
    "--repo", metavar="OWNER/NAME", help="The repository.  [default: the clone's origin]"
)
commit_option = click.option(
    "--commit", default="HEAD", show_default=True, help="The state of the main branch to look at."
)


@click.group()
def repo() -> None:
    """Score repositories and rank their merged changes."""


@repo.command()
@clone_argument
@repo_option
@click.option("--repo-url", metavar="URL", help="What git clones.  [default: by --repo, or origin]")
@commit_option
@click.option("--domain", help="What the repository is for.  [default: the registry's]")
@click.option(
    "--novelty", type=click.Choice(_POINTS), help="4: new domain, 2: adjacent, 0: covered."
)
@click.option("--reason", help="Why; needed with --novelty 2 or 4.")
@click.option("--write", is_flag=True, help="Put the score into registry.json.")
@tasks_dir_option
@json_option
def score(
    clone: Path,
    repo: str | None,
    repo_url: str | None,
    commit: str,
    domain: str | None,
    novelty: str | None,
    reason: str | None,
    write: bool,
    tasks_dir: Path | None,
    as_json: bool,
) -> None:
    """Score a repository by its history: five axes, each with its evidence (docs/lifecycle.md).

    Four axes are computed. Novelty is yours: without --novelty it is what the registry has, or 0.
    The same commit gives the same bytes.

    Exit codes: 0 scored, 2 usage, 3 the clone cannot be scored, 4 infrastructure.
    """
    from nanobench.dataset.clone import open_clone
    from nanobench.dataset.extract.extraction import UNASSIGNED
    from nanobench.dataset.extract.origin import origin_of
    from nanobench.dataset.repositories.registry import entry_of, put_score
    from nanobench.dataset.repositories.scoring import score_repository

    path = _registry_path(tasks_dir)
    with open_clone(clone) as opened:
        origin = origin_of(opened, repo, repo_url)
        known = entry_of(path, origin.repo)
        domain = domain or (known.domain if known else UNASSIGNED)
        judged = _novelty(novelty, reason, known)
        scored = score_repository(opened, opened.resolve(commit), origin, domain, judged)
    if write:
        put_score(path, scored)
        click.echo(path, err=True)
    click.echo(scored.to_json() if as_json else "\n".join(_evidence(scored)), nl=not as_json)


@repo.command("list")
@tasks_dir_option
@json_option
def list_repositories(tasks_dir: Path | None, as_json: bool) -> None:
    """Show the registry, most points first.

    Exit codes: 0 shown, 2 usage, 3 the registry is wrong.
    """
    from nanobench.dataset.repositories.registry import read_registry

    registry = read_registry(_registry_path(tasks_dir))
    if as_json:
        click.echo(registry.to_json(), nl=False)
        return
    head: tuple[str, ...] = (
        "rank",
        "points",
        "repository",
        "lang",
        "depth",
        "act",
        "new",
        "ctx",
        "domain",
    )
    rows = [head]
    for number, entry in enumerate(registry.repositories, 1):
        axes = (entry.languages, entry.depth, entry.activity, entry.novelty, entry.context)
        mark = "" if entry.onboarded else " *"
        points = (str(axis.points) for axis in axes)
        rows.append((str(number), f"{entry.total}{mark}", entry.repo, *points, entry.domain))
    click.echo(table(rows))
    if not all(entry.onboarded for entry in registry.repositories):
        click.echo("* below the 12 points that a repository needs")


@repo.command()
@clone_argument
@repo_option
@commit_option
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Merged on this day (UTC) or later.  [default: the dataset's contamination cutoff]",
)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@tasks_dir_option
@json_option
def candidates(
    clone: Path,
    repo: str | None,
    commit: str,
    since: datetime | None,
    limit: int,
    tasks_dir: Path | None,
    as_json: bool,
) -> None:
    """Rank the merged changes that could be tasks, by the rules that are shown.

    Software ranks, a person picks: `nanobench task extract CLONE COMMIT` makes the task file.

    Exit codes: 0 shown, 2 usage, 3 the clone cannot be read, 4 infrastructure.
    """
    from nanobench.dataset.clone import open_clone
    from nanobench.dataset.extract.origin import origin_of
    from nanobench.dataset.repositories.candidates import LISTED, RULES, rank_candidates
    from nanobench.report.escape import plain

    first = since.replace(tzinfo=UTC) if since else _cutoff(tasks_dir)
    with open_clone(clone) as opened:
        origin = origin_of(opened, repo, None)
        found = rank_candidates(opened, opened.resolve(commit), first)
        rows = [candidate.row(origin) for candidate in found[:limit]]
    rules = [{"points": rule.points, "rule": rule.words} for rule in RULES]
    if as_json:
        document = {
            "repo": origin.repo,
            "since": first.isoformat(),
            "listed": LISTED,
            "rules": rules,
            "candidates": rows,
            "of": len(found),
        }
        click.echo(json.dumps(document, indent=2))
        return
    click.echo(f"{len(rows)} of {len(found)} candidates: {LISTED}")
    for rule in rules:
        click.echo(f"  {rule['points']} for {rule['rule']}")
    head: tuple[str, ...] = ("points", "commit", "merged", "files", "languages", "tests", "subject")
    listing = [head]
    for row in rows:
        languages, tests = "+".join(row["languages"]), "+".join(row["test_languages"])
        sizes = (row["merged_at"][:10], str(row["required_files"]), languages, tests)
        listing.append((str(row["points"]), row["commit"][:12], *sizes, plain(row["subject"], 70)))
    click.echo(table(listing))


def _registry_path(tasks_dir: Path | None) -> Path:
    from nanobench.dataset.catalog import find_tasks_dir
    from nanobench.dataset.repositories.registry import REGISTRY_FILE

    directory = find_tasks_dir(tasks_dir)
    if directory is None:
        raise UsageError("there is no task directory", remedy="name one with --tasks-dir")
    return directory / REGISTRY_FILE


def _cutoff(tasks_dir: Path | None) -> datetime:
    from nanobench.dataset.catalog import DATASET_FILE, Dataset
    from nanobench.dataset.reading import read_document

    path = _registry_path(tasks_dir).with_name(DATASET_FILE)
    return read_document(Dataset, path)[0].contamination_cutoff


def _novelty(points: str | None, reason: str | None, known: ScoredRepository | None) -> Novelty:
    from nanobench.model.registry import Novelty

    if points is None:
        if reason is not None:
            raise UsageError("a reason is for a value", remedy="give --novelty 0, 2 or 4 with it")
        return known.novelty if known else Novelty()
    if points != "0" and not (reason or "").strip():
        raise UsageError(
            f"--novelty {points} needs its reason",
            remedy="say with --reason what the domain adds to those in the registry",
        )
    return Novelty(points=int(points), reason=reason or "")


def _evidence(scored: ScoredRepository) -> list[str]:
    """The score for people, each axis with what it was computed from."""
    languages, activity, context = scored.languages, scored.activity, scored.context
    edits = ", ".join(f"{name} {count}" for name, count in languages.changes.items())
    files = ", ".join(str(change.files) for change in scored.changes)
    tokens = ", ".join(str(change.context_tokens) for change in scored.changes)
    months = f"{activity.merged} merged in {activity.months} months to {activity.until:%Y-%m-%d}"
    rows = [
        ("languages", languages.points, f"{edits}; of {languages.sample} changes"),
        ("depth", scored.depth.points, f"{files} files, mean {scored.depth.mean_files}"),
        ("activity", activity.points, f"{months}: {activity.per_month} a month"),
        ("novelty", scored.novelty.points, scored.novelty.reason or "not judged"),
        ("context", context.points, f"{tokens} tokens ({context.tokenizer})"),
    ]
    lines = [f"{scored.repo} at {scored.commit}: {scored.total} of 20 points"]
    lines += [f"  {name:<10}{points}  {seen}" for name, points, seen in rows]
    taken = (f"#{change.pull}" if change.pull else change.commit[:12] for change in scored.changes)
    return [*lines, f"  depth and context are taken from {', '.join(taken)}"]
