"""Trajectories in Harbor's format (ATIF 1.4): one JSON file per run.

Source of the format: Harbor's RFC 0001 and its models, which refuse fields they do not know.
"""

from typing import Any, Final

from nanobench.model.base import canonical_json
from nanobench.report.export.story import CALLS_NOTE, Call, Story

VERSION: Final = "ATIF-v1.4"


def trajectory(story: Story) -> str:
    """The file of one run."""
    record = story.record
    provenance, usage = record.provenance, record.signals.agent.usage
    model = str(record.cell.model)
    steps: list[dict[str, Any]] = [{"source": "user", "message": story.prompt}]
    steps += [_call(call, model) for call in story.calls]
    steps.append({"source": "agent", "model_name": model, "message": story.answer})
    return canonical_json(
        {
            "schema_version": VERSION,
            "session_id": f"{record.cell.cell_id}.{record.attempt}",
            "agent": {"name": "nanocoder", "version": provenance.nanocoder, "model_name": model},
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
            "notes": CALLS_NOTE,
            "final_metrics": {
                "total_prompt_tokens": usage.input_tokens,
                "total_completion_tokens": usage.output_tokens,
                "total_cost_usd": usage.cost,
                "total_steps": len(steps),
            },
            "extra": {
                "task": record.cell.task_id,
                "mode": record.cell.mode,
                "run": record.cell.run,
                "verdict": record.verdict.model_dump(mode="json"),
            },
        }
    )


def _call(call: Call, model: str) -> dict[str, Any]:
    return {
        "source": "agent",
        "model_name": model,
        "message": "",
        "tool_calls": [
            {
                "tool_call_id": call.call_id,
                "function_name": call.name,
                "arguments": call.arguments,
            }
        ],
        "observation": {"results": [{"source_call_id": call.call_id, "content": call.result}]},
    }
