"""Which runs are no judgement of the agent: trouble of machine, network or provider (SPEC X11, P7).

What the agent, its harness or the model did is graded; what happened to them is not. Where
nothing tells one from the other, the run is infrastructure and its flags say what is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from nanobench.model.signals import Ending, ErrorClass, SuiteState
from nanobench.scoring.case import Case

Policy = Literal["graded", "infrastructure", "needs_response", "rate_limit"]

ENDINGS: Mapping[Ending, Policy] = MappingProxyType(
    {
        "not_started": "infrastructure",
        "completed": "graded",
        "turn_limit": "graded",
        "empty_response": "graded",
        "timed_out": "graded",
        "request_limit": "graded",
        "token_limit": "graded",
        "cost_limit": "graded",
        "provider_error": "infrastructure",
        # Before the model answered, nobody but the machine and its user can have caused these;
        # afterwards the agent's own commands can: they may kill Nanocoder, or write what it
        # seems to say. An agent that ends its own run is judged by what it left, or it could
        # take every failure out of the score.
        "configuration_error": "needs_response",
        "approval_required": "needs_response",
        "aborted": "needs_response",
        # Nanocoder falling over by itself counts against the stack that is measured, but only
        # once it was at work; before that nothing shows that it was started right.
        "crashed": "needs_response",
    }
)
"""What an ending means by itself; the class of the error, where one is known, decides instead."""

ERRORS: Mapping[ErrorClass, Policy] = MappingProxyType(
    {
        "context_size": "graded",
        "content_filter": "graded",
        "length": "graded",
        "empty": "graded",
        "rate_limit": "rate_limit",
        # Refused from the start: the model does not take what it was configured for. Refused
        # later: it is the conversation, which model and harness made.
        "invalid_request": "needs_response",
        "quota": "infrastructure",
        "billing": "infrastructure",
        "authentication": "infrastructure",
        "permission": "infrastructure",
        "unknown_model": "infrastructure",
        "configuration": "infrastructure",
        # Spent by the cells before this one: nothing of this agent was seen.
        "budget": "needs_response",
        "unmetered": "infrastructure",
        "replay": "infrastructure",
        "overload": "infrastructure",
        "server_error": "infrastructure",
        "connection": "infrastructure",
        "timeout": "infrastructure",
        "stream_cut": "infrastructure",
        "bad_response": "infrastructure",
        "unknown": "infrastructure",
    }
)
"""What an error means that ended the agent."""

_BROKEN_REPLIES: frozenset[ErrorClass] = frozenset({"stream_cut", "bad_response"})
_TELL_BY_THEMSELVES: frozenset[SuiteState] = frozenset({"ok", "inconsistent"})


@dataclass(frozen=True)
class Cause:
    """Why a run is infrastructure: a fixed word (see `reasons`) and what was seen."""

    reason: str
    evidence: tuple[str, ...]


def causes(case: Case) -> tuple[Cause, ...]:
    """Every cause that takes the run out of the score, the deciding one first.

    Empty for a run that is graded.
    """
    return (
        *_failed_controls(case),
        *_reported_troubles(case),
        *_agent_trouble(case),
        *_unknown_edits(case),
        *_verification_trouble(case),
    )


def asks_for_response(case: Case) -> bool:
    """Whether the decision hangs on the model having answered at least once."""
    policy, _ = decisive(case)
    if policy == "rate_limit":
        return case.ruleset.rate_limit_needs_response and not case.edited
    return policy == "needs_response"


def decisive(case: Case) -> tuple[Policy, str]:
    """The policy for how the agent ended, and the word for it: the error's class, or the ending."""
    ending, error = case.signals.agent.ending, case.signals.agent.error_class
    if case.limit:
        # We ended the agent, which breaks a reply too. Only a provider that had failed before,
        # and not answered a single time, is to blame for the lost time.
        unanswered = case.responded is False and error not in _BROKEN_REPLIES
        return (ERRORS[error], error) if error and unanswered else (ENDINGS[ending], ending)
    if case.ended_on:
        return ERRORS[case.ended_on], case.ended_on
    if error in _BROKEN_REPLIES:  # which the agent can take for an answer
        return ERRORS[error], error
    if ending == "configuration_error" and error and ERRORS[error] == "infrastructure":
        return ENDINGS[ending], error
    return ENDINGS[ending], ending


def _is_infrastructure(case: Case, policy: Policy) -> bool:
    if asks_for_response(case):
        return not case.responded
    return policy == "infrastructure" or (policy == "rate_limit" and bool(case.edited))


def _agent_trouble(case: Case) -> tuple[Cause, ...]:
    policy, word = decisive(case)
    if not _is_infrastructure(case, policy):
        return ()
    agent = case.signals.agent
    responses = "unknown" if agent.model_responses is None else agent.model_responses
    error = (f"error: {agent.error_class}",) if agent.error_class else ()
    seen = (f"model responses: {responses}", f"edited files: {len(case.edited)}")
    return (Cause(word, (f"ending: {agent.ending}", *error, *seen)),)


def _reported_troubles(case: Case) -> tuple[Cause, ...]:
    troubles = tuple(sorted(case.signals.infrastructure))
    return (Cause("environment", troubles),) if troubles else ()


def _unknown_edits(case: Case) -> tuple[Cause, ...]:
    edits = case.signals.edits
    if edits.source == "diff" or edits.reported is not None:
        return ()
    return (Cause("edits_unknown", ("neither a diff nor a report",)),)


def _verification_trouble(case: Case) -> tuple[Cause, ...]:
    verification = case.signals.verification
    if not verification.possible:
        why = verification.impossible_because
        return (Cause("verification_impossible", (why,) if why else ()),)
    suites = tuple(
        f"suite: {suite.name}"
        for suite in verification.suites
        if suite.control is None and suite.state not in _TELL_BY_THEMSELVES
    )
    return (Cause("control_missing", tuple(sorted(suites))),) if suites else ()


def _failed_controls(case: Case) -> tuple[Cause, ...]:
    suites = tuple(
        f"suite: {suite.name}"
        for suite in case.signals.verification.suites
        if suite.control == "failed"
    )
    return (Cause("control_failed", tuple(sorted(suites))),) if suites else ()
