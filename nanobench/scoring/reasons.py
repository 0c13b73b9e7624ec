"""The fixed words of `Verdict.reason`: why a run is unclassified, capped or infrastructure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nanobench.model.signals import Symptom, TestOutcome
from nanobench.scoring.case import Case
from nanobench.scoring.content import is_asked
from nanobench.scoring.raised import raised


@dataclass(frozen=True)
class Unclassified:
    """Why no rule matched a failed run: the first row whose condition holds."""

    reason: str
    meaning: str
    condition: Callable[[Case], bool]


def unclassified_reason(case: Case) -> str:
    """The reason of a failed run that no rule matches; the last row holds for every run."""
    return next(row.reason for row in UNCLASSIFIED if row.condition(case))


def _partly_passing_with_symptom(case: Case) -> bool:
    return bool(case.symptoms) and not case.full_failure


def _asked_symbol_absent(case: Case) -> bool:
    return any(is_asked(symptom) for symptom in case.symptoms)


def _symbol_exists(case: Case) -> bool:
    return any(
        symptom.in_required_files_at_base or symptom.in_repository_at_base
        for symptom in _missing_symbols(case)
    )


def _symbol_not_by_agent(case: Case) -> bool:
    return any(symptom.in_agent_lines is False for symptom in _missing_symbols(case))


def _symbol_unknown(case: Case) -> bool:
    return bool(_missing_symbols(case))


def _missing_symbols(case: Case) -> tuple[Symptom, ...]:
    return tuple(symptom for symptom in case.symptoms if symptom.kind == "missing_symbol")


def _suite_not_ok(case: Case) -> bool:
    return any(
        suite.state != "ok" and suite.targets_passed < len(suite.targets)
        for suite in case.signals.verification.suites
    )


def _targets_not_run(case: Case) -> bool:
    return all(test.status in ("passed", "skipped", "missing") for test in case.targets)


def _assertion_failures(case: Case) -> bool:
    return any(
        _is_assertion(suite.language, test)
        for suite in case.signals.verification.suites
        for test in suite.targets
        if test.status in ("failed", "error")
    )


def _is_assertion(language: str, test: TestOutcome) -> bool:
    exception = raised(language, test)
    return exception is not None and exception.is_assertion


UNCLASSIFIED: tuple[Unclassified, ...] = (
    Unclassified(
        "some_targets_pass",
        "a symptom of rule 3 or 4 was seen, but the ruleset sees no full failure",
        _partly_passing_with_symptom,
    ),
    Unclassified(
        "asked_symbol_absent",
        "a symbol that the golden patch introduces is missing; the agent has not built it",
        _asked_symbol_absent,
    ),
    Unclassified(
        "symbol_exists",
        "the missing symbol exists at the base commit, so nobody invented it",
        _symbol_exists,
    ),
    Unclassified(
        "symbol_not_by_agent",
        "the missing symbol stands in no line that the agent added",
        _symbol_not_by_agent,
    ),
    Unclassified(
        "symbol_unknown",
        "a symbol is missing of which nothing could be found out",
        _symbol_unknown,
    ),
    Unclassified(
        "suite_not_ok",
        "a suite crashed, timed out, or wrote no result that can be relied on",
        _suite_not_ok,
    ),
    Unclassified(
        "targets_not_run",
        "no target test failed, but those that do not pass were skipped or never ran",
        _targets_not_run,
    ),
    Unclassified(
        "assertion_failures",
        "target tests fail on assertions: the code runs and does the wrong thing",
        _assertion_failures,
    ),
    Unclassified(
        "no_symptom",
        "target tests fail with errors that the symptom tables do not know",
        lambda case: True,
    ),
)

LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "timed_out": "every test passes, but the wall clock ended the agent: capped at 0.5",
        "request_limit": "every test passes, but the request limit ended the agent: capped at 0.5",
        "token_limit": "every test passes, but the token limit ended the agent: capped at 0.5",
        "cost_limit": "every test passes, but the cost limit ended the agent: capped at 0.5",
    }
)

HALTED: Mapping[str, str] = MappingProxyType(
    {
        "context_size": "rule 1: the request no longer fitted the model's context",
        "rate_limit": "rule 1: the provider's rate limit outlasted the retries",
    }
)

INFRASTRUCTURE: Mapping[str, str] = MappingProxyType(
    {
        "environment": "the machine, the sandbox, a registry or the repository failed",
        "not_started": "the agent was never started",
        "configuration_error": "unknown provider or model, no configuration, untrusted directory",
        "approval_required": "the agent waited for an approval before the model answered",
        "aborted": "the agent was killed, or printed nothing and exited 0, before the model is "
        "known to have answered",
        "crashed": "the agent crashed before the model is known to have answered",
        "provider_error": "the provider failed in a way that nothing describes",
        "rate_limit": "rate limited after edits, or before the model ever answered",
        "invalid_request": "the provider refused the first request",
        "quota": "the account's quota is used up",
        "billing": "the account cannot be billed",
        "authentication": "the provider does not accept the key",
        "permission": "the key may not use the model",
        "unknown_model": "the provider does not know the model",
        "configuration": "the provider is configured wrongly",
        "budget": "the budget was used up before the model answered",
        "unmetered": "a budget was set on what the provider does not report",
        "replay": "the recording lacks what the agent asked, or has it under other settings",
        "overload": "the provider was overloaded for longer than the retries",
        "server_error": "the provider failed (5xx) for longer than the retries",
        "connection": "the provider could not be reached",
        "timeout": "the provider did not answer in time",
        "stream_cut": "the provider cut a reply short",
        "bad_response": "the provider's reply was no valid reply",
        "unknown": "an error of the provider's that is not known",
        "edits_unknown": "there is neither a diff nor a report, so the edits are unknown",
        "verification_impossible": "the tests could not be run",
        "control_failed": "a suite did not end well, on the golden state neither",
        "control_missing": "a suite did not end well and was not run on the golden state",
    }
)

UNCLASSIFIED_REASONS: Mapping[str, str] = MappingProxyType(
    {row.reason: row.meaning for row in UNCLASSIFIED}
)
