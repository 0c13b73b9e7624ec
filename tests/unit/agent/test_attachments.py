"""What the agent can be given of a task's attachments."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from nanobench.agent import attachments as module
from nanobench.agent.attachments import (
    CapabilityError,
    check_capability,
    is_image,
    offer_attachments,
)
from nanobench.agent.prompt import build_prompt
from nanobench.model.task import Attachment, Task

IMAGE = Attachment(path="docs/shot.png", media_type="image/PNG", sha256="a" * 64)
TEXT = Attachment(path="docs/trace.txt", media_type="text/plain", sha256="b" * 64)
DRAWING = Attachment(path="docs/x.svg", media_type="image/svg+xml", sha256="c" * 64)
SOUND = Attachment(path="docs/x.wav", media_type="audio/wav", sha256="d" * 64)


def task(*attachments: Attachment, optional: bool = False) -> Task:
    return cast(Task, SimpleNamespace(attachments=attachments, attachments_optional=optional))


def test_what_the_agents_tools_can_read_is_given() -> None:
    offer = offer_attachments(task(TEXT, DRAWING), "1.30.0")
    assert (offer.given, offer.withheld) == ((TEXT, DRAWING), ())
    check_capability(task(TEXT, DRAWING), "1.30.0")


@pytest.mark.parametrize("one", [IMAGE, SOUND])
def test_what_must_be_seen_or_heard_is_an_explicit_error(one: Attachment) -> None:
    with pytest.raises(CapabilityError, match=r"missing capability: Nanocoder 1\.30\.0") as caught:
        check_capability(task(TEXT, one), "1.30.0")
    assert one.path in caught.value.where
    assert TEXT.path not in caught.value.where


def test_a_task_whose_text_suffices_runs_without() -> None:
    optional = task(IMAGE, TEXT, optional=True)
    check_capability(optional, "1.30.0")
    offer = offer_attachments(optional, "1.30.0")
    assert (offer.given, offer.withheld) == ((TEXT,), (IMAGE,))


def test_a_version_that_takes_images_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RUN_TAKES_IMAGES", frozenset({"9.0.0"}))
    offer = offer_attachments(task(IMAGE, SOUND), "9.0.0")
    assert (offer.given, offer.withheld) == ((IMAGE,), (SOUND,))
    assert is_image(offer.given[0])


@pytest.mark.parametrize(
    ("mode", "hints"), [("navigation", ""), ("hinted", "\n\nKey files to focus on:\na.py")]
)
def test_attached_files_stand_below_the_statement_in_both_modes(mode: Any, hints: str) -> None:
    prompt = build_prompt("Fix it.\n", ("a.py",), mode, ["docs/trace.txt"])
    assert prompt == "Fix it.\n\nAttached files:\ndocs/trace.txt" + hints
