"""A bench is recorded through the real Nanocoder, then replayed with its provider gone."""

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.scripted.behaviours import TaskView, script_for
from nanobench.agent.scripted.script import Act, Say, Script, ToolCall
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.cli.bench import How, run_plan
from nanobench.cli.common import Terms
from nanobench.cli.requests import PlanRequest
from nanobench.environment.sandbox import probe_sandboxes
from nanobench.files import StateDirectory
from nanobench.pipeline.taping import Taping

pytestmark = pytest.mark.real

CANARY = "sk-canary-5b1e02c9"
HEADER_CANARY = "hdr-canary-77d0"
BEHAVIOURS = ("gold", "noop", "partial", "hallucinated-api", "context-overflow")
ARGUMENTS = (
    *("--models", ",".join(f"lab-{name}/m" for name in BEHAVIOURS)),
    *("--tasks", "sample", "--mode", "both", "--jobs", "2"),
)
CELLS = 2 * len(BEHAVIOURS)
TIMES = {"duration_seconds", "timing"}


@dataclass(frozen=True)
class Cli:
    state: StateDirectory
    cwd: Path

    def __call__(
        self, *arguments: str, providers: list[dict[str, Any]] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        told = {"NANOCODER_PROVIDERS": json.dumps(providers)} if providers else {}
        return subprocess.run(
            [sys.executable, "-m", "nanobench", *arguments, "--state-dir", str(self.state.root)],
            cwd=self.cwd,
            env={**kept, **told},
            capture_output=True,
            text=True,
            timeout=300,
        )


@dataclass(frozen=True)
class Recorded:
    """The directories of a recorded bench."""

    out: Path
    tapes: Path


@pytest.fixture(scope="module")
def cli(shared_state: StateDirectory, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return Cli(shared_state, tmp_path_factory.mktemp("nowhere"))


def describe(server: ScriptedServer, view: TaskView, name: str) -> dict[str, Any]:
    return {
        "name": f"lab-{name}",
        "baseUrl": server.register(f"lab-{name}", script_for(name, view)),
        "apiKey": CANARY,
        "headers": {"X-Auth-Token": HEADER_CANARY},
        "models": ["m"],
    }


@pytest.fixture(scope="module")
def recorded(cli: Cli, view: TaskView, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    root = tmp_path_factory.mktemp("recorded")
    found = Recorded(root / "out", root / "tapes")
    with ScriptedServer() as server:
        providers = [describe(server, view, name) for name in BEHAVIOURS]
        places = ("--out", str(found.out), "--record", str(found.tapes))
        done = cli("bench", *ARGUMENTS, *places, providers=providers)
        assert done.returncode == 0, done.stderr
        asked = [len(server.exchanges(f"lab-{name}")) for name in BEHAVIOURS]
        assert all(asked), "the provider was really asked"
    return found


def records(out: Path) -> dict[str, dict[str, Any]]:
    found = (json.loads(path.read_text()) for path in sorted(out.glob("cells/*/*/record.json")))
    return {f"{r['cell']['model']['provider']} {r['cell']['mode']}": r for r in found}


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(item) for name, item in value.items() if name not in TIMES}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def only(cli: Cli, tapes: Path, out: Path, *more: str) -> dict[str, Any]:
    """The record of one hinted gold cell, replayed."""
    places = ("--out", str(out), "--replay", str(tapes))
    done = cli("bench", "--models", "lab-gold/m", "--tasks", "sample", *places, *more)
    (record,) = records(out).values()
    assert done.returncode == (0 if record["verdict"]["outcome"] == "graded" else 4), done.stderr
    return record


def test_a_replay_gives_the_same_records_apart_from_times(
    cli: Cli, recorded: Recorded, tmp_path: Path
) -> None:
    assert len(list(recorded.tapes.iterdir())) == CELLS
    done = cli("bench", *ARGUMENTS, "--out", str(tmp_path), "--replay", str(recorded.tapes))
    assert done.returncode == 0, done.stderr
    first, second = records(recorded.out), records(tmp_path)
    assert len(first) == len(second) == CELLS
    for name, record in first.items():
        assert second[name]["verdict"] == record["verdict"], name
        marks = [one["provenance"].pop("replay") for one in (record, second[name])]
        assert marks == [False, True]
        assert timeless(second[name]) == timeless(record), name
    categories = {record["verdict"]["category"] for record in second.values()}
    assert {None, "hallucinated_api", "partial_fix_only", "context_window_exceeded"} <= categories
    texts = (path.read_text() for path in tmp_path.glob("cells/*/*/gateway.jsonl"))
    logs = [json.loads(line) for text in texts for line in text.splitlines()]
    assert len(logs) >= CELLS
    assert all(one["replayed"] or one["error_class"] == "context_size" for one in logs)


def test_no_key_of_the_provider_is_in_what_a_recording_leaves(recorded: Recorded) -> None:
    files = [path for path in recorded.out.parent.rglob("*") if path.is_file()]
    assert len(files) > CELLS
    for path in files:
        content = path.read_bytes()
        assert CANARY.encode() not in content, path
        assert HEADER_CANARY.encode() not in content, path
    assert all(b"127.0.0.1" not in path.read_bytes() for path in recorded.tapes.iterdir())


def altered(tapes: Path, target: Path, mode: str, change: Any) -> Path:
    """A directory with one cassette, that of gold in this mode, changed."""
    target.mkdir()
    (source,) = tapes.glob(f"lab-gold-*--{mode}--*")
    document = json.loads(source.read_text())
    change(document)
    (hinted,) = tapes.glob("lab-gold-*--hinted--*")
    (target / hinted.name).write_text(json.dumps(document))
    return target


def test_another_prompt_is_a_miss_that_names_the_message(
    cli: Cli, recorded: Recorded, tmp_path: Path
) -> None:
    def claim_hinted(document: dict[str, Any]) -> None:
        document["cell"]["mode"] = "hinted"

    tapes = altered(recorded.tapes, tmp_path / "tapes", "navigation", claim_hinted)
    record = only(cli, tapes, tmp_path / "out")
    assert (record["verdict"]["outcome"], record["verdict"]["reason"]) == (
        "infrastructure_error",
        "replay",
    )
    assert record["verdict"]["score"] is None
    message = record["signals"]["agent"]["error_message"]
    assert "replay miss: request 1 is not the one recorded" in message
    assert "$.messages[1].content" in message
    assert "Key files to focus on" in message
    assert record["signals"]["agent"]["requests"] == 1, "a miss is not asked again"


def test_a_replay_that_pins_another_temperature_is_refused(
    cli: Cli, recorded: Recorded, tmp_path: Path
) -> None:
    def warm(document: dict[str, Any]) -> None:
        document["exchanges"][1]["pinned"]["temperature"] = 0.5

    tapes = altered(recorded.tapes, tmp_path / "tapes", "hinted", warm)
    record = only(cli, tapes, tmp_path / "out")
    assert record["verdict"]["reason"] == "replay"
    message = record["signals"]["agent"]["error_message"]
    assert "recorded seed 1, temperature 0.5, now seed 1, temperature 0" in message


def test_what_was_not_recorded_is_refused_before_anything_runs(
    cli: Cli, recorded: Recorded, tmp_path: Path
) -> None:
    asked = ("--models", "lab-gold/m,lab-other/m", "--tasks", "sample", "--out", str(tmp_path))
    done = cli("bench", *asked, "--replay", str(recorded.tapes))
    assert done.returncode == 3
    assert "1 of 2 cells cannot be replayed" in done.stderr
    assert "there is no cassette of lab-other/m on sample-tempo, hinted, run 1" in done.stderr
    assert records(tmp_path) == {}


@pytest.mark.parametrize(
    ("ceiling", "ending"),
    [(("--max-requests", "1"), "request_limit"), (("--max-tokens", "2000"), "token_limit")],
)
def test_a_ceiling_that_is_reached_caps_the_run_and_says_so(
    cli: Cli, recorded: Recorded, tmp_path: Path, ceiling: tuple[str, str], ending: str
) -> None:
    record = only(cli, recorded.tapes, tmp_path / "out", *ceiling)
    agent, verdict = record["signals"]["agent"], record["verdict"]
    assert (agent["ending"], agent["error_class"]) == (ending, "budget")
    assert agent["model_responses"] == 1
    assert "NanoBench ended this run at its limit" in agent["error_message"]
    assert (verdict["score"], verdict["solved"], verdict["reason"]) == (0.5, False, ending)
    assert record["provenance"]["limits"][ceiling[0].strip("-").replace("-", "_")] is not None


def test_a_bench_that_has_spent_its_money_starts_no_further_cell(
    cli: Cli, recorded: Recorded, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.json"
    price = {"input": 1, "output": 1}
    models = {f"lab-{name}/m": price for name in ("gold", "noop")}
    prices.write_text(json.dumps({"currency": "USD", "models": models}))
    asked = ("--models", "lab-gold/m,lab-noop/m", "--tasks", "sample", "--jobs", "1")
    places = ("--out", str(tmp_path / "out"), "--replay", str(recorded.tapes))
    ceiling = ("--max-cost", "0.0015", "--prices", str(prices))
    done = cli("bench", *asked, *places, *ceiling)
    assert done.returncode == 4
    assert "of --max-cost 0.0015 are spent; cells not started: 1" in done.stderr
    (record,) = records(tmp_path / "out").values()
    assert record["signals"]["agent"]["ending"] == "cost_limit"
    assert record["verdict"]["score"] == 0.5
    assert record["signals"]["agent"]["usage"]["cost"] > 0.0015
    assert record["provenance"]["prices"].startswith("file sha256:")
    again = cli("bench", *asked, *places, *ceiling)
    assert again.returncode == 0, again.stderr
    assert len(records(tmp_path / "out")) == 2


def test_a_ceiling_of_cost_needs_the_price_of_every_model(
    cli: Cli, recorded: Recorded, tmp_path: Path
) -> None:
    places = ("--out", str(tmp_path), "--replay", str(recorded.tapes))
    done = cli("bench", "--models", "lab-gold/m", "--tasks", "sample", *places, "--max-cost", "1")
    assert done.returncode == 3
    assert "no price is known of a model" in done.stderr
    assert "lab-gold/m" in done.stderr
    assert records(tmp_path) == {}


def test_recording_needs_the_gateway(cli: Cli, tmp_path: Path) -> None:
    places = ("--out", str(tmp_path / "out"), "--record", str(tmp_path / "tapes"))
    asked = ("--models", "scripted/gold", "--tasks", "sample", "--gateway", "off")
    done = cli("bench", *asked, *places)
    assert done.returncode == 2
    assert "--record: possible only where the gateway stands" in done.stderr


def test_recording_and_replaying_at_once_is_refused(cli: Cli, tmp_path: Path) -> None:
    both = ("--record", str(tmp_path), "--replay", str(tmp_path), "--out", str(tmp_path / "out"))
    done = cli("bench", "--models", "scripted/gold", "--tasks", "sample", *both)
    assert done.returncode == 2
    assert "either recorded or replayed" in done.stderr


TALKATIVE = """
pwd; echo "$HOME"; date; date -Iseconds; mktemp; ls -l; ls -la --full-time . | head -5
node -e 'console.log("took " + (Math.random() * 9 + 1).toFixed(3) + "s", process.cwd())'
env | grep NANOCODER_PROVIDERS; echo "at 0x$(head -c4 /dev/urandom | od -An -tx4 | tr -d ' ')"
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces", "none"])
def test_what_varies_between_runs_is_no_miss_in_any_sandbox(
    kind: str,
    shared_state: StateDirectory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox = next(probe.sandbox for probe in probe_sandboxes() if probe.name == kind)
    if sandbox is None:
        pytest.skip(f"there is no {kind} here")
    monkeypatch.setattr("nanobench.pipeline.bench.best_sandbox", lambda: sandbox)
    request = PlanRequest(
        **{field.name: None for field in fields(PlanRequest)}
        | {"models": ("lab/m",), "tasks": ("sample",), "mode": "hinted", "runs": 1}
        | {"ruleset": "1.1", "gateway": "on", "model_cutoffs": {}, "state_dir": shared_state.root}
    )
    resolved, tapes = request.resolve(), tmp_path / "tapes"
    script = Script((Act((ToolCall("execute_bash", {"command": TALKATIVE}),)), Say("Done.")))
    with ScriptedServer() as server:
        provider = {"name": "lab", "baseUrl": server.register("lab", script), "models": ["m"]}
        monkeypatch.setenv("NANOCODER_PROVIDERS", json.dumps([provider]))
        run_plan(resolved, tmp_path / "first", How(1, Terms(Taping(record=tapes))))
        assert len(server.exchanges("lab")) == 2
    monkeypatch.delenv("NANOCODER_PROVIDERS")
    run_plan(resolved, tmp_path / "second", How(1, Terms(Taping(replay=tapes))))
    ends = ("first", "second")
    said = [next((tmp_path / name).rglob("agent-report.log.gz")) for name in ends]
    assert len({gzip.decompress(path.read_bytes()) for path in said}) == 2, "the runs did differ"
    first, second = (records(tmp_path / name)["lab hinted"] for name in ends)
    agent = second["signals"]["agent"]
    assert agent["ending"] == "completed", agent["error_message"]
    for record in (first, second):
        record["provenance"].pop("replay")
    assert timeless(second) == timeless(first)
