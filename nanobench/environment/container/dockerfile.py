"""What the text of a Dockerfile shows before it is built, and what the machine adds to it."""

import re
from collections.abc import Iterator

from nanobench.environment.install import CERTIFICATE_VARIABLES
from nanobench.errors import InvalidInputError

CERTIFICATES = "nanobench-certificates.pem"
CERTIFICATES_PATH = f"/usr/local/share/{CERTIFICATES}"
_FROM = re.compile(r"^[ \t]*FROM[ \t]", re.IGNORECASE)
_STAGE = re.compile(r"^\s*FROM\s.*\sAS\s+(\S+)\s*$", re.IGNORECASE)
_FLAGS = re.compile(r"^\s*(RUN|COPY|ADD)((?:\s+--[a-z]+(?:=\S*)?)+)", re.IGNORECASE)
_HEREDOC = re.compile(r"^\s*(?:RUN|COPY|ADD)\s.*<<-?[\"']?([A-Za-z_]\w*)[\"']?", re.IGNORECASE)
# All others are BuildKit's.
_CLASSIC_FLAGS = {"RUN": set[str](), "COPY": {"--from", "--chown"}, "ADD": {"--chown"}}


def check_dockerfile(text: str, path: str, target: str | None) -> None:
    """Refuse what no build of the classic builder could end well with.

    Args:
        text: its content.
        path: its place in the repository, for the message.
        target: the stage that is asked for; null for the last.

    Raises:
        InvalidInputError: it begins no image, lacks the stage, or uses parts of BuildKit.
    """
    lines = list(_instructions(text))
    if not any(_FROM.match(line) for line in lines):
        raise InvalidInputError(
            "the Dockerfile has no FROM", where=path, remedy="name a Dockerfile that has one"
        )
    stages = [found[1].lower() for line in lines if (found := _STAGE.match(line))]
    if target and not target.isdecimal() and target.lower() not in stages:
        raise InvalidInputError(
            f"the Dockerfile has no stage {target!r}",
            where=path,
            remedy=f"its stages are: {', '.join(stages) or 'none with a name'}",
        )
    beyond = sorted({*_foreign_flags(lines), *_heredocs(text)})
    if beyond:
        raise InvalidInputError(
            f"the Dockerfile needs BuildKit, which is not used: {', '.join(beyond)}",
            where=path,
            remedy="write it without them, or name an image that was built with them",
        )


def _instructions(text: str) -> Iterator[str]:
    """Its instructions, each in one line, without comments."""
    kept = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    yield from re.sub(r"\\[ \t]*\n", " ", "\n".join(kept)).splitlines()


def _foreign_flags(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if found := _FLAGS.match(line):
            name = found[1].upper()
            flags = {flag.partition("=")[0].lower() for flag in found[2].split()}
            yield from (f"{name} {flag}" for flag in flags - _CLASSIC_FLAGS[name])


def _heredocs(text: str) -> Iterator[str]:
    """Those that end; the shell's own `<<` between numbers does not."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = _HEREDOC.match(line)
        if found and any(later.strip() == found[1] for later in lines[number + 1 :]):
            yield f"<<{found[1]}"


def trusting(dockerfile: str) -> str:
    """A Dockerfile whose commands trust the certificates that this machine trusts.

    They are ARGs, so that nothing of it stays in the environment of what runs on the image.
    """
    added = [f"COPY {CERTIFICATES} {CERTIFICATES_PATH}"]
    added += [
        f"ARG {name}={CERTIFICATES_PATH}" for name in CERTIFICATE_VARIABLES if name[-3:] != "DIR"
    ]
    lines: list[str] = []
    continued = inside_from = False
    for line in dockerfile.splitlines():
        inside_from = inside_from if continued else bool(_FROM.match(line))
        continued = line.rstrip().endswith("\\")
        lines.append(line)
        if inside_from and not continued:
            lines += added
            inside_from = False
    return "\n".join(lines) + "\n"
