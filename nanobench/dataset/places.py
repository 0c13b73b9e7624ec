"""Where the dataset lies; apart from reading it, which needs the classes of its documents."""

from pathlib import Path
from typing import Final

import nanobench
from nanobench.errors import UsageError

DATASET_FILE: Final = "dataset.json"
AUDIT_FILE: Final = "audit.json"


def find_tasks_dir(chosen: Path | None) -> Path | None:
    """The chosen directory, `tasks` here, or `tasks` of the checkout that this package is in.

    Raises:
        UsageError: the chosen directory is none.
    """
    if chosen is not None:
        if not chosen.is_dir():
            raise UsageError(
                "this is not a directory of task files",
                where=str(chosen),
                remedy="name a directory that holds dataset.json and one folder per repository",
            )
        return chosen
    checkout = Path(nanobench.__file__).resolve().parents[1]
    for root in (Path.cwd(), checkout):
        if (root / "tasks" / DATASET_FILE).is_file():
            return root / "tasks"
    return None
