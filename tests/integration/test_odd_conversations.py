"""Odd conversations through the real agent, each with the label that the taxonomy gives it.

What each must be called is derived from the text of the rules (docs/taxonomy.md), not from a run.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from nanobench.agent.scripted.edits import edit_calls, pack
from nanobench.agent.scripted.script import Act, Cut, Fault, Say, Script, Step, ToolCall
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.agent.scripted.sources import TaskView
from nanobench.files import StateDirectory
from nanobench.model.plan import Mode
from nanobench.model.record import Record

pytestmark = pytest.mark.real

DONE = Say("Everything is done and works.")
TOO_LONG = Fault(400, "maximum context length is 8192 tokens", "context_size",
                 code="context_length_exceeded")  # fmt: skip
LIMITED = Fault(429, "Rate limit reached", "rate_limit", headers={"retry-after-ms": "10"})
REJECTED = ToolCall("string_replace", {"path": "tempo/units.py", "old_str": "?", "new_str": "!"})


def bash(command: str) -> Act:
    return Act((ToolCall("execute_bash", {"command": command}),))


@dataclass(frozen=True)
class Expected:
    """Scores in hinted and navigation mode, category (null: none), and the reason if it matters."""

    scores: tuple[float | None, float | None]
    category: str | None = None
    reason: str | None = None


NOTHING = Expected((0.0, 0.0), "insufficient_context_read")  # rule 2; hinted has no category
HALF = Expected((0.5, 0.5), "partial_fix_only")
UNNAMED = Expected((0.0, 0.1), "unclassified")
# The sample's tests pass an argument that the base does not take: an interface mismatch (rule 4),
# and of the symbols that are missing too none is invented (rule 3).
AS_AT_BASE = Expected((0.0, 0.1), "wrong_abstraction_layer")
OUTSIDE = Expected((None, None))


def unnamed(reason: str) -> Expected:
    return Expected(UNNAMED.scores, UNNAMED.category, reason)


def conversations(view: TaskView) -> dict[str, tuple[Expected, tuple[Step, ...]]]:
    """What is expected of a conversation, and its steps."""

    def edits(*families: str) -> tuple[Act, ...]:
        chosen = view.changes_of(families) if families else view.source_changes
        return pack(edit_calls(chosen, view.base))

    def replace(path: str, old: str, new: str) -> Act:
        read = ToolCall("read_file", {"path": path})
        return Act(
            (read, ToolCall("string_replace", {"path": path, "old_str": old, "new_str": new}))
        )

    gold, python, javascript = edits(), edits("python"), edits("javascript")
    units = replace("tempo/units.py", 'Unit("h", 3600)', 'Unit("hour", 3600)')
    write = Act((ToolCall("write_file", {"path": "NOTES.md", "content": "later\n"}),))
    return {
        # Nothing of it is left
        "reverted": (NOTHING, (units, bash("git checkout -- ."), DONE)),
        "stashed": (NOTHING, (*gold, bash("git stash -q"), DONE)),
        "talks": (NOTHING, (Say("I would add weeks and days to both languages. " * 50),)),
        "asks": (NOTHING, (Act((ToolCall("ask_user", {"question": "Which?"}),)), DONE)),
        "filtered": (NOTHING, (Say("", finish_reason="content_filter"),)),
        "outside": (
            NOTHING,
            (
                bash("echo x > /tmp/units.py; echo x > ~/units.py; mkdir -p ../else; true"),
                Act((ToolCall("write_file", {"path": "../units.py", "content": "x"}),)),
                DONE,
            ),
        ),
        "reads-for-ever": (
            NOTHING,
            (Act(tuple(ToolCall("read_file", {"path": p}) for p in view.task.required_files)),),
        ),
        "notes-then-overflow": (NOTHING, (write, TOO_LONG)),
        # Rule 1
        "rejected-then-overflow": (
            Expected((0.0, 0.0), "context_window_exceeded", "context_size"),
            (Act((REJECTED,)), TOO_LONG),
        ),
        "rejected-then-limited": (
            Expected((0.0, 0.0), "context_window_exceeded", "rate_limit"),
            (Act((REJECTED,)), LIMITED),
        ),
        # Outside the score
        "notes-then-limited": (OUTSIDE, (write, LIMITED)),
        "cut-at-once": (OUTSIDE, (Cut("Let me"),)),
        # Some of it is right
        "javascript-only": (HALF, (*javascript, DONE)),
        "javascript-then-overflow": (HALF, (*javascript, TOO_LONG)),
        "gold-but-a-file": (HALF, (*gold, bash("rm tempo/units.py"), DONE)),
        "gold-but-broken-python": (HALF, (*gold, bash("echo 'raise 1/0' >> tempo/units.py"), DONE)),
        "another-parameter": (
            HALF,
            (
                *gold,
                bash("sed -i s/max_parts/limit/g tempo/*.py"),
                bash("sed -i s/maxParts/limit/g js/src/*.js"),
                DONE,
            ),
        ),
        # Nothing of it works
        "breaks-its-work": (
            UNNAMED,
            (*gold, bash("echo 'raise OSError(5)' >> tempo/__init__.py"),
             bash("echo 'throw new Error();' >> js/src/index.js; rm js/src/units.js"), DONE),
        ),
        "deletes-required": (
            unnamed("symbol_exists"),
            (bash("rm tempo/notation.py tempo/units.py js/src/notation.js js/src/units.js"), DONE),
        ),
        "syntax-error": (
            UNNAMED,
            (bash("echo 'def largest_unit(seconds:' >> tempo/units.py"),
             bash("echo 'export function largestUnit(seconds {' >> js/src/units.js"), DONE),
        ),
        "moves-a-symbol": (
            UNNAMED,
            (bash("sed -n '/^def unit_of/,$p' tempo/units.py > tempo/lookup.py"),
             bash("sed -i '/^def unit_of/,$d' tempo/units.py"),
             bash("sed -i 's/export function unitOf/function unitOf/' js/src/units.js"), DONE),
        ),
        "another-name": (
            AS_AT_BASE,
            (bash("printf 'def biggest_unit(seconds):\\n    return 1\\n' >> tempo/units.py"),
             bash("echo 'export const biggestUnit = () => 1;' >> js/src/units.js"), DONE),
        ),
        "an-empty-line": (AS_AT_BASE, (bash("echo >> tempo/units.py"), DONE)),
        "a-mode-only": (AS_AT_BASE, (bash("chmod +x js/src/units.js"), DONE)),
        # One language (rule 6 is for navigation alone)
        "python-only": (Expected((0.0, 0.1), "missing_cross_language_change"), (*python, DONE)),
        "gold-but-javascript": (
            Expected((0.0, 0.1), "missing_cross_language_change"),
            (*gold, bash("git checkout -- js"), DONE),
        ),
    }  # fmt: skip


@pytest.fixture(scope="module")
def played(
    view: TaskView,
    server: ScriptedServer,
    shared_state: StateDirectory,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[tuple[str, Mode], Record]:
    """The record of each conversation in each mode."""
    scripts = {name: Script(steps) for name, (_, steps) in conversations(view).items()}
    providers = [
        {"name": n, "baseUrl": server.register(n, s), "apiKey": "none", "models": ["m"]}
        for n, s in scripts.items()
    ]
    out = tmp_path_factory.mktemp("odd") / "out"
    argv = [sys.executable, "-m", "nanobench", "bench", "--tasks", "sample", "--out", str(out)]
    argv += ["--models", ",".join(f"{name}/m" for name in scripts), "--mode", "both"]
    done = subprocess.run(
        [*argv, "--state-dir", str(shared_state.root), "--jobs", "2", "--max-turns", "8"],
        cwd=out.parent,
        env={**os.environ, "NANOCODER_PROVIDERS": json.dumps(providers)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    found = [Record.from_json(path.read_bytes()) for path in out.glob("cells/*/*/record.json")]
    records = {(record.cell.model.provider, record.cell.mode): record for record in found}
    assert len(records) == 2 * len(scripts), done.stderr
    return records


def label(record: Record) -> dict[str, Any]:
    verdict = record.verdict
    return {"score": verdict.score, "category": verdict.category, "outcome": verdict.outcome}


@pytest.mark.parametrize("mode", ["hinted", "navigation"])
def test_every_conversation_gets_the_label_of_the_rules(
    played: dict[tuple[str, Mode], Record], view: TaskView, mode: Mode
) -> None:
    wrong = {}
    for name, (expected, _) in conversations(view).items():
        record, category = played[name, mode], expected.category
        if mode == "hinted" and expected is NOTHING:
            category = None
        if mode == "hinted" and category == "missing_cross_language_change":
            category = "unclassified"
        score = expected.scores[mode == "navigation"]
        outcome = "infrastructure_error" if score is None else "graded"
        wanted = {"score": score, "category": category, "outcome": outcome}
        reason = expected.reason or record.verdict.reason
        if label(record) != wanted or record.verdict.reason != reason:
            wrong[name] = (wanted, expected.reason, label(record), record.verdict)
    assert wrong == {}
