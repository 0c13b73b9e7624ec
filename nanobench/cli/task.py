"""`nanobench task`: stewardship of task files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nanobench.cli.task_extract import extract
from nanobench.cli.task_gate import gate

if TYPE_CHECKING:
    pass


@click.group()
def task() -> None:
    """Extract, gate and keep the task files of the dataset."""


task.add_command(extract)
task.add_command(gate)
