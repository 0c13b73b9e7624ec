"""Results to show, and a real headless Chromium that shows them from a file."""

import gzip
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from nanobench.model.plan import AgentSettings, Cell, Limits, ModelRef, Plan, PlanTask
from nanobench.model.record import Record
from nanobench.report.attempts import Attempts
from nanobench.report.comparison import compare_results
from nanobench.report.html.writing import write_page
from nanobench.report.pairing import Results

NAMES = ("chromium", "chromium-browser", "google-chrome")
DESKTOP = (1280, 800)
DIGEST = "a" * 64
PROVENANCE = {
    "nanobench": "0.1.0",
    "nanocoder": "1.30.0",
    "node": "22.0.0",
    "platform": "linux-x64",
    "task_sha256": DIGEST,
    "task_schema": "1.0",
    "dataset": "nanobench 1.0.0",
    "environment_key": DIGEST,
    "isolation": {
        "strategy": "native",
        "sandbox": "none",
        "agent_network": "host",
        "verify_network": "host",
    },
    "tool_surface": {
        "tools": None,
        "agents_md_sha256": None,
        "web_access": False,
        "vision": False,
        "dependencies_writable": False,
    },
    "settings": AgentSettings().model_dump(mode="json"),
    "limits": Limits().model_dump(mode="json"),
}
RAN = {
    "exit_code": 1,
    "duration_seconds": 2.5,
    "timed_out": False,
    "truncated": False,
    "output_lines": 9,
    "head": "head",
    "tail": "tail",
}


def record(cell: Cell, solved: bool, text: str = "it is wrong") -> Record:
    status = "passed" if solved else "failed"
    test = {"id": f"test {text}", "status": status, "message": text[:2000], "details": text[:4000]}
    failed = {
        "category": "hallucinated_api",
        "rule": 3,
        "level": "4 content",
        "evidence": [text],
        "flags": [text],
    }
    return Record.model_validate(
        {
            "cell": cell,
            "attempt": 1,
            "provenance": PROVENANCE,
            "signals": {
                "mode": cell.mode,
                "required_files": ["a.py"],
                "agent": {
                    "ending": "completed",
                    "exit_code": 0,
                    "report": "complete",
                    "report_bytes": 1,
                    "error_message": text[:500],
                },
                "edits": {
                    "source": "diff",
                    "observed": [{"path": f"a.py {text}", "change": "modified"}],
                    "reported": [],
                    "observed_only": [f"a.py {text}"],
                    "pollution": [text],
                },
                "verification": {
                    "possible": True,
                    "suites": [
                        {
                            "name": text,
                            "language": text,
                            "state": "ok",
                            "exit_code": 1,
                            "duration_seconds": 1.0,
                            "targets": [test],
                            "regressions": [] if solved else [test],
                            "counts": {status: 1},
                            "suite_errors": [] if solved else [text],
                        }
                    ],
                },
            },
            "verdict": {
                "ruleset": "1.1",
                "outcome": "graded",
                "score": float(solved),
                "label": "Complete Resolution" if solved else "Zero Signal",
                "solved": solved,
                **({} if solved else failed),
            },
            "completion": {
                "verification_summary": text,
                "commands_run": [{**RAN, "command": text, "output_id": "suite"}],
                "artifacts_created": [],
                "remaining_failures": [],
            },
            "agent_patch_sha256": None,
            "timing": {"started_at": "2026-05-01T00:00:00Z", "phases_seconds": {"agent": 3.0}},
        }
    )


def write_files(home: Path, text: str) -> None:
    """All that lies beside a record, with `text` wherever others write."""
    (home / "outputs").mkdir(parents=True)
    call = {"name": text[:200], "arguments": {text[:200]: text}, "result": text, "error": None}
    report = {"kind": "success", "exitCode": 0, "finalText": text, "toolCalls": [call]}
    outputs = {"agent-report": json.dumps(report), "agent-stderr": text, "suite": text}
    for name, content in outputs.items():
        (home / "outputs" / f"{name}.log.gz").write_bytes(gzip.compress(content.encode()))
    (home / "prompt.txt").write_text(text)
    (home / "agent.patch").write_text(f"--- a\n+++ b\n@@ -1 +1 @@ {text}\n-{text}\n+{text}\n")
    (home / "gateway.jsonl").write_text(json.dumps({"status": 200, "finish_reason": text[:9000]}))


@dataclass(frozen=True)
class Bench:
    """Results of two models on three tasks, five runs each; `solved` of a model's runs pass.

    `text` stands wherever others write; `trouble` is the infrastructure trouble of all runs.
    """

    root: Path
    text: str = "it is wrong"
    trouble: str | None = None
    models: tuple[str, ...] = ("acme/one", "acme/two")
    tasks: tuple[str, ...] = ("alpha", "beta", "gamma")

    def results(self, *solved: int, absent: int = 0) -> Results:
        cells = [
            Cell(model=ModelRef.parse(model), task_id=task, mode="hinted", run=run)
            for model in self.models
            for task in self.tasks
            for run in range(1, 6)
        ]
        plan = Plan(
            tasks=tuple(
                PlanTask(task_id=task, origin="dataset", sha256=DIGEST, tier=3)
                for task in self.tasks
            ),
            cells=tuple(cells),
        )
        size = len(self.tasks) * 5
        kept = [
            self._record(cell, number % size < solved[number // size])
            for number, cell in enumerate(cells)
        ][: len(cells) - absent]
        for one in kept:
            home = self.root / "cells" / one.cell.cell_id / "attempt-1"
            home.mkdir(parents=True)
            (home / "record.json").write_text(one.to_json())
            write_files(home, self.text)
        return Results.of("results", plan, kept)

    def _record(self, cell: Cell, solved: bool) -> Record:
        if self.trouble is None:
            return record(cell, solved, self.text)
        document = record(cell, False, self.text).model_dump(mode="json")
        document["verdict"] |= {
            "outcome": "infrastructure_error",
            "score": None,
            "label": None,
            "category": None,
            "rule": None,
            "level": None,
            "reason": self.trouble,
        }
        return Record.model_validate(document)

    def page(self, results: Results, baseline: Results | None = None) -> Path:
        out = self.root / "report"
        out.mkdir(parents=True)
        comparison = compare_results(baseline, results) if baseline else None
        return write_page(results.report, Attempts(results.records, [self.root]), out, comparison)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no browser is installed: none of {', '.join(NAMES)}")
    flags = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=flags)
        yield found
        found.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`opened(path, hash="", size=DESKTOP, **context)`: a page that must stay quiet and alone."""
    told: list[str] = []
    asked: list[str] = []
    contexts = []

    def open_page(path: Path, hash: str = "", size: tuple[int, int] = DESKTOP, **more: Any) -> Page:
        width, height = size
        context = browser.new_context(viewport={"width": width, "height": height}, **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: told.append(f"error: {error}"))
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: told.append(f"dialog: {dialog.message}"))
        page.goto(path.as_uri() + hash)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert told == []
    assert [url for url in asked if not url.startswith("file:///")] == []


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    """`bench(name="bench", ...)`: see `Bench`."""
    return lambda name="bench", **more: Bench(tmp_path / name, **more)
