"""Directories of small scripts for PATH, each running a program by its absolute path."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from nanobench.environment.once import build_once

Programs = Mapping[str, Sequence[str | Path]]


def write_shims(root: Path, programs: Programs) -> Path:
    """A directory below `root` with a script per program; the same programs, the same place.

    A script is used rather than a link, since programs look beside themselves for their parts.

    Raises:
        StateError: `root` cannot be written.
    """
    commands = {name: [str(part) for part in argv] for name, argv in programs.items()}
    digest = hashlib.sha256(json.dumps(commands, sort_keys=True).encode()).hexdigest()[:16]

    def build(directory: Path) -> None:
        for name, argv in commands.items():
            script = directory / name
            script.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
            script.chmod(0o755)

    return build_once(root / digest, build)
