"""The way out of a sandbox without network: a loopback port that leads to the gateway (DESIGN 8).

The gateway listens on a unix socket in the agent's run directory, which every sandbox shows; a
forwarder inside gives the agent the loopback address that its provider needs. It is started
around the agent and ends with it.
"""

import functools
import importlib.resources
from collections.abc import Sequence
from pathlib import Path

PORT = 20202  # of the sandbox's own loopback, below the ports that systems hand out
SOCKET = "gateway.sock"


def inner_url(key: str) -> str:
    """The address of a route of the gateway, without its prefix, as the agent sees it."""
    return f"http://127.0.0.1:{PORT}/{key}"


def forwarded(node: Path, run_path: str, argv: Sequence[str]) -> tuple[str, ...]:
    """A command that runs `argv` with the forwarder beside it.

    Args:
        node: the executable that runs the forwarder.
        run_path: the run directory as commands see it.
        argv: an absolute path of a program, and its arguments.
    """
    return (str(node), "-e", _source(), "--", f"{run_path}/{SOCKET}", str(PORT), *argv)


@functools.cache
def _source() -> str:
    """Given as an argument, so that no file has to be shown in a sandbox or an image."""
    return importlib.resources.files("nanobench.agent").joinpath("forwarder.cjs").read_text()
