"""Problems as they are collected by a gate: none stops at the first."""

import re

from nanobench.errors import NanobenchError
from nanobench.model.gate import GateName, GateOutcome, GateProblem, GateStatus

# git's and curl's words for a host that does not answer, which are the same in every language.
_NO_ANSWER = re.compile(
    r"Could not resolve host|Temporary failure in name resolution|Failed to connect|"
    r"Couldn't connect to server|[Tt]imed out|Connection re(fused|set)|Network is unreachable|"
    r"No route to host|Operation too slow|returned error: (429|5\d\d)"
)


class Findings:
    """The problems that one gate finds in one file."""

    def __init__(self, gate: GateName, file: str) -> None:
        self._gate: GateName = gate
        self._file = file
        self._problems: list[GateProblem] = []
        self._ran = True

    def add(self, field: str | None, seen: str, remedy: str) -> None:
        """A problem that has to be put right."""
        self._problems.append(
            GateProblem(gate=self._gate, file=self._file, field=field, seen=seen, remedy=remedy)
        )

    def warn(self, field: str | None, seen: str, remedy: str) -> None:
        """Something that a person should look at; the gate passes."""
        problem = GateProblem(
            gate=self._gate,
            file=self._file,
            field=field,
            seen=seen,
            remedy=remedy,
            severity="warning",
        )
        self._problems.append(problem)

    def take(self, field: str | None, error: NanobenchError) -> None:
        """An error that shows that something is wrong."""
        self.add(field, _told(error), error.remedy or "see docs/task-file.md")

    def take_from_repository(self, field: str, error: NanobenchError) -> None:
        """An error of a repository; if that did not answer, nothing is known of the task."""
        if _NO_ANSWER.search(error.what):
            self.could_not_run(error)
        else:
            self.take(field, error)

    def could_not_run(self, error: NanobenchError) -> None:
        """An error that kept the gate from being run: it has not passed."""
        self.take(None, error)
        self._ran = False

    def has_nothing(self, field: str, seen: str, remedy: str) -> None:
        """There is nothing that the gate could judge: it has not passed."""
        self.add(field, seen, remedy)
        self._ran = False

    @property
    def passed(self) -> bool:
        """Whether it was run and nothing has to be put right."""
        return self.outcome().status == "passed"

    def outcome(self) -> GateOutcome:
        """What became of the gate."""
        wrong = any(problem.severity == "error" for problem in self._problems)
        status: GateStatus = "failed" if wrong else "passed"
        return GateOutcome(
            gate=self._gate,
            status=status if self._ran else "not_run",
            problems=tuple(self._problems),
        )


def not_run(gate: GateName, file: str, because: str) -> GateOutcome:
    """A gate that waits for another one."""
    problem = GateProblem(
        gate=gate, file=file, seen=f"not run: {because}", remedy="put that right first"
    )
    return GateOutcome(gate=gate, status="not_run", problems=(problem,))


def _told(error: NanobenchError) -> str:
    return f"{error.what} ({error.where})" if error.where else error.what
