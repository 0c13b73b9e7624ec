"""Which of a task's attachments the agent can be given (SPEC 12)."""

from dataclasses import dataclass

from nanobench.environment.packages import release_of
from nanobench.errors import InfrastructureError
from nanobench.model.task import Attachment, Task

# Versions of Nanocoder whose `run` sends images. In 1.29.0 and 1.30.0 the first message is the
# prompt's text alone (`plain/shell.js`), a path or an `@mention` in it stays text, and `read_file`
# gives bytes as text. Only the interactive interface and the editor protocol carry images.
_RUN_TAKES_IMAGES: frozenset[str] = frozenset()
_UNREADABLE = ("audio/", "video/")


class CapabilityError(InfrastructureError):
    """The agent cannot be given what the task attaches and does not allow to be left out."""


@dataclass(frozen=True)
class Offer:
    """Attachments that the prompt names, and those left out because text may do."""

    given: tuple[Attachment, ...] = ()
    withheld: tuple[Attachment, ...] = ()


def takes_images(nanocoder: str) -> bool:
    """Whether that version can hand images to the model in a headless run."""
    return release_of(nanocoder) in _RUN_TAKES_IMAGES


def offer_attachments(task: Task, nanocoder: str) -> Offer:
    """Divide the attachments by what that version can take in a headless run."""
    withheld = tuple(one for one in task.attachments if not _can_take(one, nanocoder))
    return Offer(tuple(one for one in task.attachments if one not in withheld), withheld)


def check_capability(task: Task, nanocoder: str) -> None:
    """Refuse to run a task without what it needs.

    Raises:
        CapabilityError: the agent cannot take an attachment, and the task does not allow for that.
    """
    withheld = offer_attachments(task, nanocoder).withheld
    if withheld and not task.attachments_optional:
        raise CapabilityError(
            f"missing capability: Nanocoder {nanocoder} cannot give the model images, sound or "
            "video in a headless run",
            where=", ".join(f"{one.path} ({one.media_type})" for one in withheld),
            remedy="leave the task out (--tasks '!ID'); if its text suffices, the task says so "
            "with `attachments_optional`",
        )


def is_image(attachment: Attachment) -> bool:
    """Whether it has to be seen; SVG is text."""
    kind = attachment.media_type.lower()
    return kind.startswith("image/") and not kind.startswith("image/svg")


def _can_take(attachment: Attachment, nanocoder: str) -> bool:
    if is_image(attachment):
        return takes_images(nanocoder)
    return not attachment.media_type.lower().startswith(_UNREADABLE)
