"""The one hierarchy of errors a user can meet.

Each error says what failed, where, and what to do next, and carries the exit code of the
command that met it.
"""

EXIT_OK = 0
EXIT_FAILED = 1  # a real regression or a failed gate
EXIT_USAGE = 2
EXIT_INVALID = 3  # invalid input or contract mismatch
EXIT_INFRASTRUCTURE = 4
EXIT_INTERRUPTED = 130

WHERE_INDENT = "\n" + " " * 9  # joins several places in one `where`, below each other


class NanobenchError(Exception):
    """An error with its place and its remedy.

    Args:
        what: what failed, one sentence without a final full stop.
        where: the file, URL, field or command concerned; empty when there is none.
        remedy: what the reader can do next; empty when nothing can be done.
    """

    exit_code = EXIT_INFRASTRUCTURE

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.remedy:
            lines.append(f"  next:  {self.remedy}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.remedy))


def _rebuild(kind: type[NanobenchError], what: str, where: str, remedy: str) -> NanobenchError:
    return kind(what, where=where, remedy=remedy)


class UsageError(NanobenchError):
    """The command line asks for something that cannot be."""

    exit_code = EXIT_USAGE


class InvalidInputError(NanobenchError):
    """A file, a task or a configuration of the user's is wrong."""

    exit_code = EXIT_INVALID


class ContractError(InvalidInputError):
    """The real Nanocoder does not keep to the pinned report contract."""


class HashMismatchError(InvalidInputError):
    """Pinned text or a pinned patch does not have the hash that the task states."""


class GateError(NanobenchError):
    """A gate, a check or a comparison failed on its merits."""

    exit_code = EXIT_FAILED


class InfrastructureError(NanobenchError):
    """The machine, the network, a registry or a provider failed; never the agent's fault."""

    exit_code = EXIT_INFRASTRUCTURE


class RepositoryError(InfrastructureError):
    """A repository or a commit cannot be had."""


class EnvironmentSetupError(InfrastructureError):
    """A runtime or a task's dependencies cannot be installed."""


class StateError(InfrastructureError):
    """The state or output directory cannot be used (full, read-only, removed, moved)."""


class InterruptedRunError(NanobenchError):
    """The user or the system asked the run to stop."""

    exit_code = EXIT_INTERRUPTED
