"""Runtimes in a container: the image's own where they fit, NanoBench's Node where it has none."""

from pathlib import Path
from typing import Any

import pytest

from nanobench.environment.runtimes import ImageTools, image_runtimes
from nanobench.errors import EnvironmentSetupError

PATH = (Path("/opt/image/bin"), Path("/usr/bin"))
PYTHON = (Path("/usr/bin/python3.11"), "3.11.2")


class Tools:
    """A toolchain whose Node is 24, and which remembers what is put on PATH."""

    node_root = Path("/tools/node")
    node_version = "24.1.0"
    programs: dict[str, Any]

    def bin(self) -> Path:
        return Path("/tools/bin")

    def shims(self, programs: dict[str, Any]) -> Path:
        self.programs = programs
        return Path("/tools/shims")


@pytest.fixture
def tools() -> Any:
    return Tools()


def test_the_images_tools_come_before_ours(tools: Any) -> None:
    node = (Path("/usr/bin/node"), "22.5.1")
    found = image_runtimes(tools, {"node": "22"}, ImageTools(PATH, PYTHON, node))
    assert found.path == (Path("/tools/shims"), *PATH, Path("/tools/bin"))
    assert tools.programs == {}
    assert found.versions == {"python": "3.11.2", "node": "22.5.1"}
    assert found.python == PYTHON[0]


def test_a_named_python_is_pinned(tools: Any) -> None:
    image_runtimes(tools, {"python": ">=3.11"}, ImageTools(PATH, PYTHON, None))
    assert tools.programs["python"] == tools.programs["python3"] == [PYTHON[0]]


def test_our_node_serves_where_the_images_does_not_fit(tools: Any) -> None:
    for node in (None, (Path("/usr/bin/node"), "18.19.0")):
        found = image_runtimes(tools, {"node": ">=24"}, ImageTools(PATH, None, node))
        assert found.versions["node"] == "24.1.0"
        assert tools.programs["node"] == [Path("/tools/node/bin/node")]
        assert found.python is None


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"python": "3.12"}, r"no Python 3\.12"),
        ({"go": "1.24"}, "the image has 1.19.8"),
        ({"rust": "1.80"}, "the image has none"),
    ],
)
def test_what_the_image_lacks_is_told(tools: Any, wanted: dict[str, str], words: str) -> None:
    has = ImageTools(PATH, None, None, {"go": "1.19.8"})
    with pytest.raises(EnvironmentSetupError, match=words) as told:
        image_runtimes(tools, wanted, has)
    assert "--image" in told.value.remedy


def test_compilers_of_the_image_are_known_by_their_version(tools: Any) -> None:
    has = ImageTools(PATH, None, None, {"go": "1.24.2", "java": "17.0.9"})
    found = image_runtimes(tools, {"go": ">=1.21"}, has)
    assert found.versions["go"] == "1.24.2"
    assert found.compilers == ("go",)
