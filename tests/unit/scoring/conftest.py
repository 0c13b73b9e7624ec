"""Signals for scoring tests: a plain failed run, of which a test states what is different."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from nanobench.model.signals import (
    AgentSignals,
    EditSignals,
    FileEdit,
    Signals,
    SuiteSignals,
    Symptom,
    TestOutcome,
    VerificationSignals,
)

REQUIRED = ("src/core.py", "src/io.py")


@dataclass(frozen=True)
class Build:
    """Factories for documents of scoring tests."""

    def tests(self, passed: int, failed: int, status: str = "failed") -> tuple[TestOutcome, ...]:
        return tuple(
            TestOutcome(id=f"t{n}", status="passed" if n < passed else status)
            for n in range(passed + failed)
        )

    def suite(self, passed: int, failed: int, **other: Any) -> SuiteSignals:
        fields = {
            "name": "tests",
            "language": "python",
            "state": "ok",
            "exit_code": 1 if failed else 0,
            "duration_seconds": 1.0,
            "targets": self.tests(passed, failed),
            **other,
        }
        return SuiteSignals(**fields)

    def edits(self, *observed: str, **other: Any) -> EditSignals:
        """What the diff saw; the report says the same unless told otherwise."""
        required = tuple(path for path in observed if path in REQUIRED)
        fields = {
            "source": "diff",
            "observed": tuple(FileEdit(path=path, change="modified") for path in observed),
            "reported": observed,
            "required_observed": required,
            "required_reported": required,
            **other,
        }
        return EditSignals(**fields)

    def agent(self, **other: Any) -> AgentSignals:
        fields = {
            "ending": "completed",
            "exit_code": 0,
            "report": "complete",
            "report_bytes": 10,
            "model_responses": 3,
            **other,
        }
        return AgentSignals(**fields)

    def symptom(self, kind: str = "missing_symbol", **other: Any) -> Symptom:
        """A symbol that the agent invented, unless told otherwise."""
        fields = {
            "kind": kind,
            "language": "python",
            "code": "AttributeError",
            "symbol": "frobnicate",
            "suite": "tests",
            "test_ids": ("t0",),
            "message": "AttributeError: 'C' object has no attribute 'frobnicate'",
            "in_required_files_at_base": False,
            "in_repository_at_base": False,
            "in_golden_patch": False,
            "in_agent_lines": True,
            **other,
        }
        return Symptom(**fields)

    def mismatch(self, **other: Any) -> Symptom:
        fields = {
            "code": "TypeError",
            "message": "TypeError: load() takes 1 positional argument but 2 were given",
            "symbol": "load",
            "in_required_files_at_base": True,
            "in_repository_at_base": True,
            **other,
        }
        return self.symptom("interface_mismatch", **fields)

    def signals(
        self,
        *suites: SuiteSignals,
        edits: EditSignals | None = None,
        symptoms: tuple[Symptom, ...] = (),
        mode: str = "hinted",
        **agent: Any,
    ) -> Signals:
        """A run that edited a required file and passed none of four tests, unless told so."""
        return Signals(
            mode=mode,
            required_files=REQUIRED,
            agent=self.agent(**agent),
            edits=edits or self.edits("src/core.py"),
            verification=VerificationSignals(
                possible=True, suites=suites or (self.suite(0, 4),), symptoms=symptoms
            ),
        )


@pytest.fixture(scope="session")
def build() -> Build:
    return Build()


@pytest.fixture(scope="session")
def outcome() -> Callable[..., TestOutcome]:
    def make(message: str | None = None, **other: Any) -> TestOutcome:
        return TestOutcome(**{"id": "t", "status": "failed", "message": message, **other})

    return make
