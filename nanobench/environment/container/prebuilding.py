"""Images of tasks built ahead, and pushed to where runs look for them (NANOBENCH_IMAGES)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from nanobench.environment.container.devcontainer import Build
from nanobench.environment.container.engine import Engine, failure, talking
from nanobench.environment.container.environment import find_recipe
from nanobench.environment.container.images import REPOSITORY, Images, build_input
from nanobench.model.task import Task
from nanobench.workspace.snapshot import Snapshot

_REMEDY = "sign in to the registry with `docker login`, and check the repository's name"


@dataclass(frozen=True)
class Prebuilt:
    """An image of a task: its id here, and its name with digest in the registry if pushed."""

    task_id: str
    image: str
    pushed: str | None


def prebuild(
    engine: Engine,
    task: Task,
    snapshot: Snapshot,
    repository: str | None,
    environ: Mapping[str, str] = os.environ,
) -> Prebuilt | None:
    """Have the image of a container task, from the registry if it has it; null if it names one.

    Args:
        engine: of this machine.
        task: is run in containers.
        snapshot: its base commit.
        repository: where to push the image; null: nowhere.
        environ: names proxies and certificates for the build.

    Raises:
        InvalidInputError: the task's description of its container is wrong.
        EnvironmentSetupError: the image cannot be built or pushed.
    """
    recipe = find_recipe(task, snapshot, default_image="none")
    if not isinstance(recipe.source, Build):
        return None
    inputs = build_input(recipe.source, snapshot, engine.architecture)
    asked = {**environ, "NANOBENCH_IMAGES": repository} if repository else environ
    images = Images(engine, asked)
    image = images.built(inputs, snapshot)
    if repository is None:
        return Prebuilt(task.task_id, image, None)
    _push(engine, repository, inputs.tag)
    digests = images.describe(image).get("RepoDigests") or ()
    own = [name for name in digests if name.startswith(f"{repository}@")]
    return Prebuilt(task.task_id, image, own[0] if own else f"{repository}:{inputs.tag}")


def _push(engine: Engine, repository: str, tag: str) -> None:
    with talking(f"push the image to {repository}", _REMEDY):
        engine.api.tag(f"{REPOSITORY}:{tag}", repository, tag)
        for event in engine.api.push(repository, tag=tag, stream=True, decode=True):
            if "error" in event:
                raise failure(
                    "the image cannot be pushed", str(event["error"]), _REMEDY, repository
                )
