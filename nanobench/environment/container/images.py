"""Images: named by the hash of all that they are made of, pulled or built once."""

import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from nanobench.environment.container.devcontainer import Build
from nanobench.environment.container.dockerfile import (
    CERTIFICATES,
    check_dockerfile,
    trusting,
)
from nanobench.environment.container.engine import Engine, failure, talking
from nanobench.environment.install import CERTIFICATE_VARIABLES, NETWORK_VARIABLES
from nanobench.errors import EnvironmentSetupError, InvalidInputError
from nanobench.model.base import canonical_json
from nanobench.workspace.snapshot import Entry, Snapshot

REPOSITORY = "nanobench-task"
LABEL_IMAGE = "nanobench.image"
IMAGE_SCHEMA = "1"
TAIL = 2000
BUILD_REMEDY = "mend the Dockerfile, or check the connection to the registries that it uses"
_BATCH = 500
_LINK, _SUBMODULE = 0o120000, 0o160000


@dataclass(frozen=True)
class BuildInput:
    """Everything that an image is built from; the same input, the same name everywhere."""

    build: Build
    dockerfile: str
    context: Mapping[bytes, Entry]
    architecture: str

    @property
    def tag(self) -> str:
        """The hash of the input, as an image's tag.

        What the machine adds (proxies, certificates) is no part of it.
        """
        parts = {
            "schema": IMAGE_SCHEMA,
            "dockerfile": self.dockerfile,
            "args": dict(self.build.args),
            "target": self.build.target,
            "architecture": self.architecture,
            "context": [
                [path.decode(errors="surrogateescape"), entry.mode, entry.sha]
                for path, entry in sorted(self.context.items())
            ],
        }
        digest = hashlib.sha256(ascii(canonical_json(parts)).encode())
        return digest.hexdigest()[:32]


def build_input(build: Build, snapshot: Snapshot, architecture: str) -> BuildInput:
    """Read a Dockerfile and list its context, all at the base commit.

    Raises:
        InvalidInputError: there is no such file or directory, or no image can come of it.
    """
    path = os.fsencode(build.dockerfile)
    entry = snapshot.entries.get(path)
    if entry is None or entry.mode in (_LINK, _SUBMODULE):
        raise InvalidInputError(
            "the base commit has no such Dockerfile",
            where=build.dockerfile,
            remedy="name a file of the repository in the task's `environment`",
        )
    dockerfile = snapshot.blob(path).decode(errors="replace")
    check_dockerfile(dockerfile, build.dockerfile, build.target)
    prefix = b"" if build.context == "." else os.fsencode(build.context) + b"/"
    inside = {
        path.removeprefix(prefix): entry
        for path, entry in snapshot.entries.items()
        if path.startswith(prefix) and entry.mode != _SUBMODULE
    }
    if not inside:
        raise InvalidInputError(
            "the build's context is empty",
            where=build.context,
            remedy="name a directory of the repository",
        )
    ignore = prefix + b".dockerignore"
    patterns = snapshot.blob(ignore).decode(errors="replace") if ignore in snapshot.entries else ""
    return BuildInput(
        build=build,
        dockerfile=dockerfile,
        context=_without_ignored(inside, patterns),
        architecture=architecture,
    )


def _without_ignored(entries: Mapping[bytes, Entry], patterns: str) -> Mapping[bytes, Entry]:
    lines = [line.strip() for line in patterns.splitlines()]
    wanted = [line for line in lines if line and not line.startswith("#")]
    if not wanted:
        return entries
    from docker.utils.build import PatternMatcher

    matcher: Any = PatternMatcher(wanted)  # its stubs ask for paths, it takes text
    return {
        path: entry for path, entry in entries.items() if not matcher.matches(os.fsdecode(path))
    }


