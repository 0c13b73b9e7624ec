"""What a symptom says about the agent's work: the evidence behind rules 3 and 4.

Facts about a symbol that could not be looked up are null; null proves nothing, so it never
makes a rule hold.
"""

from dataclasses import dataclass
from typing import Literal

from nanobench.model.signals import Symptom
from nanobench.scoring.case import Case, name_some


@dataclass(frozen=True)
class ContentFinding:
    """The one symptom that decides between rule 3 and rule 4."""

    rule: Literal[3, 4]
    symptom: Symptom
    why: tuple[str, ...]

    @property
    def evidence(self) -> tuple[str, ...]:
        """The symptom, what was found out about its symbol, and how many tests show it."""
        named = f" on {self.symptom.symbol}" if self.symptom.symbol else ""
        tests = len(self.symptom.test_ids)
        return (
            f"{self.symptom.code}{named}",
            *self.why,
            f"in {tests} {'test' if tests == 1 else 'tests'} of suite {self.symptom.suite}",
        )


def content_finding(case: Case) -> ContentFinding | None:
    """The dominant symptom that fits rule 3, else the dominant one that fits rule 4.

    There is one finding or none, which is why the two rules can never both hold (SPEC F5).
    """
    for symptom in case.symptoms:
        if is_hallucination(case, symptom):
            return ContentFinding(3, symptom, _why_hallucination(case))
    for symptom in case.symptoms:
        if symptom.kind == "interface_mismatch":
            return ContentFinding(4, symptom, ())
        if case.ruleset.misplaced_is_mismatch and is_misplaced(symptom):
            return ContentFinding(4, symptom, _why_misplaced(symptom))
    return None


def is_hallucination(case: Case, symptom: Symptom) -> bool:
    """Whether the agent relied on a symbol that does not exist (rule 3)."""
    if symptom.kind != "missing_symbol" or symptom.symbol is None:
        return False
    if not case.ruleset.invented_only:
        return symptom.in_required_files_at_base is False
    return (
        symptom.in_agent_lines is True
        and symptom.in_repository_at_base is False
        and symptom.in_golden_patch is False
    )


def is_asked(symptom: Symptom) -> bool:
    """Whether the missing symbol is one that the golden patch introduces."""
    introduced = bool(symptom.golden_defines_in) or symptom.in_repository_at_base is False
    return symptom.kind == "missing_symbol" and symptom.in_golden_patch is True and introduced


def is_misplaced(symptom: Symptom) -> bool:
    """Whether the agent defined an asked symbol, but in no place where the golden patch does."""
    return (
        is_asked(symptom)
        and bool(symptom.golden_defines_in)
        and bool(symptom.agent_defines_in)
        and set(symptom.agent_defines_in).isdisjoint(symptom.golden_defines_in)
    )


def _why_hallucination(case: Case) -> tuple[str, ...]:
    if case.ruleset.invented_only:
        return ("used by the agent", "absent from the base commit and from the golden patch")
    return ("absent from the required files at the base commit",)


def _why_misplaced(symptom: Symptom) -> tuple[str, ...]:
    return (
        f"defined by the agent in {name_some(sorted(symptom.agent_defines_in))}",
        f"by the golden patch in {name_some(sorted(symptom.golden_defines_in))}",
    )
