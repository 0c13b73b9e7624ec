"""How the agent went about it, from its report and the provider's log (SPEC O3, O4).

Evidence for readers, by fixed rules; no verdict looks at it. The rules:

- *re-read*: a `read_file` of lines read before, or the same search, listing or shell command
  again (whatever filter its output goes through), with no change to files in between;
- *loop*: three or more identical calls in a row;
- *claim*: a sentence at the end of the final text with a word of success and none of doubt;
- *verified*: a command that can fail on wrong code, or a look at diagnostics, after the last edit.

A subagent's calls, calls of unknown tools and what hides in scripts are not in the report.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from nanobench.agent.exchange import Exchange
from nanobench.agent.shell import (
    Step,
    changes_files,
    fetches_pages,
    mines_history,
    reaches_for_harness,
    runs_code,
    steps,
    uses_browser,
    uses_network,
    uses_ocr,
    without_filters,
)
from nanobench.agent.tools import relative_path
from nanobench.model.report import AgentReport, ToolCall
from nanobench.model.signals import Ending, HarnessEvidence, TrajectorySignals

SHELL = "execute_bash"
_WEB_TOOLS = frozenset({"fetch_url", "web_search"})
_EDIT_TOOLS = frozenset({"write_file", "string_replace", "diff_edit"})
_LOOKING_TOOLS = frozenset(
    {"search_file_contents", "find_files", "list_directory", "git_diff", "git_log", "git_status"}
)
_LOOP = 3
_SHOWN = 20
_SHOWN_CHARACTERS = 160
_CLAIM_CHARACTERS = 1500
_REJECTED = "⚒ Validation failed"
_TIMED_OUT = "Error: Command timed out after"
_NOT_RUN = ("EXIT_CODE: 126", "EXIT_CODE: 127")
_CUT = ("[Output truncated:", "[Output truncated to prevent memory exhaustion]")
_SENTENCE = re.compile(r"[.!?](?=\s|$)|\n")
_SUCCESS = re.compile(
    r"\b(?:done|fixed|fixes|resolved|completed?|implemented|finished|works|working|"
    r"pass(?:es|ed|ing)?|success(?:ful(?:ly)?)?)\b"
)
_DOUBT = re.compile(
    r"\b(?:not|cannot|unable|fail(?:s|ed|ing|ure|ures)?|without|incomplete|partial(?:ly)?|"
    r"unfinished|should|todo|if|when|once|until|before)\b|n.t\b"
)
_CALLED_TOOLS = frozenset({"tool_calls", "tool_use", "tool-calls"})


def trajectory_signals(
    report: AgentReport | None,
    exchanges: Sequence[Exchange] | None,
    ending: Ending,
    workspace: str,
    *,
    images_given: bool = False,
) -> TrajectorySignals:
    """The signals of one run; without a report only what the provider's log tells.

    Args:
        report: Nanocoder's own; null if none could be read.
        exchanges: the provider's log; null when nothing stood between agent and provider.
        ending: how the agent ended.
        workspace: the workspace's path as the agent saw it.
        images_given: whether images reached the model.
    """
    calls = report.tool_calls if report else ()
    seen = [_Seen.of(call) for call in calls]
    done = [step for one in seen for step in one.steps]
    claims = ending == "completed" and report is not None and _claims_success(report.final_text)
    verified = _verified(seen)
    repeats = [len(list(same)) for _, same in groupby(calls, key=_identity)]
    return TrajectorySignals(
        known=report is not None,
        calls=len(calls),
        rereads=_rereads(seen, workspace),
        loops=sum(length >= _LOOP for length in repeats),
        longest_repeat=max(repeats, default=0),
        claims_success=claims,
        verified=verified,
        unverified_claim=claims and not verified,
        vision=images_given,
        ocr=any(map(uses_ocr, done)),
        shell_only=bool(calls) and all(call.name == SHELL for call in calls),
        web=any(call.name in _WEB_TOOLS for call in calls) or any(map(fetches_pages, done)),
        browser=any(map(uses_browser, done)),
        network_attempts=_listed(one.text for one in seen if one.reaches_network),
        history_attempts=_listed(one.text for one in seen if one.mines),
        harness_attempts=_listed(one.text for one in seen if reaches_for_harness(one.text)),
        harness=_harness_evidence(calls, exchanges if report else None, ending),
    )


@dataclass(frozen=True)
class _Seen:
    """A call with the commands that it runs, if it is the shell's."""

    call: ToolCall
    arguments: dict[str, Any]
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, call: ToolCall) -> "_Seen":
        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        command = arguments.get("command")
        if call.name == SHELL and isinstance(command, str):
            return cls(call, arguments, steps(command))
        return cls(call, arguments, ())

    @property
    def text(self) -> str:
        """The command, or the call in one line."""
        if self.steps:
            return str(self.arguments["command"])
        return f"{self.call.name} {json.dumps(self.arguments, sort_keys=True, ensure_ascii=False)}"

    @property
    def edits(self) -> bool:
        """Whether it changed files, as far as can be seen."""
        if self.call.error is not None:
            return False
        if self.call.name == "file_op":
            return self.arguments.get("operation") != "mkdir"
        return self.call.name in _EDIT_TOOLS or any(map(changes_files, self.steps))

    @property
    def verifies(self) -> bool:
        """Whether it could have shown that the work is wrong."""
        if self.call.error is not None or (self.call.result or "").startswith(_NOT_RUN):
            return False
        return self.call.name == "lsp_get_diagnostics" or any(map(runs_code, self.steps))

    @property
    def reaches_network(self) -> bool:
        """Whether it tried to."""
        return self.call.name in _WEB_TOOLS or any(map(uses_network, self.steps))

    @property
    def mines(self) -> bool:
        """Whether it looked for another state of the repository."""
        if self.call.name == "git_log" and self.arguments.get("branch"):
            return True
        path = self.arguments.get("path") if self.call.name == "read_file" else None
        looks = Step("read", (path,), piped=False, writes=()) if isinstance(path, str) else None
        return any(map(mines_history, (*self.steps, *([looks] if looks else ()))))


