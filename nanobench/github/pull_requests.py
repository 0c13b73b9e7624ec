"""Which pull request a result belongs to, when the result itself cannot be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanobench.errors import InvalidInputError
from nanobench.github.client import Client

if TYPE_CHECKING:
    from nanobench.github.context import TriggeringRun


def verified_number(client: Client, run: TriggeringRun, claimed: int | None) -> int | None:
    """The open pull request whose head is the commit that a run ran at; null if there is none now.

    `workflow_run` events do not name the pull requests of forks, and what their artifacts say was
    written by the fork's code. So GitHub is asked for open pull requests from the run's branch, and
    only one whose head is the run's commit counts. Where several have the same head, the number
    that the artifact claims chooses among them.

    Raises:
        InvalidInputError: the claimed number is another one than the commit's, or several fit.
        InfrastructureError: GitHub refuses or fails.
    """
    head = f"{run.head_owner}:{run.head_branch}"

    def ask() -> list[int]:
        pulls = client.repository.get_pulls(state="open", head=head)
        return sorted(pull.number for pull in pulls if pull.head.sha == run.head_sha)

    found = client.run(ask, "look for the pull request of a run")
    if not found:
        return None
    if claimed is None and len(found) == 1:
        return found[0]
    if claimed in found:
        return claimed
    raise InvalidInputError(
        f"the artifact says pull request {claimed}, and commit {run.head_sha[:12]} is the head of "
        f"{', '.join(map(str, found))}",
        where=f"run {run.run_id}",
        remedy="nothing is posted; an artifact of a fork may say anything",
    )
