"""Images: the name follows everything that they are made of, and nothing of the machine."""

import io
import tarfile
from collections.abc import Callable
from typing import Any

import pytest

from nanobench.environment.container.devcontainer import Build
from nanobench.environment.container.dockerfile import CERTIFICATES
from nanobench.environment.container.images import (
    _name_and_tag,
    _write_context,
    build_input,
)
from nanobench.errors import InvalidInputError

Tree = Callable[[dict[str, Any]], Any]
FILES = {"Dockerfile": "FROM debian AS dev\n", "src/a.py": "1", "docs/b.md": "2"}


def tag(tree: Any, build: Build = Build("Dockerfile"), architecture: str = "amd64") -> str:  # noqa: B008
    return build_input(build, tree, architecture).tag


def test_the_same_input_has_the_same_name(tree: Tree) -> None:
    assert tag(tree(FILES)) == tag(tree(dict(reversed(FILES.items()))))


@pytest.mark.parametrize(
    "changed",
    [
        {"Dockerfile": "FROM ubuntu\n"},
        {"src/a.py": "3"},
        {"src/a.py": (0o100755, "1")},
        {"new": ""},
    ],
)
def test_each_change_of_the_input_gives_another_name(tree: Tree, changed: dict[str, Any]) -> None:
    assert tag(tree({**FILES, **changed})) != tag(tree(FILES))


def test_arguments_target_and_processor_are_inputs(tree: Tree) -> None:
    here = tree(FILES)
    builds = [
        Build("Dockerfile"),
        Build("Dockerfile", args={"A": "1"}),
        Build("Dockerfile", target="dev"),
        Build("Dockerfile", context="src"),
    ]
    names = {tag(here, build) for build in builds} | {tag(here, architecture="arm64")}
    assert len(names) == 5


def test_ignored_files_are_no_input(tree: Tree) -> None:
    ignore = {".dockerignore": "# notes\ndocs\n\n!docs/kept.md\n"}
    without = tag(tree({**FILES, **ignore}))
    assert tag(tree({**FILES, **ignore, "docs/b.md": "other"})) == without
    assert tag(tree({**FILES, **ignore, "docs/kept.md": "other"})) != without


@pytest.mark.parametrize(
    "build", [Build("missing"), Build("link"), Build("Dockerfile", context="nowhere")]
)
def test_a_build_that_the_base_commit_lacks_is_the_inputs_fault(tree: Tree, build: Build) -> None:
    with pytest.raises(InvalidInputError) as refused:
        build_input(build, tree({**FILES, "link": (0o120000, "/etc/passwd")}), "amd64")
    assert refused.value.where
    assert refused.value.remedy


def test_the_context_holds_the_commits_files_and_links_as_they_are(tree: Tree) -> None:
    here = tree(
        {
            "app/Dockerfile": "FROM x\n",
            "app/run.sh": (0o100755, "#!/bin/sh\n"),
            "app/out": (0o120000, "/etc/shadow"),
            "other": "not in the context",
        }
    )
    inputs = build_input(Build("app/Dockerfile", context="app"), here, "amd64")
    archive = io.BytesIO()
    _write_context(archive, inputs.context, here, "app", {CERTIFICATES: b"PEM"})
    archive.seek(0)
    with tarfile.open(fileobj=archive) as tar:
        members = {member.name: member for member in tar}
    assert set(members) == {"Dockerfile", "run.sh", "out", CERTIFICATES}
    assert members["run.sh"].mode == 0o755
    assert members["out"].issym()
    assert members["out"].linkname == "/etc/shadow"
    assert {member.mtime for member in members.values()} == {0}


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("debian", ("debian", "latest")),
        ("debian:bookworm", ("debian", "bookworm")),
        ("host:5000/a/b", ("host:5000/a/b", "latest")),
        ("host:5000/a/b:c", ("host:5000/a/b", "c")),
        ("a/b@sha256:00", ("a/b", "sha256:00")),
    ],
)
def test_one_image_is_pulled_and_not_all_tags_of_a_name(
    reference: str, parts: tuple[str, str]
) -> None:
    assert _name_and_tag(reference) == parts
