"""All that a reader may ask of one run, as plain data of bounded size for the page's script."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from nanobench.errors import NanobenchError
from nanobench.model.record import CommandSummary, Record
from nanobench.model.signals import SuiteSignals, TestOutcome
from nanobench.pipeline.artifacts import AGENT_REPORT, AGENT_STDERR
from nanobench.report.attempts import Attempt, Read
from nanobench.report.document import Trajectory
from nanobench.report.escape import plain
from nanobench.report.explanation import explain_record, render_explanation
from nanobench.report.trajectory import trajectory

_LONG = 64 * 1024  # bytes of a prompt and of a patch
_OUTPUT = 12 * 1024  # bytes of an output that is shown whole
_WORDS = 4000  # characters of what an agent says
_VALUE = 400
_LINE = 200
_FILES = 200
_TESTS = 50
_CALLS = 150
_REQUESTS = 150
_OUTPUTS = 12
_EVIDENCE = 20
Part = dict[str, Any]


def detail(attempt: Attempt) -> Part:
    """The parts of one run; what a run does not have is null or empty."""
    record = attempt.record
    report = attempt.report()
    seen = trajectory(record)
    return {
        "facts": [
            [name, plain(str(value), _LINE)] for name, value in (*_facts(record), *_ways(seen))
        ],
        "evidence": _lines(record.verdict.evidence),
        "trouble": _lines(record.signals.infrastructure),
        "explained": _explained(record),
        "harness": _lines(seen.harness),
        "model": _lines(seen.model),
        "prompt": _read(attempt.prompt(_LONG)),
        "final": _cut(report.final_text or report.message or "") if report else None,
        "edits": [list(edit) for edit in _edits(record)],
        "patch": _read(attempt.patch(_LONG)),
        "suites": [_suite(suite) for suite in record.signals.verification.suites],
        "calls": [_call(call) for call in report.tool_calls[:_CALLS]] if report else [],
        "all_calls": len(report.tool_calls) if report else 0,
        **_gateway(attempt),
        "logs": [_log(attempt, ran) for ran in _commands(record)],
    }


def _facts(record: Record) -> Iterator[tuple[str, object]]:
    verdict, agent, timing = record.verdict, record.signals.agent, record.timing
    provenance = record.provenance
    named = [
        ("label", verdict.label),
        ("category by the rules", verdict.category),
        ("rule", verdict.rule),
        ("level", verdict.level),
        ("reason", verdict.reason),
        ("observed score", verdict.observed_score),
        ("also matched", ", ".join(f"rule {match.rule}" for match in verdict.also_matched)),
        ("flags", ", ".join(verdict.flags)),
        ("verification", record.completion.verification_summary),
        ("agent", f"{agent.ending}, exit {agent.exit_code}, report {agent.report}"),
        ("error", " ".join(filter(None, (agent.error_class, agent.error_message)))),
        ("replies", agent.model_responses),
        ("retries", agent.retries),
        ("input tokens", agent.usage.input_tokens),
        ("output tokens", agent.usage.output_tokens),
        ("cost in US dollars", agent.usage.cost),
        ("temperature", provenance.temperature),
        ("started", timing.started_at.isoformat()),
        ("seconds", ", ".join(f"{name} {s:.1f}" for name, s in timing.phases_seconds.items())),
        ("attempt", record.attempt),
        ("ruleset", verdict.ruleset),
        ("Nanocoder", provenance.nanocoder),
    ]
    return ((name, value) for name, value in named if value not in (None, ""))


def _ways(seen: Trajectory) -> Iterator[tuple[str, object]]:
    """How the agent went about it (SPEC O3)."""
    if not seen.known:
        return
    yield "required files read", f"{seen.required_read} of {seen.required_files}"
    for name, count in (
        ("files read", seen.files_read),
        ("calls that show again", seen.rereads),
        ("loops", seen.loops),
        ("network attempts", seen.network_attempts),
        ("looks at other states", seen.history_attempts),
        ("used", ", ".join(seen.used)),
    ):
        if count:
            yield name, count


def _explained(record: Record) -> str | None:
    try:
        return render_explanation(explain_record(record, record.verdict.ruleset))
    except NanobenchError:  # a record that cannot be judged anew still has its verdict
        return None


def _edits(record: Record) -> Iterator[tuple[str, str, str]]:
    """Path, change, and what is special about it."""
    edits, required = record.signals.edits, set(record.signals.required_files)
    unreported = set(edits.observed_only)
    for edit in edits.observed[:_FILES]:
        marks = [
            *(["required"] if edit.path in required else []),
            *(["binary"] if edit.binary else []),
            *(["not reported"] if edit.path in unreported else []),
        ]
        yield plain(edit.path, _LINE), edit.change, ", ".join(marks)
    for paths, told in (
        (edits.protected, "test or protected file: not carried to verification"),
        (edits.reported_only, "reported, not in the diff"),
        (edits.pollution, "left by the agent's runtime"),
        (edits.suspect, "in an added line: names the test runner or ends its process"),
    ):
        for path in paths[:_FILES]:
            yield plain(path, _LINE), "", told


def _suite(suite: SuiteSignals) -> Part:
    failed = [test for test in suite.targets if test.status != "passed"]
    ended = f"{suite.state}, exit {suite.exit_code}"
    return {
        "name": plain(suite.name, _LINE),
        "told": f"{plain(suite.language, _LINE)}, {ended}"
        + (f", golden state {suite.control}" if suite.control else ""),
        "targets": [len(suite.targets) - len(failed), len(suite.targets)],
        "counts": [[status, count] for status, count in sorted(suite.counts.items())],
        "errors": [_cut(error) for error in suite.suite_errors[:_EVIDENCE]],
        "failed": _tests(failed),
        "failed_count": len(failed),
        "regressions": _tests(suite.regressions),
        "regression_count": len(suite.regressions),
    }


def _tests(tests: Sequence[TestOutcome]) -> list[Part]:
    return [
        {
            "id": plain(test.id, _LINE),
            "status": test.status,
            "message": plain(test.message or "", _VALUE),
            "details": _cut(test.details or ""),
        }
        for test in tests[:_TESTS]
    ]


def _call(call: Any) -> Part:
    raw = call.arguments
    told = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, sort_keys=True)
    return {
        "name": plain(call.name, _LINE),
        "arguments": plain(told, _VALUE),
        "result": plain(call.result or "", _VALUE),
        "error": plain(call.error or "", _VALUE),
    }


def _gateway(attempt: Attempt) -> Part:
    requests = attempt.gateway()
    return {
        "requests": [_request(one) for one in requests[:_REQUESTS]],
        "all_requests": len(requests),
    }


def _request(one: Part) -> list[str]:
    tries = one.get("attempts")
    values = (
        one.get("status"),
        one.get("finish_reason") or one.get("error_class"),
        one.get("input_tokens"),
        one.get("output_tokens"),
        len(tries) if isinstance(tries, list) else None,
        one.get("temperature"),
        one.get("total_seconds"),
        one.get("cost"),
    )
    return ["" if value is None else plain(str(value), _LINE) for value in values]


def _commands(record: Record) -> Iterator[CommandSummary | str]:
    """What ran, besides the agent's report, which has its own place."""
    yield AGENT_STDERR
    for ran in record.completion.commands_run[:_OUTPUTS]:
        if ran.output_id != AGENT_REPORT:
            yield ran


