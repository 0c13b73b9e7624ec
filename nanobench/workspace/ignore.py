"""What the base commit ignores, asked from git without any file of the agent's."""

import os
import subprocess
from types import TracebackType
from typing import IO, Self

from nanobench.workspace.git import GitError, git_words, hardened_argv, hardened_environment
from nanobench.workspace.snapshot import Snapshot

_FIELDS = 4  # source, line, pattern, path: one answer of `check-ignore -z -v -n`


class IgnoreRules:
    """The `.gitignore` files of a base commit.

    One `git check-ignore` answers question after question; it starts with the first one, and
    not at all when the base ignores nothing.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._process: subprocess.Popen[bytes] | None = None
        self._any = any(path.rpartition(b"/")[2] == b".gitignore" for path in snapshot.entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is None:
            return
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.wait()

    def ignore(self, path: bytes) -> bool:
        """Whether the base ignores an untracked path; a directory's ends with a slash.

        Raises:
            GitError: git cannot answer.
        """
        if not self._any:
            return False
        if self._process is None:
            self._process = self._start()
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        try:
            # `./` keeps a leading colon from being read as pathspec magic.
            self._process.stdin.write(b"./" + path + b"\0")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure(path) from None
        pattern = self._answer(self._process.stdout, path)[2]
        return pattern != b"" and not pattern.startswith(b"!")

    def _start(self) -> subprocess.Popen[bytes]:
        question = ("check-ignore", "--no-index", "--stdin", "-z", "--verbose", "--non-matching")
        return subprocess.Popen(
            hardened_argv(self._snapshot.git_dir, ["--work-tree=.", *question]),
            cwd=self._snapshot.ignore_rules,
            env=hardened_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # out of reach of Ctrl-C
        )

    def _answer(self, stdout: IO[bytes], path: bytes) -> list[bytes]:
        answer = b""
        while answer.count(b"\0") < _FIELDS:
            chunk = os.read(stdout.fileno(), 65536)
            if not chunk:
                raise self._failure(path)
            answer += chunk
        return answer.split(b"\0")

    def _failure(self, path: bytes) -> GitError:
        assert self._process is not None  # noqa: S101
        assert self._process.stderr is not None  # noqa: S101
        return GitError(
            f"git check-ignore failed: {git_words(self._process.stderr.read())}",
            where=os.fsdecode(path),
        )
