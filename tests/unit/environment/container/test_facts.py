"""What an image is said to be: a musl image, an old one, a missing user."""

import pytest

from nanobench.environment.container.facts import _check_node, _owner, _place_and_version
from nanobench.errors import EnvironmentSetupError


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"ours": "sh: node: not found", "musl": "/lib/ld-musl-x86_64.so.1"}, "musl"),
        ({"ours": "node: /lib/libc.so.6: version `GLIBC_2.28' not found"}, "glibc 2.28"),
        ({"ours": "not found", "unseen": "/opt/node"}, "does not see"),
        ({}, "glibc"),
    ],
)
def test_an_image_that_cannot_run_nanocoder_is_refused_with_a_remedy(
    said: dict[str, str], words: str
) -> None:
    with pytest.raises(EnvironmentSetupError, match=words) as refused:
        _check_node(said, "image")
    assert refused.value.remedy


def test_an_image_with_both_libraries_serves() -> None:
    _check_node({"ours": "v24.1.0 ", "musl": "/lib/ld-musl-x86_64.so.1"}, "image")


@pytest.mark.parametrize(
    ("user", "said", "owner"),
    [
        ("", {}, (0, 0)),
        ("1000", {}, (1000, 0)),
        ("1000:1001", {}, (1000, 1001)),
        ("dev", {"uid": "1000", "gid": "100"}, (1000, 100)),
        ("dev:44", {"uid": "1000", "gid": "100"}, (1000, 44)),
    ],
)
def test_users_are_taken_from_the_image(
    user: str, said: dict[str, str], owner: tuple[int, int]
) -> None:
    assert _owner(said, user) == owner


def test_a_user_that_the_image_lacks_is_named() -> None:
    with pytest.raises(EnvironmentSetupError, match="'ghost'"):
        _owner({"uid": "", "gid": ""}, "ghost")


def test_an_interpreter_without_an_answer_is_none() -> None:
    assert _place_and_version("") is None
    assert _place_and_version("Traceback (most recent call last):") is None
    found = _place_and_version("v22.1.0 /usr/bin/node")
    assert found is not None
    assert (str(found[0]), found[1]) == ("/usr/bin/node", "22.1.0")
