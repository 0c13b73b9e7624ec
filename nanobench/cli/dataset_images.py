"""`nanobench dataset images`: the images of container tasks, built ahead."""

from __future__ import annotations

from pathlib import Path

import click

from nanobench.cli.options import json_option, state_dir_option, tasks_dir_option, tasks_option
from nanobench.errors import UsageError


@click.command()
@tasks_option
@click.option(
    "--push",
    "repository",
    metavar="REPOSITORY",
    help="Push every image there, e.g. ghcr.io/owner/images; its tag is the hash of its inputs.",
)
@tasks_dir_option
@state_dir_option
@json_option
def images(
    tasks: tuple[str, ...],
    repository: str | None,
    tasks_dir: Path | None,
    state_dir: Path | None,
    as_json: bool,
) -> None:
    """Build the images of container tasks, and push them.

    An image that the repository has already is pulled, not built. A run finds it there with
    NANOBENCH_IMAGES=REPOSITORY, by the same hash. Tasks that name an image have nothing to build.

    Exit codes: 0 all are there, 2 usage, 3 a task's container is described wrongly, 4 an image
    cannot be built or pushed.
    """
    import json
    from dataclasses import asdict

    from nanobench.dataset.catalog import Catalog, find_tasks_dir
    from nanobench.dataset.selectors import select
    from nanobench.environment.container.engine import connect
    from nanobench.environment.container.prebuilding import prebuild
    from nanobench.files import StateDirectory
    from nanobench.workspace.cache import ObjectCache
    from nanobench.workspace.snapshot import SnapshotStore

    directory = find_tasks_dir(tasks_dir)
    if directory is None:
        raise UsageError("there is no task directory", remedy="name one with --tasks-dir")
    state = StateDirectory.locate(state_dir)
    snapshots = SnapshotStore(state.snapshots, ObjectCache(state.repositories))
    chosen = [entry.task for entry in select(tasks, Catalog.open(directory, state))]
    wanted = [task for task in chosen if task.environment.strategy == "container"]
    engine, found = (connect() if wanted else None), []
    for task in wanted:
        assert engine is not None  # noqa: S101 - there are tasks
        snapshot = snapshots.get(task.repo_url, task.base_commit)
        built = prebuild(engine, task, snapshot, repository)
        if built is not None:
            found.append(built)
            if not as_json:
                click.echo(f"{built.task_id}: {built.pushed or built.image}")
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], indent=2))
    elif not found:
        click.echo(f"none of {len(chosen)} tasks has an image to build")
