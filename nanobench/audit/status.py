"""`audit.json` of the dataset: the audits so far, which reports read."""

from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from nanobench.dataset.places import AUDIT_FILE
from nanobench.errors import InvalidInputError
from nanobench.files import write_atomic
from nanobench.model.audit import AuditRound, AuditScore, AuditStatus

STATUS: Final = AUDIT_FILE


def read_status(path: Path) -> AuditStatus:
    """The audits so far; none if there is no file.

    Raises:
        InvalidInputError: it cannot be read, or is no status file of this version.
    """
    try:
        return AuditStatus.from_json(path.read_bytes())
    except FileNotFoundError:
        return AuditStatus()
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        reason = f"is none of this version: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    raise InvalidInputError(
        f"the status of the audit {reason}",
        where=str(path),
        remedy="restore it from the dataset's history",
    )


def record(path: Path, score: AuditScore, at: datetime) -> AuditStatus:
    """Add an audit to the file.

    Raises:
        InvalidInputError: it was recorded before, or answers are missing.
        StateError: the file cannot be written.
    """
    status = read_status(path)
    if score.unanswered:
        raise InvalidInputError(
            "an audit with missing answers is not recorded",
            where=", ".join(f"{name}: {len(items)}" for name, items in score.unanswered.items()),
            remedy="let every reviewer label every item",
        )
    if any(one.score.bundle == score.bundle for one in status.rounds):
        raise InvalidInputError(
            f"the audit of the bundle {score.bundle} is recorded already", where=str(path)
        )
    added = AuditStatus(rounds=(*status.rounds, AuditRound(recorded_at=at, score=score)))
    write_atomic(path, added.to_json())
    return added
