"""Results as logs of Inspect AI (version 2 of its JSON format): one file per model and mode.

Tasks are samples, runs are epochs. A run that ended in infrastructure trouble is a sample with an
error and without a score, as Inspect has it. The format is that of `inspect_ai.log.EvalLog`.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Any, Final

from nanobench.model.record import Record
from nanobench.report.document import Summary
from nanobench.report.export.story import CALLS_NOTE, Call, Story

VERSION: Final = 2
SCORER: Final = "nanobench"
_STOP_REASONS = {"length": "max_tokens", "content_filter": "content_filter"}


def inspect_log(summary: Summary, stories: Iterable[Story]) -> str:
    """The log of one model in one mode; `stories` are of its runs, at least one.

    Figures in `results` are those of the report: no mean of all samples, but of tasks.
    """
    told = list(stories)
    records = [story.record for story in told]
    started = min(record.timing.started_at for record in records).astimezone(UTC).isoformat()
    log = {
        "version": VERSION,
        "status": "success",
        "eval": _spec(summary, records, started),
        "plan": {"name": "plan", "steps": [{"solver": "nanocoder", "params": {}}]},
        "results": _results(summary, len(told)),
        "stats": {"started_at": started, "completed_at": started, "model_usage": {}},
        "samples": [_sample(story) for story in told],
    }
    # Not sorted: a reader of the header alone wants it before the samples.
    return json.dumps(log, indent=1, allow_nan=False) + "\n"


def _spec(summary: Summary, records: Sequence[Record], started: str) -> dict[str, Any]:
    tasks = sorted({record.cell.task_id for record in records})
    first = records[0].provenance
    return {
        "created": started,
        "task": f"nanobench {summary.mode}",
        "task_id": f"nanobench-{summary.mode}",
        "run_id": records[0].cell.cell_id,
        "dataset": {"name": first.dataset, "samples": len(tasks), "sample_ids": tasks},
        "model": str(summary.model),
        "config": {"epochs": max(record.cell.run for record in records)},
        "packages": {"nanobench": first.nanobench, "nanocoder": first.nanocoder},
        "metadata": {"note": CALLS_NOTE},
    }


def _results(summary: Summary, samples: int) -> dict[str, Any]:
    metrics = {"mean_score": summary.mean_score, "pass_rate": summary.pass_rate}
    return {
        "total_samples": samples,
        "completed_samples": summary.valid_runs,
        "scores": [
            {
                "name": SCORER,
                "scorer": SCORER,
                "params": {},
                "metrics": {
                    name: {"name": name, "value": value, "params": {}}
                    for name, value in metrics.items()
                    if value is not None
                },
            }
        ],
    }


def _sample(story: Story) -> dict[str, Any]:
    record = story.record
    verdict, agent, cell = record.verdict, record.signals.agent, record.cell
    output = _output(story)
    sample: dict[str, Any] = {
        "id": cell.task_id,
        "epoch": cell.run,
        "uuid": cell.cell_id,
        "input": story.prompt,
        "target": "",
        "messages": [*_messages(story), output["choices"][0]["message"]],
        "output": output,
        "metadata": {"attempt": record.attempt, "verdict": verdict.model_dump(mode="json")},
        "total_time": sum(record.timing.phases_seconds.values()),
        "turn_count": agent.model_responses,
        "started_at": record.timing.started_at.astimezone(UTC).isoformat(),
    }
    if "usage" in output:
        sample["model_usage"] = {str(cell.model): output["usage"]}
    if verdict.outcome == "graded":
        sample["scores"] = {SCORER: _score(record)}
    else:
        why = ": ".join([verdict.reason or "infrastructure", *record.signals.infrastructure])
        sample["error"] = {"message": why, "traceback": "", "traceback_ansi": ""}
    return sample


def _score(record: Record) -> dict[str, Any]:
    verdict = record.verdict
    return {
        "value": verdict.score,
        "answer": verdict.label,
        "explanation": "\n".join(verdict.evidence),
        "metadata": {"solved": verdict.solved, "category": verdict.category, "rule": verdict.rule},
    }


def _messages(story: Story) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"id": "prompt", "role": "user", "content": story.prompt}]
    for call in story.calls:
        messages += _call(call)
    return messages


def _call(call: Call) -> list[dict[str, Any]]:
    asked = {
        "id": call.call_id,
        "function": call.name,
        "arguments": call.arguments,
        "type": "function",
    }
    answer: dict[str, Any] = {
        "id": f"result-{call.number}",
        "role": "tool",
        "tool_call_id": call.call_id,
        "function": call.name,
        "content": call.result,
    }
    if call.failed:
        answer["error"] = {"type": "unknown", "message": call.result}
    message = {"role": "assistant", "content": "", "tool_calls": [asked]}
    return [{"id": f"message-{call.number}", **message}, answer]


def _output(story: Story) -> dict[str, Any]:
    record = story.record
    model, usage = str(record.cell.model), record.signals.agent.usage
    reason = _STOP_REASONS.get(record.signals.agent.finish_reason or "", "stop")
    message = {"id": "answer", "role": "assistant", "content": story.answer, "model": model}
    found: dict[str, Any] = {
        "model": model,
        "choices": [{"message": message, "stop_reason": reason}],
        "completion": story.answer,
    }
    if usage.input_tokens is not None and usage.output_tokens is not None:
        found["usage"] = {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "total_cost": usage.cost,
        }
    return found
