"""What result directories hold, read one record after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from nanobench.errors import InvalidInputError
from nanobench.model.plan import Plan
from nanobench.model.record import Record
from nanobench.pipeline.checksums import damaged
from nanobench.pipeline.records import Found, find, first_problem, records_of

_DAMAGED = "is not what it was when its record was written"


@dataclass
class Scan:
    """Result directories, looked through.

    Attributes:
        plan: what was to be run; null if none of them holds a plan.
        problems: what cannot be read, and what lies damaged beside a record, by name; it grows
            while records are read.
    """

    plan: Plan | None
    problems: list[str] = field(default_factory=list)
    _found: list[tuple[Path, Found]] = field(default_factory=list)

    @classmethod
    def of(cls, directories: Sequence[Path]) -> "Scan":
        """Look through `directories`, and read the plan.

        Raises:
            InvalidInputError: a directory is missing, a plan is none, or there are different ones.
        """
        found = [(directory, find(_existing(directory))) for directory in directories]
        plan: Plan | None = None
        for path in (path for _, each in found for path in each.plans):
            other = read_plan(path)
            if plan is not None and other != plan:
                raise InvalidInputError(
                    "these results belong to different plans",
                    where=str(path),
                    remedy="report them apart",
                )
            plan = other
        return cls(plan, _found=found)

    def records(self) -> Iterator[tuple[Path, Record]]:
        """Every record with its path, in a stable order; every attempt of every cell."""
        for directory, found in self._found:
            for place, why in found.unread:
                self._tell(directory, place, why)
            for path, record in records_of(found.attempts):
                if isinstance(record, str):
                    self._tell(directory, path, record)
                    continue
                for name in damaged(path.parent, record):
                    self._tell(directory, path.parent / name, _DAMAGED)
                yield path, record

    def _tell(self, directory: Path, path: Path, why: str) -> None:
        self.problems.append(f"{path.relative_to(directory).as_posix()}: {why}")


def read_plan(path: Path) -> Plan:
    """Read a plan file.

    Raises:
        InvalidInputError: it cannot be read or is no plan.
    """
    try:
        return Plan.from_json(path.read_bytes())
    except OSError as error:
        raise InvalidInputError(
            f"the plan cannot be read: {error.strerror}",
            where=str(path),
            remedy="make one with `nanobench plan`",
        ) from None
    except ValidationError as error:
        raise InvalidInputError(
            f"this is not a plan: {first_problem(error)}",
            where=str(path),
            remedy="make one with `nanobench plan`",
        ) from None


def _existing(directory: Path) -> Path:
    if not directory.is_dir():
        raise InvalidInputError(
            "there are no results here",
            where=str(directory),
            remedy="name the --out directory of a bench",
        )
    return directory
