"""A look at how much a running command has written, where no quota can be had."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

WATCH_SECONDS = 0.5
RESERVE_BYTES = 1 << 30
MOST_FILES = 3_000_000
_STEP_BYTES = 1 << 28
_STEP_FILES = 100_000
_BLOCK = 512  # st_blocks counts these on every system


class DiskWatch:
    """Says when a command must be ended, so that the disk and the other commands live.

    The command's directories are measured only when their file system has lost space since
    the last time. They may hold `limit` bytes, or the reserve when no more than that is free;
    with half of the reserve left nobody may go on, since a file that is open but has no name
    cannot be measured.
    """

    def __init__(self, places: Sequence[Path], limit: int) -> None:
        self._places = tuple(places)
        self._limit = limit
        self._seen = self._free()
        self.exceeded = ""
        self.others = False

    def look(self) -> bool:
        """Whether too much was written; `exceeded` says what, `others` that others did it."""
        free = self._free()
        if free is None or self._seen is None or self.exceeded:
            return bool(self.exceeded)
        lost = self._seen[0] - free[0], self._seen[1] - free[1]
        step = min(_STEP_BYTES, self._limit // 4)
        if lost[0] < step and lost[1] < _STEP_FILES and free[0] >= RESERVE_BYTES // 2:
            return False
        self._seen = free
        size, files = self._measure()
        if size > self._limit:
            self.exceeded = f"its directories hold more than {self._limit} bytes"
        elif files > MOST_FILES:
            self.exceeded = f"its directories hold more than {MOST_FILES} files"
        elif lost[0] > 0 and (
            free[0] < RESERVE_BYTES // 2 or (free[0] < RESERVE_BYTES and size > RESERVE_BYTES)
        ):
            self.exceeded = "the disk is full"
            self.others = size <= RESERVE_BYTES
        return bool(self.exceeded)

    def _free(self) -> tuple[int, int] | None:
        """Bytes and files that the first place's file system still takes."""
        try:
            seen = os.statvfs(self._places[0])
        except (IndexError, OSError):
            return None
        return shutil.disk_usage(self._places[0]).free, seen.f_favail

    def _measure(self) -> tuple[int, int]:
        size = files = 0
        for place in self._places:
            for directory, _, names, descriptor in os.fwalk(os.fsencode(place)):
                del directory
                for name in names:
                    try:
                        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                    except OSError:
                        continue
                    size += status.st_blocks * _BLOCK
                    files += 1
        return size, files
