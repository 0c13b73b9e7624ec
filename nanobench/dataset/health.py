"""Whether the active tasks still are what they were: clone and flakiness, run again (SPEC H6)."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nanobench.dataset.catalog import TaskEntry
from nanobench.dataset.gates.clone import clone_gate
from nanobench.dataset.gates.findings import Findings
from nanobench.dataset.gates.flakiness import RUNS, flakiness_gate
from nanobench.dataset.gates.states import States
from nanobench.dataset.gates.verification import check_written, verification_gate
from nanobench.errors import NanobenchError, RepositoryError
from nanobench.model.gate import GateOutcome
from nanobench.model.health import Health, Proposal, Unchecked
from nanobench.model.task import PatchSource, Task
from nanobench.pipeline.bench import Material, PlannedTask, Services
from nanobench.workspace.cache import ObjectCache
from nanobench.workspace.git import GitError, run_git


@dataclass(frozen=True)
class Look:
    """How tasks are looked at: the services, test runs at a time, and who is told of each step."""

    services: Services
    jobs: int
    told: Callable[[str], None]


def check_health(entries: Sequence[TaskEntry], look: Look) -> Health:
    """Look at every task; what is wrong with one keeps none from being looked at.

    Raises:
        StateError: a directory of ours cannot be used.
    """
    found = [_check(entry, look) for entry in entries]
    return Health(
        healthy=tuple(one for one in found if isinstance(one, str)),
        proposals=tuple(one for one in found if isinstance(one, Proposal)),
        unchecked=tuple(one for one in found if isinstance(one, Unchecked)),
    )


def _check(entry: TaskEntry, look: Look) -> str | Proposal | Unchecked:
    """The id of a healthy task, or what is to be said of another."""
    task = entry.task
    look.told(f"{task.task_id}: clone")
    gone = _cloned_afresh(task, look.services)
    if gone is not None:
        return gone
    clone = Findings("clone", task.task_id)
    material = clone_gate(PlannedTask(task, entry.sha256, "health"), look.services, clone)
    if material is None:
        return Proposal(task_id=task.task_id, reason="other", seen=_seen(clone.outcome()))
    try:
        return _tested(material, look)
    except NanobenchError as error:
        return Unchecked(task_id=task.task_id, because=str(error))


def _cloned_afresh(task: Task, services: Services) -> Proposal | Unchecked | None:
    """Fetch the pinned commits past every cache: a cache would hide that they are gone."""
    patch = task.ground_truth_patch
    commits = [task.base_commit, *([patch.merge] if isinstance(patch, PatchSource) else ())]
    with tempfile.TemporaryDirectory(dir=services.state.runs) as scratch:
        try:
            ObjectCache(Path(scratch)).reading(task.repo_url, commits, lambda git_dir: None)
        except RepositoryError as error:
            if not _answers(task.repo_url):
                return Unchecked(task_id=task.task_id, because=str(error))
            return Proposal(task_id=task.task_id, reason="history_rewritten", seen=(error.what,))
    return None


def _answers(url: str) -> bool:
    """Whether the repository itself can be reached."""
    try:
        run_git("ls-remote", "--quiet", "--", url, "HEAD", user_config=True)
    except GitError:
        return False
    return True


def _tested(material: Material, look: Look) -> str | Proposal:
    task = material.task
    outputs = look.services.state.part("gates") / task.task_id
    runs = States(material, look.services, outputs, look.jobs).run(range(1, RUNS + 1), look.told)
    flakiness = Findings("flakiness", task.task_id)
    flakiness_gate(runs, flakiness)
    if not flakiness.passed:
        return Proposal(task_id=task.task_id, reason="flaky", seen=_seen(flakiness.outcome()))
    verification = Findings("verification", task.task_id)
    expected = verification_gate(runs["base"][0], runs["golden"][0], verification)
    if expected is not None:
        check_written(task, expected, verification)
    if not verification.passed:
        return Proposal(task_id=task.task_id, reason="other", seen=_seen(verification.outcome()))
    return task.task_id


def _seen(outcome: GateOutcome) -> tuple[str, ...]:
    return tuple(
        f"{problem.field}: {problem.seen}" if problem.field else problem.seen
        for problem in outcome.problems
        if problem.severity == "error"
    )
