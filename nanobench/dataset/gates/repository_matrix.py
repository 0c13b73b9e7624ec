"""The repository matrix gate: the repository is worth being in the dataset (SPEC 4)."""

from collections.abc import Iterable, Mapping

from nanobench.dataset.gates.findings import Findings
from nanobench.model.registry import ONBOARDED_FROM, Registry, ScoredRepository
from nanobench.model.task import Task


def repository_matrix_gate(task: Task, registry: Registry, findings: Findings) -> None:
    """The task's repository stands in the registry with enough points."""
    entry = next((one for one in registry.repositories if one.repo == task.repo), None)
    if entry is None:
        findings.add(
            "repo",
            f"{task.repo} is not in the registry",
            "score it with `nanobench repo score` and add registry.json to the pull request",
        )
        return
    _check_points(entry, "repo", findings)
    if entry.repo_url != task.repo_url:
        findings.add(
            "repo_url",
            f"the registry has {entry.repo_url} for {task.repo}",
            "use the URL of the registry",
        )


def registry_gate(
    registry: Registry, before: Mapping[str, ScoredRepository], findings: Findings
) -> None:
    """Every entry that was added or changed has enough points, and a domain that is new or argued.

    Args:
        registry: as submitted.
        before: the entries by repository as they stood; those that are equal are left alone.
        findings: receives the problems.
    """
    for number, entry in enumerate(registry.repositories):
        if before.get(entry.repo) == entry:
            continue
        field = f"repositories[{number}]"
        _check_points(entry, f"{field}.total", findings)
        others = [other.repo for other in _same_domain(entry, registry.repositories)]
        if others and not entry.novelty.reason.strip():
            findings.add(
                f"{field}.domain",
                f"{entry.domain!r} is the domain of {', '.join(others)} already",
                "record in novelty.reason why another repository of it is worth having",
            )


def _check_points(entry: ScoredRepository, field: str, findings: Findings) -> None:
    if entry.onboarded:
        return
    axes = {
        "languages": entry.languages.points,
        "depth": entry.depth.points,
        "activity": entry.activity.points,
        "novelty": entry.novelty.points,
        "context": entry.context.points,
    }
    told = ", ".join(f"{name} {points}" for name, points in axes.items())
    findings.add(
        field,
        f"{entry.repo} has {entry.total} of 20 points, {ONBOARDED_FROM} are needed: {told}",
        "choose another repository, or let a maintainer judge its novelty (`repo score --novelty`)",
    )


def _same_domain(
    entry: ScoredRepository, entries: Iterable[ScoredRepository]
) -> Iterable[ScoredRepository]:
    domain = entry.domain.casefold()
    return (one for one in entries if one.repo != entry.repo and one.domain.casefold() == domain)