@dataclass
class _Memory:
    """What was looked at since files last changed."""

    lines: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    looks: set[object] = field(default_factory=set)

    def reads_again(self, one: _Seen, workspace: str) -> bool:
        """Note a call; true if it shows what an earlier one showed."""
        name = one.call.name
        if one.call.error is not None:
            return False
        if name == "read_file" and isinstance(one.arguments.get("path"), str):
            path = relative_path(one.arguments["path"], workspace) or one.arguments["path"]
            first, last = _span(one.arguments)
            before = self.lines.setdefault(path, [])
            again = any(first <= end and start <= last for start, end in before)
            before.append((first, last))
            return again
        if one.steps:
            look: object = without_filters(one.arguments["command"])
        elif name in _LOOKING_TOOLS:
            look = _identity(one.call)
        else:
            return False
        again = look in self.looks
        self.looks.add(look)
        return again

    def forget(self) -> None:
        """Files changed: whatever is looked at now is new."""
        self.lines.clear()
        self.looks.clear()


def _rereads(seen: Iterable[_Seen], workspace: str) -> int:
    memory, count = _Memory(), 0
    for one in seen:
        if one.edits:
            memory.forget()
        count += memory.reads_again(one, workspace)
    return count


def _span(arguments: dict[str, Any]) -> tuple[float, float]:
    """First and last line asked for; a bound that is none of its kind is open."""
    bounds = [arguments.get("start_line"), arguments.get("end_line")]
    known = [bound if isinstance(bound, int | float) else None for bound in bounds]
    return known[0] or 1.0, known[1] or float("inf")


def _verified(seen: Iterable[_Seen]) -> bool:
    verified = False
    for one in seen:
        verified = one.verifies or (verified and not one.edits)
    return verified


def _claims_success(text: str) -> bool:
    sentences = _SENTENCE.split(text[-_CLAIM_CHARACTERS:].lower())
    return any(_SUCCESS.search(one) and not _DOUBT.search(one) for one in sentences)


def _identity(call: ToolCall) -> tuple[str, str]:
    return call.name, json.dumps(call.arguments, sort_keys=True)


def _harness_evidence(
    calls: Sequence[ToolCall], exchanges: Sequence[Exchange] | None, ending: Ending
) -> HarnessEvidence:
    rejected = sum((call.error or "").startswith(_REJECTED) for call in calls)
    results = [call.result or "" for call in calls]
    return HarnessEvidence(
        rejected_calls=rejected,
        failed_calls=sum(call.error is not None for call in calls) - rejected,
        malformed_calls=sum(isinstance(call.arguments, str) for call in calls),
        timed_out_calls=sum(result.startswith(_TIMED_OUT) for result in results),
        cut_results=sum(any(mark in result for mark in _CUT) for result in results),
        unreported_calls=_unreported(calls, exchanges),
        shrunk_requests=_shrunk(exchanges),
        turn_limit=ending == "turn_limit",
    )


def _unreported(calls: Sequence[ToolCall], exchanges: Sequence[Exchange] | None) -> int | None:
    """Replies that called tools beyond the calls in the report: at least so many are not in it."""
    if exchanges is None:
        return None
    asked = sum(one.finish_reason in _CALLED_TOOLS for one in exchanges)
    return max(0, asked - len(calls))


def _shrunk(exchanges: Sequence[Exchange] | None) -> int | None:
    sizes = [one.request_bytes for one in exchanges or () if one.request_bytes]
    if not sizes:
        return None
    return sum(later < earlier for earlier, later in pairwise(sizes))


def _listed(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_first(dict.fromkeys(text[:_SHOWN_CHARACTERS] for text in texts)))


def _first(texts: Iterable[str]) -> Iterator[str]:
    return (text for text, _ in zip(texts, range(_SHOWN), strict=False))
