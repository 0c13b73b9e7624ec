"""One run as a ruleset sees it: the questions that scores and rules ask of the signals."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from nanobench.model.signals import Ending, ErrorClass, Signals, SuiteSignals, Symptom, TestOutcome
from nanobench.scoring.rulesets import RulesetDefinition

LIMIT_ENDINGS: frozenset[Ending] = frozenset(
    {"timed_out", "request_limit", "token_limit", "cost_limit"}
)
_NAMED = 5


@dataclass(frozen=True)
class Case:
    """The signals of one run, read by one ruleset. Nothing here depends on the input's order."""

    signals: Signals
    ruleset: RulesetDefinition

    @cached_property
    def reads_report(self) -> bool:
        """Whether the agent's own list of changed files is the one that counts."""
        edits = self.signals.edits
        if self.ruleset.edits == "reported":
            return edits.reported is not None
        return edits.source == "reported"

    @cached_property
    def required_edited(self) -> tuple[str, ...]:
        """The required files that count as edited, sorted."""
        edits = self.signals.edits
        return tuple(
            sorted(edits.required_reported if self.reads_report else edits.required_observed)
        )

    @cached_property
    def edited(self) -> tuple[str, ...]:
        """All files that count as edited, sorted."""
        edits = self.signals.edits
        listed: Collection[str] = (
            edits.reported or () if self.reads_report else [edit.path for edit in edits.observed]
        )
        return tuple(sorted({*listed, *self.required_edited}))

    @cached_property
    def targets(self) -> tuple[TestOutcome, ...]:
        """The target tests of all suites."""
        return tuple(test for suite in self.signals.verification.suites for test in suite.targets)

    @cached_property
    def passed(self) -> int:
        """How many target tests pass."""
        return self.signals.verification.targets_passed

    @cached_property
    def half_passes(self) -> bool:
        """Whether at least half of the target tests pass."""
        return 0 < len(self.targets) <= 2 * self.passed

    @cached_property
    def full_failure(self) -> bool:
        """What this ruleset calls a full failure of the target tests."""
        if self.ruleset.full_failure == "none_passes":
            return self.passed == 0
        return not self.half_passes

    @cached_property
    def tree_passes(self) -> bool:
        """Every target test passes, every suite ends well, nothing regressed (SPEC 6)."""
        return 0 < len(self.targets) == self.passed and all(
            suite.state == "ok" and suite.exit_code == 0 and not suite.regressions
            for suite in self.signals.verification.suites
        )

    @cached_property
    def limit(self) -> Ending | None:
        """The limit that ended the run and caps its score (SPEC X10)."""
        ending = self.signals.agent.ending
        return ending if ending in LIMIT_ENDINGS else None

    @cached_property
    def ended_on(self) -> ErrorClass | None:
        """The class of the error that ended the agent; null if no known error ended it."""
        agent = self.signals.agent
        if agent.ending == "provider_error":
            return agent.error_class
        told = agent.ending == "crashed" and agent.error_class != "unknown"
        return agent.error_class if told else None

    @cached_property
    def responded(self) -> bool | None:
        """Whether the model ever answered; null if nothing tells.

        Without a gateway the count is unknown, but what only a model can cause, a changed file
        for one, proves an answer.
        """
        agent = self.signals.agent
        if agent.model_responses is not None:
            return agent.model_responses > 0
        traces = (
            self.signals.tools.calls,
            agent.final_text_tail,
            agent.usage.output_tokens,
            self.signals.edits.observed,
        )
        return True if any(traces) else None

    @cached_property
    def symptoms(self) -> tuple[Symptom, ...]:
        """The symptoms, the dominant one first."""
        return tuple(sorted(self.signals.verification.symptoms, key=_dominance))

    @cached_property
    def languages(self) -> dict[str, tuple[SuiteSignals, ...]]:
        """The suites by language, for the languages that have target tests (SPEC F0)."""
        suites = self.signals.verification.suites
        names = sorted({suite.language for suite in suites if suite.targets})
        return {name: tuple(suite for suite in suites if suite.language == name) for name in names}


def _dominance(symptom: Symptom) -> tuple[bool, int, tuple[str, ...], str]:
    """Missing symbols first, then most tests, then the order of ids (the rest breaks ties)."""
    return (
        symptom.kind != "missing_symbol",
        -len(symptom.test_ids),
        tuple(sorted(symptom.test_ids)),
        symptom.to_json(),
    )


def name_some(names: Sequence[str]) -> str:
    """At most five names, and how many more there are."""
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if len(names) > _NAMED else shown