class Images:
    """Gets images for tasks: there already, prebuilt in a registry, or built here."""

    def __init__(self, engine: Engine, environ: Mapping[str, str] = os.environ) -> None:
        self._engine = engine
        self._environ = environ

    def built(self, inputs: BuildInput, snapshot: Snapshot) -> str:
        """The id of a built image. A registry that NANOBENCH_IMAGES names is asked first.

        Raises:
            EnvironmentSetupError: it cannot be built; the end of the build's output is told.
        """
        name = f"{REPOSITORY}:{inputs.tag}"
        found = self._find(name) or self._prebuilt(inputs.tag, name)
        if found is None:
            self._engine.check_space()
            self._build(inputs, snapshot, name)
            found = self._find(name)
        if found is None:
            raise EnvironmentSetupError("the image vanished after its build", where=name)
        return self._checked(found, name)

    def named(self, reference: str) -> str:
        """The id of an image that is here under this name, or can be pulled.

        Raises:
            EnvironmentSetupError: it cannot be had, or is made for other processors.
        """
        found = self._find(reference)
        if found is None:
            self._engine.check_space()
            remedy = "check the image's name, and the connection to its registry"
            with talking(f"pull the image {reference}", remedy):
                self._engine.client.images.pull(*_name_and_tag(reference))
            found = self._find(reference)
        if found is None:
            raise EnvironmentSetupError("the image vanished after its pull", where=reference)
        return self._checked(found, reference)

    def describe(self, image: str) -> dict[str, Any]:
        """What the engine knows of an image.

        Raises:
            EnvironmentSetupError: there is no such image.
        """
        with talking(f"look at the image {image}"):
            found: dict[str, Any] = self._engine.api.inspect_image(image)
        return found

    def is_here(self, image: str) -> bool:
        """Whether the engine has an image."""
        return self._find(image) is not None

    def _find(self, reference: str) -> dict[str, Any] | None:
        from docker.errors import ImageNotFound

        with talking(f"look for the image {reference}"):
            try:
                found: dict[str, Any] = self._engine.api.inspect_image(reference)
            except ImageNotFound:
                return None
        return found

    def _checked(self, found: Mapping[str, Any], name: str) -> str:
        made_for = found.get("Architecture")
        if made_for != self._engine.architecture:
            raise EnvironmentSetupError(
                f"the image is made for {made_for}, this machine is {self._engine.architecture}",
                where=name,
                remedy="choose an image for this machine, or run on the image's kind of machine",
            )
        return str(found["Id"])

    def _prebuilt(self, tag: str, name: str) -> dict[str, Any] | None:
        """The same image from the registry that the user named, if it has it."""
        repository = self._environ.get("NANOBENCH_IMAGES")
        if not repository:
            return None
        try:
            with talking("ask for a prebuilt image"):
                self._engine.client.images.pull(repository, tag=tag)
                self._engine.api.tag(f"{repository}:{tag}", *name.split(":"))
        except EnvironmentSetupError:
            return None  # not prebuilt: it is built here
        return self._find(name)

    def _build(self, inputs: BuildInput, snapshot: Snapshot, name: str) -> None:
        certificates = _certificates(self._environ)
        dockerfile = inputs.dockerfile
        args = {
            key: value
            for key in NETWORK_VARIABLES
            if (value := self._environ.get(key)) and key.lower().endswith("_proxy")
        }
        if certificates:
            dockerfile = trusting(dockerfile)
        said: list[str] = []
        with tempfile.TemporaryFile() as archive:
            extra = {"nanobench.Dockerfile": dockerfile.encode(), CERTIFICATES: certificates}
            _write_context(archive, inputs.context, snapshot, inputs.build.context, extra)
            archive.seek(0)
            with talking("build the task's image", BUILD_REMEDY, inputs.build.dockerfile):
                for event in self._engine.api.build(
                    fileobj=archive,
                    custom_context=True,
                    dockerfile="nanobench.Dockerfile",
                    tag=name,
                    rm=True,
                    forcerm=True,
                    decode=True,
                    target=inputs.build.target,
                    buildargs={**args, **inputs.build.args},
                    labels={LABEL_IMAGE: inputs.tag},
                ):
                    said.append(str(event.get("stream") or event.get("error") or ""))
                    if "error" in event:
                        raise failure(
                            "the task's image cannot be built",
                            "".join(said)[-TAIL:],
                            BUILD_REMEDY,
                            inputs.build.dockerfile,
                        )


def _certificates(environ: Mapping[str, str]) -> bytes:
    """The bundle that the machine's own programs are told to trust, if they are told one."""
    for name in CERTIFICATE_VARIABLES:
        path = Path(environ.get(name) or "/")
        if path.is_file():
            return path.read_bytes()
    return b""


def _write_context(
    archive: IO[bytes],
    context: Mapping[bytes, Entry],
    snapshot: Snapshot,
    below: str,
    extra: Mapping[str, bytes],
) -> None:
    """A tar of the base commit's own files; nothing on this machine's disk is looked at."""
    prefix = b"" if below == "." else os.fsencode(below) + b"/"
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, entry, content in _contents(context, snapshot, prefix):
            info = tarfile.TarInfo(os.fsdecode(path))
            info.mode = entry.mode & 0o777 or 0o777
            if entry.mode == _LINK:
                info.type, info.linkname = tarfile.SYMTYPE, os.fsdecode(content)
                tar.addfile(info)
                continue
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for name, content in extra.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o644
            tar.addfile(info, io.BytesIO(content))


def _contents(
    context: Mapping[bytes, Entry], snapshot: Snapshot, prefix: bytes
) -> Iterator[tuple[bytes, Entry, bytes]]:
    paths = sorted(context)
    for start in range(0, len(paths), _BATCH):
        batch = paths[start : start + _BATCH]
        blobs = snapshot.blobs(prefix + path for path in batch)
        for path in batch:
            yield path, context[path], blobs[prefix + path]


def _name_and_tag(reference: str) -> tuple[str, str | None]:
    """Name and tag or digest; the engine would pull every tag of a bare name."""
    if "@" in reference:
        name, _, digest = reference.partition("@")
        return name, digest
    name, colon, tag = reference.rpartition(":")
    return (name, tag) if colon and "/" not in tag else (reference, "latest")
