"""`nanobench task`: stewardship of task files."""

from __future__ import annotations

import click

from nanobench.cli.task_decisions import approve, retire, rule
from nanobench.cli.task_extract import extract
from nanobench.cli.task_gate import gate
from nanobench.cli.task_show import show


@click.group()
def task() -> None:
    """Extract, gate and keep the task files of the dataset."""


for command in (extract, gate, show, approve, retire, rule):
    task.add_command(command)