def _log(attempt: Attempt, ran: CommandSummary | str) -> Part:
    """An output whole if it is small, else its beginning, and the end that the record keeps."""
    name = ran if isinstance(ran, str) else ran.output_id
    found = attempt.output(name, _OUTPUT)
    whole = found is not None and found.size is not None
    part: Part = {"id": plain(name, _LINE), "text": found.text if found and whole else None}
    if isinstance(ran, str):
        return {**part, "head": found.text if found else ""}
    ended = f"exit {ran.exit_code}, {ran.duration_seconds:.1f} s"
    return {
        **part,
        "command": plain(ran.command, _VALUE),
        "told": ended + (", timed out" if ran.timed_out else ""),
        **({} if whole else {"head": ran.head, "tail": ran.tail, "lines": ran.output_lines}),
    }


def _read(found: Read | None) -> Part | None:
    return None if found is None else {"text": found.text, "size": found.size, "limit": _LONG}


def _cut(text: str) -> str:
    return text if len(text) <= _WORDS else f"{text[:_WORDS]}… ({len(text):,} characters)"


def _lines(items: Sequence[str]) -> list[str]:
    more = [f"and {len(items) - _EVIDENCE} more in report.json"] if len(items) > _EVIDENCE else []
    return [*(plain(item, _VALUE) for item in items[:_EVIDENCE]), *more]
