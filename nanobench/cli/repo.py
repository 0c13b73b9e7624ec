"""`nanobench repo`: scores, the registry, and candidates of repositories."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanobench.cli.options import json_option, tasks_dir_option
from nanobench.cli.tables import table
from nanobench.errors import UsageError

if TYPE_CHECKING:
    from nanobench.model.registry import Novelty, ScoredRepository

_POINTS = ("0", "2", "4")
_NO_PULLS = (
    "no commit of this time names one in its subject, as in `… (#12)` or `Merge pull request #12 "
    "from …`; --since looks further back"
)

clone_argument = click.argument("clone", type=click.Path(path_type=Path))
repo_option = click.option(
    "--repo", metavar="OWNER/NAME", help="The repository.  [default: the clone's origin]"
)
commit_option = click.option(
    "--commit", default="HEAD", show_default=True, help="The state of the main branch to look at."
)


@dataclass(frozen=True)
class ScoreRequest:
    """What is scored, and what a person says of it, as typed."""

    repo: str | None
    repo_url: str | None
    commit: str | None
    domain: str | None
    novelty: str | None
    reason: str | None

    def judged(self, known: ScoredRepository | None) -> Novelty:
        """The value for novelty; null options keep what the registry knows.

        Raises:
            UsageError: a value without its reason, or a reason without its value.
        """
        from nanobench.model.registry import Novelty

        if self.novelty is None:
            if self.reason is not None:
                raise UsageError(
                    "a reason is for a value", remedy="give --novelty 0, 2 or 4 with it"
                )
            return known.novelty if known else Novelty()
        if self.novelty != "0" and not (self.reason or "").strip():
            raise UsageError(
                f"--novelty {self.novelty} needs its reason",
                remedy="say with --reason what the domain adds to those in the registry",
            )
        return Novelty.model_validate({"points": int(self.novelty), "reason": self.reason or ""})


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
    clone: Path, write: bool, tasks_dir: Path | None, as_json: bool, **typed: str | None
) -> None:
    """Score a repository by its history: five axes, each with its evidence (docs/lifecycle.md).

    Four axes are computed. Novelty is yours: without --novelty it is what the registry has, or 0.
    The same commit gives the same bytes.

    Exit codes: 0 scored, 2 usage, 3 the clone cannot be scored, 4 infrastructure.
    """
    from nanobench.dataset.repositories.registry import put_score

    path = _registry_path(tasks_dir)
    scored = _score(clone, path, ScoreRequest(**typed))
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
def candidates(clone: Path, tasks_dir: Path | None, as_json: bool, **typed: Any) -> None:
    """Rank the merged changes that could be tasks, by the rules that are shown.

    Software ranks, a person picks: `nanobench task extract CLONE COMMIT` makes the task file.

    Exit codes: 0 shown, 2 usage, 3 the clone cannot be read, 4 infrastructure.
    """
    since = typed["since"]
    first = since.replace(tzinfo=UTC) if since else _cutoff(tasks_dir)
    document = _candidates(clone, first, **{key: typed[key] for key in ("repo", "commit", "limit")})
    click.echo(json.dumps(document, indent=2) if as_json else "\n".join(_ranked(document)))


def _candidates(
    clone: Path, since: datetime, repo: str | None, commit: str, limit: int
) -> dict[str, Any]:
    """The list, with the rules that made it."""
    from nanobench.dataset.clone import open_clone
    from nanobench.dataset.extract.origin import origin_of
    from nanobench.dataset.repositories.candidates import LISTED, RULES, rank_candidates

    with open_clone(clone) as opened:
        origin = origin_of(opened, repo, None)
        ranking = rank_candidates(opened, opened.resolve(commit), since)
    return {
        "repo": origin.repo,
        "since": since.isoformat(),
        "listed": LISTED,
        "rules": [{"points": rule.points, "rule": rule.words} for rule in RULES],
        "candidates": [candidate.row(origin) for candidate in ranking.candidates[:limit]],
        "of": len(ranking.candidates),
        "merged": ranking.merged,
        "unread": ranking.unread,
    }


def _ranked(document: dict[str, Any]) -> list[str]:
    """The list for people."""
    from nanobench.report.escape import plain

    rows = document["candidates"]
    lines = [
        f"{len(rows)} of {document['of']} candidates among {document['merged']} pull requests "
        f"merged since {document['since'][:10]}: {document['listed']}"
    ]
    lines += [f"  {rule['points']} for {rule['rule']}" for rule in document["rules"]]
    if document["unread"]:
        lines.append(f"left out, since the clone lacks files of them: {document['unread']}")
    if not document["merged"]:
        lines.append(_NO_PULLS)
    if not rows:
        return lines
    listing = [("points", "commit", "merged", "files", "languages", "tests", "title")]
    listing += [
        (
            str(row["points"]),
            row["commit"][:12],
            row["merged_at"][:10],
            str(row["required_files"]),
            "+".join(row["languages"]),
            "+".join(row["test_languages"]),
            plain(row["title"], 70),
        )
        for row in rows
    ]
    return [*lines, table(listing)]


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


def _score(clone: Path, registry: Path, request: ScoreRequest) -> ScoredRepository:
    from nanobench.dataset.clone import open_clone
    from nanobench.dataset.extract.extraction import UNASSIGNED
    from nanobench.dataset.extract.origin import origin_of
    from nanobench.dataset.repositories.registry import entry_of
    from nanobench.dataset.repositories.scoring import score_repository

    with open_clone(clone) as opened:
        origin = origin_of(opened, request.repo, request.repo_url)
        known = entry_of(registry, origin.repo)
        domain = request.domain or (known.domain if known else UNASSIGNED)
        head = opened.resolve(request.commit or "HEAD")
        return score_repository(opened, head, origin, domain, request.judged(known))


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
