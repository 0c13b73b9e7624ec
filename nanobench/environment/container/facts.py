"""What an image offers to commands, found out by running one in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanobench.environment import compilers
from nanobench.environment.container.sandbox import ContainerSandbox
from nanobench.environment.runtimes import Found, ImageTools
from nanobench.environment.sandbox import Command, Mount
from nanobench.environment.tool_run import log_tail
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import EnvironmentSetupError

PROBE_SECONDS = 120.0
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PYTHON = "import sys,platform as p;print(p.python_version(),sys.executable)"
# Prints `name value` lines. $1 Node, $2 uv, $3 the wanted Python or nothing, $4 the user's name.
_SCRIPT = f"""
for libc in /lib/ld-musl-*; do [ ! -e "$libc" ] || echo "musl $libc"; done
if [ -n "$4" ]; then
  echo "uid $(id -u "$4" 2>/dev/null)"
  echo "gid $(id -g "$4" 2>/dev/null)"
fi
[ -e "$1" ] || echo "unseen $1"
echo "ours $("$1" --version 2>&1 | tr '\\n' ' ')"
if command -v node >/dev/null; then echo "node $(node --version) $(command -v node)"; fi
if command -v go >/dev/null; then echo "go $(go version)"; fi
if command -v rustc >/dev/null; then echo "rust $(rustc --version)"; fi
if command -v java >/dev/null; then echo "java $(java -version 2>&1 | grep version)"; fi
python=$(command -v python3 || command -v python)
if [ -n "$3" ]; then
  python=$("$2" python find --no-project --no-config --system --no-python-downloads "$3")
fi
if [ -n "$python" ]; then echo "python $("$python" -I -c '{_PYTHON}')"; fi
exit 0
"""
_NUMBERS = re.compile(r"\d+(\.\d+)*")
_NODE = re.compile(r"v\d+\.\d+\.\d+\s*")


@dataclass(frozen=True)
class Facts:
    """What was found in an image; `owner` is its own user and group, in numbers."""

    tools: ImageTools
    owner: tuple[int, int]


@dataclass(frozen=True)
class Question:
    """What is asked of an image.

    Args:
        described: the image as the engine describes it.
        python: the version that the task asks for; empty for any.
        user: the image's user, as `NAME[:GROUP]`; empty for root.
    """

    described: Mapping[str, Any]
    python: str
    user: str


def find_facts(sandbox: ContainerSandbox, toolchain: Toolchain, asked: Question) -> Facts:
    """Run a probe in an image; the toolchain's Node must run there.

    Raises:
        EnvironmentSetupError: Nanocoder's Node cannot run there, nothing can, or the image has
            no such user.
    """
    variables = (line.partition("=") for line in asked.described["Config"].get("Env") or ())
    path = {name: value for name, _, value in variables}.get("PATH") or DEFAULT_PATH
    said = _probe(sandbox, toolchain, asked, path)
    _check_node(said, sandbox.image)
    tools = ImageTools(
        path=tuple(Path(part) for part in path.split(":") if part),
        python=_place_and_version(said.get("python", "")),
        node=_place_and_version(said.get("node", "")),
        compilers={
            name: found[0]
            for name in compilers.NAMES
            if (found := _NUMBERS.search(said.get(name, "")))
        },
    )
    return Facts(tools, _owner(said, asked.user))


def _probe(
    sandbox: ContainerSandbox, toolchain: Toolchain, asked: Question, path: str
) -> dict[str, str]:
    name = asked.user.partition(":")[0]
    with sandbox.ledger.directory() as place:
        stdout, stderr = place / "stdout", place / "stderr"
        tools = (str(toolchain.node), str(toolchain.uv))
        result = sandbox.run(
            Command(
                argv=("/bin/sh", "-c", _SCRIPT, "probe", *tools, asked.python, name),
                cwd="/",
                env={
                    "PATH": path,
                    "HOME": "/tmp",  # noqa: S108 - the container's own
                    "UV_CACHE_DIR": "/tmp/uv",  # noqa: S108
                    "UV_PYTHON_INSTALL_DIR": str(toolchain.runtime / "python"),
                },
                timeout_seconds=PROBE_SECONDS,
                stdout=stdout,
                stderr=stderr,
            ),
            [Mount(root, str(root)) for root in toolchain.read_only_roots()],
        )
        if result.exit_code != 0:
            raise EnvironmentSetupError(
                f"nothing can be run in the image {sandbox.image}",
                where=log_tail(stdout, stderr),
                remedy="choose an image with a POSIX shell and the usual commands",
            )
        lines = stdout.read_text(errors="replace").splitlines()
    return {name: value for name, _, value in (line.partition(" ") for line in lines)}


def _owner(said: Mapping[str, str], user: str) -> tuple[int, int]:
    """A user in numbers, as the image's own list of users has it."""
    if not user:
        return 0, 0
    name, _, group = user.partition(":")
    uid = name if name.isdecimal() else said.get("uid", "")
    gid = group if group.isdecimal() else said.get("gid", "") or "0"
    if not uid.isdecimal() or (not name.isdecimal() and not gid.isdecimal()):
        raise EnvironmentSetupError(
            f"the image has no user {name!r}",
            remedy="name one that it has: `remoteUser` of the devcontainer, USER of the Dockerfile",
        )
    return int(uid), int(gid)


def _check_node(said: Mapping[str, str], image: str) -> None:
    if _NODE.fullmatch(said.get("ours", "")):
        return
    where = f"image {image}: {said.get('ours', '').strip()}"
    if "musl" in said:
        raise EnvironmentSetupError(
            "Nanocoder's Node cannot run in this image: its C library is musl, and not glibc",
            where=where,
            remedy="choose an image of a distribution with glibc (Debian, Ubuntu, Fedora, ...), "
            "for example the one without `-alpine` in its name",
        )
    if "unseen" in said:
        raise EnvironmentSetupError(
            "the container engine does not see this machine's files",
            where=said["unseen"],
            remedy="use an engine on this machine that may see them (Docker Desktop: File sharing)",
        )
    raise EnvironmentSetupError(
        "Nanocoder's Node cannot run in this image: it takes glibc 2.28 or later",
        where=where,
        remedy="choose an image of a newer distribution",
    )


def _place_and_version(said: str) -> Found:
    parts = said.split()
    if len(parts) != 2:
        return None
    version, place = parts
    return Path(place), version.removeprefix("v")
