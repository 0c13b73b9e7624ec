"""Comments in a real browser: nothing in them runs, and the largest usual one is readable."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from nanobench.model.gate import GateOutcome, GateProblem, GateResult, TaskGates
from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.model.verdict import Verdict
from nanobench.pipeline.records import read_record
from nanobench.report.comment import Links, comment_parts, pointer
from nanobench.report.comparison import compare_results
from nanobench.report.gate_markdown import gate_parts
from nanobench.report.pairing import Results

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
RECORD = Path(__file__).parents[2] / "fixtures/records/1.0/lines-counted.json"
MODELS = (
    "ollama/qwen3-coder:30b", "openrouter/anthropic/claude-sonnet-4.5", "google/gemini-3-pro",
    "anthropic/claude-opus-4-6", "openrouter/deepseek/deepseek-v4", "ollama/gpt-oss:120b",
    "mistral/devstral-medium-2026", "openai-compatible/llama-5-405b",
)  # fmt: skip
TASKS = (
    "honojs-hono-5067", "langchain-google-1870", "marimo-team-marimo-9867",
    "apache-fory-3885", "gradio-app-gradio-13714", "PrefectHQ-prefect-21828",
)  # fmt: skip
EVIL = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
    "</code></td><svg onload=document.title='run'>|\n\n<iframe src=http://evil.example>"
    "[x](javascript:document.title='run')`</code>"
)
# The column of a pull request, and how GitHub's style sheet lays out text and tables there.
STYLE = (
    "body{font:14px/1.5 sans-serif;width:812px;margin:0}table{display:block;width:max-content;"
    "max-width:100%;overflow:auto;border-collapse:collapse}td,th{padding:6px 13px;border:1px solid}"
    "code{font-family:monospace;font-size:85%;padding:.2em .4em;white-space:break-spaces}"
)
MEASURE = (
    "addEventListener('load',()=>{const t=[...document.querySelectorAll('table')];"
    "document.body.dataset.seen=JSON.stringify({title:document.title,tables:t.length,"
    "wide:t.filter(e=>e.scrollWidth>e.clientWidth+1).length,"
    "height:document.body.scrollHeight,requests:performance.getEntriesByType('resource').length,"
    "tags:[...new Set([...document.body.querySelectorAll('*')].map(e=>e.localName))]})})"
)

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]


def seen(markdown: str, directory: Path) -> dict[str, Any]:
    """What the browser finds in a comment."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    page = directory / "page.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><title>still</title><style>{STYLE}</style>"
        f"<script>{MEASURE}</script><body>{html}</body>"
    )
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            f"--user-data-dir={directory / 'profile'}", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    (found,) = re.findall(r'data-seen="(.*?)"', done.stdout)
    return json.loads(found.replace("&quot;", '"'))


def record(cell: Cell, solved: bool, text: str = "") -> Record:
    """A record that is real but for its cell and its verdict."""
    real = read_record(RECORD)
    assert isinstance(real, Record)
    failed = {"category": "unclassified", "reason": text or "tests_failed", "evidence": (text,)}
    verdict = Verdict(
        ruleset="1.1",
        outcome="graded",
        score=float(solved),
        label="Complete Resolution" if solved else "Zero Signal",
        solved=solved,
        **({} if solved else failed),
    )
    return real.model_copy(
        update={
            "cell": cell,
            "verdict": verdict,
            "provenance": real.provenance.model_copy(update={"scripted": False}),
        }
    )


def results(solved: Any) -> Results:
    cells = [
        Cell(model=ModelRef.parse(m), task_id=t, mode=mode, run=run)
        for m in MODELS
        for t in TASKS
        for mode in ("hinted", "navigation")
        for run in range(1, 6)
    ]
    records = [
        record(c, (MODELS.index(str(c.model)) + c.run) % 3 != 0 and solved(c)) for c in cells[:-7]
    ]
    tasks = tuple(PlanTask(task_id=t, origin="dataset", sha256="a" * 64, tier=3) for t in TASKS)
    return Results.of("side", Plan(tasks=tasks, cells=tuple(cells)), records)


def test_six_tasks_eight_models_and_two_modes_need_no_scrolling_aside(tmp_path: Path) -> None:
    before = results(lambda cell: True)
    after = results(lambda cell: str(cell.model) != MODELS[1])
    comparison = compare_results(before, after)
    links = Links("c" * 40, "https://github.com/a/b/actions/runs/1")
    parts = comment_parts(after.report, comparison, links)
    found = seen("\n\n".join(part.text for part in parts), tmp_path)
    assert found["tables"] >= 5
    assert found["wide"] == 0
    assert found["requests"] == 0


def test_nothing_in_a_comment_runs_or_loads(tmp_path: Path) -> None:
    model = EVIL.replace("\n", " ")
    cells = [
        Cell(model=ModelRef(provider="p", model=model), task_id="t1", mode="hinted", run=run)
        for run in (1, 2, 3)
    ]
    side = Results.of(EVIL, None, [record(cell, False, EVIL) for cell in cells], [EVIL])
    comparison = compare_results(side, side)
    problem = GateProblem(gate="schema", file=EVIL, field=EVIL, seen=EVIL, remedy=EVIL)
    outcome = GateOutcome(gate="schema", status="failed", problems=(problem,))
    gates = GateResult(tasks=(TaskGates(task=EVIL, gates=(outcome,)),))
    links = Links(EVIL, EVIL, EVIL)
    for number, parts in enumerate(
        (comment_parts(side.report, comparison, links), gate_parts(gates))
    ):
        directory = tmp_path / str(number)
        directory.mkdir()
        text = "\n\n".join([*(part.text for part in parts), pointer(links)])
        found = seen(text, directory)
        assert found["title"] == "still"
        assert found["requests"] == 0
        assert not {"script", "img", "svg", "iframe", "a"} & set(found["tags"])
        assert found["tables"] == len(re.findall(r"^\| ---", text, re.MULTILINE))
