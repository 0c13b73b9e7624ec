"""The versions of the rules, as data: each field is one point in which they differ (SPEC F3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from nanobench.model.plan import Ruleset


@dataclass(frozen=True)
class RulesetDefinition:
    """One ruleset.

    Attributes:
        name: its version.
        edits: which list of changed files counts: `reported` is the agent's `filesChanged`
            (the diff where no report exists), `observed` is the diff of the workspace.
        full_failure: what rules 3 and 4 call a full failure: no target test passes, or fewer
            than the half that rule 5 needs.
        split_first: rules 3 and 4 leave a run to rule 6 when the condition of that one holds.
            (With `none_passes` they never meet: a language that passes fully has a target that
            passes.)
        invented_only: rule 3 needs the symbol in lines the agent added, and absent from the
            whole repository at the base commit and from the golden patch. Otherwise absence
            from the required files at the base commit is enough.
        misplaced_is_mismatch: a missing symbol that the golden patch introduces, and that the
            agent defined elsewhere, is an interface mismatch (rule 4).
        rate_limit_needs_response: a run without edits that ended on a rate limit is graded only
            if the model had answered before (SPEC X11). Otherwise it is graded always.
    """

    name: Ruleset
    edits: Literal["reported", "observed"]
    full_failure: Literal["none_passes", "below_half"]
    split_first: bool
    invented_only: bool
    misplaced_is_mismatch: bool
    rate_limit_needs_response: bool


_LITERAL = RulesetDefinition(
    name="1.0",
    edits="reported",
    full_failure="none_passes",
    split_first=False,
    invented_only=False,
    misplaced_is_mismatch=False,
    rate_limit_needs_response=False,
)
_DECIDED = RulesetDefinition(
    name="1.1",
    edits="observed",
    full_failure="below_half",
    split_first=True,
    invented_only=True,
    misplaced_is_mismatch=True,
    rate_limit_needs_response=True,
)

RULESETS: Mapping[Ruleset, RulesetDefinition] = MappingProxyType(
    {definition.name: definition for definition in (_LITERAL, _DECIDED)}
)
