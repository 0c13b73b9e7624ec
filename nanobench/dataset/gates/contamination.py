"""The contamination gate: the pull request was merged after the dataset's cutoff."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from nanobench.dataset.gates.findings import Findings
from nanobench.errors import RepositoryError
from nanobench.model.task import PatchSource, Task
from nanobench.pipeline.bench import Services
from nanobench.workspace.git import run_git

# Between the moment that a platform gives for a merge and the commit's own date.
_TOLERANCE = timedelta(days=1)


def contamination_gate(
    task: Task, cutoff: datetime, services: Services, findings: Findings
) -> None:
    """Hold `merged_at` against the cutoff, and against the date of the merged commit."""
    _check_date(task.merged_at, "merged_at", cutoff, findings)
    patch = task.ground_truth_patch
    merge = patch.merge if isinstance(patch, PatchSource) else task.merge_commit
    if merge is None:
        findings.warn(
            "merge_commit",
            "no merge commit is named: merged_at cannot be held against a commit",
            "name the merge commit",
        )
        return
    try:
        committed = _committed(task.repo_url, merge, services)
    except RepositoryError as error:
        findings.take_from_repository("merge_commit", error)
        return
    if abs(committed - task.merged_at) > _TOLERANCE:
        findings.add(
            "merged_at",
            f"the file says {_utc(task.merged_at)}, the commit {merge} is of {_utc(committed)}",
            "write the date of the merge",
        )
    elif findings.passed:  # one date too early is told once
        _check_date(committed, "merge_commit", cutoff, findings)


def _check_date(date: datetime, field: str, cutoff: datetime, findings: Findings) -> None:
    if date <= cutoff:
        findings.add(
            field,
            f"merged at {_utc(date)}, not after the dataset's cutoff {_utc(cutoff)}",
            "choose a pull request that was merged later: models may know this one",
        )


def _committed(url: str, commit: str, services: Services) -> datetime:
    def read(git_dir: Path) -> datetime:
        shown = run_git("show", "--no-patch", "--format=%cI", commit, git_dir=git_dir)
        return datetime.fromisoformat(shown.decode().strip())

    return services.cache.reading(url, [commit], read)


def _utc(date: datetime) -> str:
    return date.astimezone(UTC).isoformat().replace("+00:00", "Z")
