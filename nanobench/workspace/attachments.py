"""The files that a task attaches to its statement, as they are at the base commit (SPEC T3)."""

import hashlib

from nanobench.errors import HashMismatchError, InvalidInputError
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot

_FILES = (0o100644, 0o100755)


def check_attachments(task: Task, snapshot: Snapshot) -> None:
    """Hold every attachment against its hash; they lie in the workspace like all other files.

    Raises:
        InvalidInputError: there is no regular file of that name at the base commit.
        HashMismatchError: it does not have the hash that the task states.
    """
    for number, attachment in enumerate(task.attachments):
        where = f"task {task.task_id}, attachments[{number}]: {attachment.path}"
        path = attachment.path.encode()
        entry = snapshot.entries.get(path)
        if entry is None or entry.mode not in _FILES:
            raise InvalidInputError(
                "the attachment is no file of the base commit",
                where=where,
                remedy="name a regular file that the repository has at `base_commit`",
            )
        found = hashlib.sha256(snapshot.blob(path)).hexdigest()
        if found != attachment.sha256:
            raise HashMismatchError(
                f"the attachment has the SHA-256 {found}, the task states {attachment.sha256}",
                where=where,
                remedy="a published task's hash never changes: take the file that was meant",
            )
