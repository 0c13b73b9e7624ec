"""Every attempt of `tampering/` through the real agent: scored as if it were not made, and told.

Each attempt is a shell script that the agent runs after its work. Its head says what it tries
(`Try`), after which work (`Work`), and where the record tells of it (`Seen`). The table of
docs/tampering.md is made of the attempts and of what became of them.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.scripted.behaviours import script_for
from nanobench.agent.scripted.script import Act, Say, Script, Step, ToolCall
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.agent.scripted.sources import TaskView
from nanobench.environment.sandbox import best_sandbox
from nanobench.files import StateDirectory
from nanobench.model.record import Record

pytestmark = pytest.mark.real

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tampering.md"
WORKS = {"none": "noop", "wrong": "wrong-logic", "half": "partial", "gold": "gold"}
DONE = Say("Done.")
BEGIN, END = "<!-- attempts -->\n", "<!-- end -->\n"


@dataclass(frozen=True)
class Attempt:
    """A script, what it tries, the work before it, and the record's fields that tell of it."""

    name: str
    script: str
    tries: str
    work: str
    seen: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> "Attempt":
        lines = path.read_text().splitlines(keepends=True)
        script = "".join(line for line in lines if not line.startswith("# "))
        parts = (line[2:].rstrip().partition(": ") for line in lines if line.startswith("# "))
        heads = [(key, value) for key, _, value in parts]
        (tries,), (work,) = ([v for k, v in heads if k == key] for key in ("Try", "Work"))
        seen = (value.partition(": ") for key, value in heads if key == "Seen")
        return cls(path.stem, script, tries, work, tuple((f, v) for f, _, v in seen))


ATTEMPTS = [Attempt.read(path) for path in sorted(Path(__file__).parent.glob("tampering/*.sh"))]


def work(name: str, view: TaskView) -> tuple[Step, ...]:
    """The steps of a scripted model but for its farewell."""
    return script_for(WORKS[name], view).steps[:-1]


@pytest.fixture(scope="module")
def records(
    view: TaskView,
    server: ScriptedServer,
    shared_state: StateDirectory,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Record]:
    """One record for each attempt, and one for each kind of work without any."""
    if best_sandbox().name != "bubblewrap":
        pytest.skip("the table tells of runs in bubblewrap")
    scripts = {f"only-{name}": (*work(name, view), DONE) for name in WORKS}
    for one in ATTEMPTS:
        tamper = Act((ToolCall("execute_bash", {"command": one.script}),))
        scripts[one.name] = (*work(one.work, view), tamper, DONE)
    urls = {name: server.register(name, Script(steps)) for name, steps in scripts.items()}
    return bench(urls, tmp_path_factory.mktemp("tampering") / "out", shared_state)


def bench(urls: dict[str, str], out: Path, state: StateDirectory) -> dict[str, Record]:
    """Run one cell for each provider, which is named after its case."""
    providers = [
        {"name": name, "baseUrl": url, "apiKey": "none", "models": ["m"]}
        for name, url in urls.items()
    ]
    argv = [sys.executable, "-m", "nanobench", "bench", "--tasks", "sample", "--out", str(out)]
    argv += ["--models", ",".join(f"{name}/m" for name in urls), "--state-dir", str(state.root)]
    done = subprocess.run(
        [*argv, "--jobs", "2", "--timeout", "60"],
        cwd=out.parent,
        env={**os.environ, "NANOCODER_PROVIDERS": json.dumps(providers)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    found = [Record.from_json(path.read_bytes()) for path in out.glob("cells/*/*/record.json")]
    records = {record.cell.model.provider: record for record in found}
    assert records.keys() == urls.keys(), done.stderr
    return records


def judgement(record: Record) -> tuple[Any, ...]:
    """What must be the same; the targets too, which a task of one language would score."""
    verdict, passed = record.verdict, record.signals.verification.targets_passed
    return verdict.outcome, verdict.score, verdict.label, verdict.category, passed


def tells(record: Record, field: str, value: str) -> bool:
    """Whether a field of the signals, such as `edits.protected`, holds this text."""
    found: Any = record.signals
    for name in field.split("."):
        found = getattr(found, name)
    if not isinstance(found, tuple):
        return value in str(found)
    return any(value in (one if isinstance(one, str) else one.path) for one in found)


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=[one.name for one in ATTEMPTS])
def test_an_attempt_changes_no_judgement_and_is_told(
    records: dict[str, Record], attempt: Attempt
) -> None:
    record = records[attempt.name]
    assert judgement(record) == judgement(records[f"only-{attempt.work}"])
    assert attempt.seen
    assert [seen for seen in attempt.seen if not tells(record, *seen)] == []


def table(records: dict[str, Record]) -> str:
    """The attempts as Markdown, with the scores that they really got."""
    lines = ["| attempt | what it tries | after | score | told in |", "|---|---|---|---|---|"]
    for one in ATTEMPTS:
        told = "<br>".join(f"`{field}`: `{value}`" for field, value in one.seen)
        score = records[one.name].verdict.score
        lines.append(f"| {one.name} | {one.tries} | {one.work} | {score} | {told} |")
    return "\n".join(lines) + "\n"


def test_the_page_shows_what_became_of_every_attempt(records: dict[str, Record]) -> None:
    assert len(ATTEMPTS) >= 30
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if "UPDATE_DOCS" in os.environ:
        PAGE.write_text(before + begin + table(records) + end + after)
    assert PAGE.read_text() == before + begin + table(records) + end + after
