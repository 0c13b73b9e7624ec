"""A build of Nanocoder travels beside the plan that names it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanobench.files import StateDirectory
    from nanobench.model.plan import Plan


def put_beside(plan: Plan, state: StateDirectory, directory: Path) -> None:
    """Copy the build that the plan names, if it names one, into the directory of the plan file.

    Raises:
        EnvironmentSetupError: this machine does not have it.
        StateError: it cannot be written.
    """
    from nanobench.environment.toolchain import Toolchain
    from nanobench.files import write_atomic

    archive = Toolchain(state.tools).packed(plan.agent.nanocoder)
    if archive is not None:
        write_atomic(directory / archive.name, archive.read_bytes())


def take_from(directory: Path, plan: Plan, state: StateDirectory) -> None:
    """Keep the build that lies beside the plan file; another one than it names is of no use.

    Raises:
        InvalidInputError: what lies there is no build.
        StateError: it cannot be kept.
    """
    from nanobench.environment.packages import digest_of, file_name
    from nanobench.environment.toolchain import Toolchain

    digest = digest_of(plan.agent.nanocoder)
    if digest and (archive := directory / file_name(digest)).is_file():
        Toolchain(state.tools).take_in(archive)
