"""The real Nanocoder on providers that misbehave, through the gateway and a whole bench.

Every case is played in both dialects that Nanocoder can be pointed at; what becomes of it is the
table of docs/gateway.md.
"""

import gzip
import json
import os
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.gateway.route import PLACEHOLDER_KEY
from nanobench.agent.scripted.edits import edit_calls
from nanobench.agent.scripted.script import ToolCall
from nanobench.agent.scripted.sources import TaskView
from nanobench.files import StateDirectory
from nanobench.model.record import Record

pytestmark = pytest.mark.real

DOCS = Path(__file__).parents[2] / "docs/gateway.md"
CANARY = "canary-key-81dc9bdb52d04dc2"
SOON = {"retry-after-ms": "10"}
SEEN = "seen-by-the-shell.txt"


@dataclass(frozen=True)
class Say:
    """A reply: text, or calls of tools; told as costing these tokens."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    then: str = "end"  # end | cut | stall


@dataclass(frozen=True)
class Fail:
    """An HTTP error."""

    status: int
    message: str
    code: str | None = None
    kind: str = "api_error"
    headers: Mapping[str, str] = field(default_factory=lambda: SOON)
    if_field: str | None = None  # only for requests that have this field


Step = Say | Fail
Turns = tuple[tuple[Step, ...], ...]
"""By turn of the conversation: the replies to one request after the other, the last for ever."""

DONE = Say("Done.")
BUSY = Fail(429, "Too many requests", "rate_limit_exceeded", "rate_limit_error")
DOWN = Fail(500, "The server had an error")
LONG = Fail(400, "prompt is too long: 9000 tokens > 8192 maximum", "context_length_exceeded")
DENIED = Fail(401, "Incorrect API key provided", "invalid_api_key", "authentication_error")
FIXED = Fail(400, "`temperature` is deprecated for this model.", if_field="temperature")
STALL_SECONDS = 4
NOBODY = "refused"
APART = ("unknown tools", "shell")  # cases that are no failure


def conversations(view: TaskView) -> dict[str, Turns]:
    gold = Say(calls=edit_calls(view.source_changes, view.base))
    look = "cat /proc/*/environ | tr '\\0' '\\n'; env; cat ~/.config/* 2>/dev/null"
    return {
        "429, then success": ((BUSY, gold), (BUSY, DONE)),
        "429 for ever": ((BUSY,),),
        "429 for ever, after an answer": ((Say(calls=(READ,)),), (BUSY,)),
        "429 for ever, after an edit": ((gold,), (BUSY,)),
        "500 twice, then success": ((DOWN, DOWN, gold), (DONE,)),
        "500 for ever": ((DOWN,),),
        "context size, before an edit": ((LONG,),),
        "context size, after an edit": ((gold,), (LONG,)),
        "401": ((DENIED,),),
        "401, after an edit": ((gold,), (DENIED,)),
        "stream cut before any output": ((Say(then="cut"), gold), (DONE,)),
        "stream cut within text": ((gold,), (Say("Half of", then="cut"),)),
        "stall before any output": ((Say(then="stall"),),),
        "stall within text": ((gold,), (Say("Half of", then="stall"),)),
        NOBODY: (),
        "temperature refused": ((FIXED, gold), (DONE,)),
        "unknown tools": ((Say(calls=(NO_TOOL,)),), (Say(calls=(NO_TOOL,)),), (gold,), (DONE,)),
        "shell": (
            (Say(calls=(ToolCall("execute_bash", {"command": f"({look}) > {SEEN}"}),)),),
            (DONE,),
        ),
    }


READ = ToolCall("read_file", {"path": "tempo/units.py"})
NO_TOOL = ToolCall("no_such_tool", {"path": "x"})


class Provider:
    """Plays every case in both dialects, and counts what it tells."""

    def __init__(self, cases: Mapping[str, Turns]) -> None:
        self.cases = {slug(name): turns for name, turns in cases.items()}
        self.played: dict[tuple[str, int], int] = defaultdict(int)
        self.bodies: dict[str, list[Any]] = defaultdict(list)
        self.keys: dict[str, set[str]] = defaultdict(set)
        self.tokens: dict[str, Counter[str]] = defaultdict(Counter)
        self.over = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                provider.serve(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{name}/v1"

    def __enter__(self) -> "Provider":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self, http: BaseHTTPRequestHandler) -> None:
        body = json.loads(http.rfile.read(int(http.headers["content-length"])))
        name = http.path.split("/")[1]
        dialect = Anthropic() if http.path.endswith("/messages") else OpenAI()
        self.bodies[name].append(body)
        self.keys[name].add(http.headers.get(dialect.key_header, ""))
        turns = self.cases[name.partition("-")[2]]
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        steps = turns[min(turn, len(turns) - 1)]
        step = steps[min(self.played[name, turn], len(steps) - 1)]
        self.played[name, turn] += 1
        if isinstance(step, Fail) and (step.if_field is None or step.if_field in body):
            self._fail(http, step, dialect)
        else:
            said = step if isinstance(step, Say) else steps[-1]
            self._say(http, said, dialect, name)

    def _fail(self, http: BaseHTTPRequestHandler, step: Fail, dialect: "Dialect") -> None:
        content = json.dumps(dialect.error(step)).encode()
        http.send_response(step.status)
        for key, value in {**step.headers, "content-type": "application/json"}.items():
            http.send_header(key, value)
        http.send_header("content-length", str(len(content)))
        http.end_headers()
        http.wfile.write(content)

    def _say(self, http: BaseHTTPRequestHandler, said: Say, dialect: "Dialect", name: str) -> None:
        http.send_response(200)
        http.send_header("content-type", "text/event-stream")
        http.send_header("transfer-encoding", "chunked")
        http.end_headers()
        number = len(self.bodies[name])
        before, after = dialect.events(said, read=1000 + number, written=10 + number)
        for event in before if said.then != "end" else before + after:
            http.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        if said.then == "end":
            self.tokens[name].update(read=1000 + number, written=10 + number)
            http.wfile.write(b"0\r\n\r\n")
        elif said.then == "stall":
            self.over.wait(60)
        http.close_connection = said.then != "end"


class OpenAI:
    key_header = "authorization"

    def error(self, fail: Fail) -> Any:
        return {
            "error": {"message": fail.message, "type": fail.kind, "param": None, "code": fail.code}
        }

    def events(self, said: Say, read: int, written: int) -> tuple[list[bytes], list[bytes]]:
        def chunk(choices: list[Any], **more: Any) -> bytes:
            document = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
            return sse({**document, "choices": choices, **more})

        def delta(finish: str | None = None, **parts: Any) -> bytes:
            return chunk([{"index": 0, "delta": parts, "finish_reason": finish}])

        calls = [
            {
                "index": index,
                "id": f"call_{written}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for index, call in enumerate(said.calls)
        ]
        before = [delta(role="assistant")] + ([delta(content=said.text)] if said.text else [])
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
        after = [delta(tool_calls=[call]) for call in calls]
        after += [delta("tool_calls" if calls else "stop"), chunk([], usage=usage)]
        return before, [*after, b"data: [DONE]\n\n"]


class Anthropic:
    key_header = "x-api-key"

    def error(self, fail: Fail) -> Any:
        kind = "invalid_request_error" if fail.status == 400 else fail.kind
        return {"type": "error", "error": {"type": kind, "message": fail.message}}

    def events(self, said: Say, read: int, written: int) -> tuple[list[bytes], list[bytes]]:
        usage = {"input_tokens": read - 300, "cache_read_input_tokens": 300, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
        before = [self._event("message_start", message=message)]
        after = []
        if said.text:
            start = {"type": "text", "text": ""}
            before.append(self._event("content_block_start", index=0, content_block=start))
            said_so = {"type": "text_delta", "text": said.text}
            before.append(self._event("content_block_delta", index=0, delta=said_so))
            after.append(self._event("content_block_stop", index=0))
        for index, call in enumerate(said.calls):
            block = {"type": "tool_use", "id": f"toolu_{written}_{index}", "name": call.name}
            arguments = json.dumps(dict(call.arguments))
            part = {"type": "input_json_delta", "partial_json": arguments}
            after += [
                self._event(
                    "content_block_start", index=index, content_block={**block, "input": {}}
                ),
                self._event("content_block_delta", index=index, delta=part),
                self._event("content_block_stop", index=index),
            ]
        stop = {"stop_reason": "tool_use" if said.calls else "end_turn", "stop_sequence": None}
        last = self._event("message_delta", delta=stop, usage={"output_tokens": written})
        return before, [*after, last, self._event("message_stop")]

    def _event(self, kind: str, **more: Any) -> bytes:
        return f"event: {kind}\n".encode() + sse({"type": kind, **more})


Dialect = OpenAI | Anthropic


def sse(document: Any) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def slug(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)


@dataclass(frozen=True)
class Benched:
    """What a bench left, by provider."""

    out: Path
    stderr: str
    records: dict[str, Record]
    provider: Provider

    def exchanges(self, name: str) -> list[dict[str, Any]]:
        (log,) = self.out.glob(f"cells/{name}-m--*/*/gateway.jsonl")
        return [json.loads(line) for line in log.read_text().splitlines()]


def bench(
    provider: Provider, names: list[str], state: StateDirectory, out: Path, *options: str
) -> Benched:
    described = [
        {
            "name": name,
            "baseUrl": "http://127.0.0.1:9/v1"
            if name.partition("-")[2] == NOBODY
            else provider.url(name),
            "apiKey": "${CANARY_KEY}",
            "models": ["m"],
            **({"sdkProvider": "anthropic"} if name.startswith("anthropic") else {}),
            **({"socketTimeout": STALL_SECONDS * 1000} if "-stall" in name else {}),
        }
        for name in names
    ]
    argv = [sys.executable, "-m", "nanobench", "bench", "--tasks", "sample", "--out", str(out)]
    argv += ["--models", ",".join(f"{name}/m" for name in names), "--state-dir", str(state.root)]
    done = subprocess.run(
        [*argv, "--jobs", "3", *options],
        cwd=out.parent,
        env={**os.environ, "NANOCODER_PROVIDERS": json.dumps(described), "CANARY_KEY": CANARY},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=540,
    )
    found = [Record.from_json(path.read_bytes()) for path in out.glob("cells/*/*/record.json")]
    records = {record.cell.model.provider: record for record in found}
    assert records.keys() == set(names), done.stderr
    assert (out / "report/report.json").is_file(), done.stderr
    return Benched(out, done.stdout + done.stderr, records, provider)


@pytest.fixture(scope="module")
def cases(view: TaskView) -> dict[str, Turns]:
    return conversations(view)


@pytest.fixture(scope="module")
def through(
    cases: dict[str, Turns], shared_state: StateDirectory, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Benched]:
    out = tmp_path_factory.mktemp("through") / "out"
    names = [f"{dialect}-{slug(case)}" for case in cases for dialect in ("openai", "anthropic")]
    with Provider(cases) as provider:
        yield bench(provider, names, shared_state, out)


@pytest.fixture(scope="module")
def direct(
    cases: dict[str, Turns], shared_state: StateDirectory, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Benched]:
    out = tmp_path_factory.mktemp("direct") / "out"
    names = [f"openai-{slug(case)}" for case in ("429, then success", "401", "refused")]
    with Provider(cases) as provider:
        yield bench(provider, names, shared_state, out, "--gateway", "off")


def row(case: str, record: Record, exchanges: list[dict[str, Any]]) -> str:
    """A line of the table, from what a bench left."""
    agent, verdict = record.signals.agent, record.verdict
    answers = Counter(one["answered"] for one in exchanges)
    told = ", ".join(f"{count} x {status}" for status, count in sorted(answers.items()))
    absorbed = Counter(tried["error_class"] for one in exchanges for tried in one["attempts"])
    lost = ", ".join(f"{count} x {name}" for name, count in sorted(absorbed.items()))
    edited = "yes" if record.signals.edits.required_observed else "no"
    result = verdict.outcome if verdict.score is None else f"{verdict.score} {verdict.label}"
    reason = f" ({verdict.category or verdict.reason})" if verdict.score != 1.0 else ""
    cells = (case, agent.error_class or "-", lost or "-", told, edited, result + reason)
    return "| " + " | ".join(cells) + " |"


def documented() -> list[str]:
    """The rows of the table in the documentation."""
    below = DOCS.read_text().partition("\n| case |")[2].splitlines()
    return list(takewhile(lambda line: line.startswith("|"), below[2:]))


def test_the_table_in_the_documentation_is_what_happens(
    through: Benched, cases: dict[str, Turns]
) -> None:
    for dialect in ("openai", "anthropic"):
        names = {case: f"{dialect}-{slug(case)}" for case in cases if case not in APART}
        rows = [
            row(case, through.records[name], through.exchanges(name))
            for case, name in names.items()
        ]
        assert rows == documented(), "\n".join(rows)


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_temperature_0_reaches_the_provider_and_the_record_says_so(
    through: Benched, dialect: str
) -> None:
    name = f"{dialect}-{slug('429, then success')}"
    assert {body["temperature"] for body in through.provider.bodies[name]} == {0}
    seeds = {body.get("seed") for body in through.provider.bodies[name]}
    assert seeds == ({1} if dialect == "openai" else {None})
    provenance = through.records[name].provenance
    assert (provenance.temperature, provenance.non_deterministic) == ("pinned", False)
    assert "gateway on" in provenance.departures


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_a_refused_temperature_is_recorded_as_such(through: Benched, dialect: str) -> None:
    name = f"{dialect}-{slug('temperature refused')}"
    sent = ["temperature" in body for body in through.provider.bodies[name]]
    assert sent == [True, False, False]
    record = through.records[name]
    assert record.verdict.solved
    provenance = record.provenance
    assert (provenance.temperature, provenance.non_deterministic) == ("refused", True)
    report = json.loads((through.out / "report/report.json").read_text())
    told = {cell["cell"]["model"]["provider"]: cell for cell in report["cells"]}[name]
    assert told["non_deterministic"] is True


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
@pytest.mark.parametrize("case", ["unknown tools", "429, then success"])
def test_usage_is_the_provider_s_own_count(through: Benched, dialect: str, case: str) -> None:
    """Also where Nanocoder counts only the last request of a turn."""
    name = f"{dialect}-{slug(case)}"
    usage, counted = through.records[name].signals.agent.usage, through.provider.tokens[name]
    assert (usage.input_tokens, usage.output_tokens) == (counted["read"], counted["written"])
    assert usage.source == "gateway"
    if case == "unknown tools":
        (report,) = through.out.glob(f"cells/{name}-m--*/*/outputs/agent-report.log.gz")
        asked = len(through.provider.bodies[name])
        assert through.records[name].signals.agent.requests == asked > 3
        assert json.loads(content(report))["usage"]["inputTokens"] < counted["read"]


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_what_the_agent_saw_and_what_was_absorbed_are_both_recorded(
    through: Benched, dialect: str
) -> None:
    agent = through.records[f"{dialect}-{slug('429, then success')}"].signals.agent
    assert (agent.requests, agent.retries, agent.model_responses) == (2, 2, 2)
    agent = through.records[f"{dialect}-{slug('429 for ever')}"].signals.agent
    assert (agent.requests, agent.retries, agent.model_responses) == (1, 4, 0)


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_the_key_is_nowhere_but_with_the_provider(
    through: Benched, shared_state: StateDirectory, dialect: str
) -> None:
    name = f"{dialect}-shell"
    sent = {key.removeprefix("Bearer ") for key in through.provider.keys[name]}
    assert sent == {CANARY}
    (patch,) = through.out.glob(f"cells/{name}-m--*/*/agent.patch")
    seen = patch.read_text()
    assert SEEN in seen
    assert seen.count(PLACEHOLDER_KEY) >= 2  # of Nanocoder's process and of its shell
    files = [path for path in through.out.rglob("*") if path.is_file()]
    files += [path for path in shared_state.runs.rglob("*") if path.is_file()]
    assert len(files) > 100
    assert [path for path in files if CANARY.encode() in content(path)] == []
    assert CANARY not in through.stderr


def test_without_the_gateway_the_records_say_what_is_unknown(direct: Benched) -> None:
    name = f"openai-{slug('429, then success')}"
    record = direct.records[name]
    agent, provenance = record.signals.agent, record.provenance
    assert record.verdict.solved
    assert "temperature" not in direct.provider.bodies[name][0]
    assert direct.provider.keys[name] == {f"Bearer {CANARY}"}
    assert (provenance.temperature, provenance.non_deterministic) == ("unknown", True)
    assert (provenance.settings.gateway, provenance.tool_surface.tools) == ("off", None)
    assert "gateway off" in provenance.departures
    assert (agent.requests, agent.retries, agent.model_responses) == (None, None, None)
    assert list(direct.out.glob("cells/*/*/gateway.jsonl")) == []


@pytest.mark.parametrize(("case", "reason"), [("401", "authentication"), ("refused", "connection")])
def test_without_the_gateway_errors_are_read_from_nanocoder_s_phrases(
    direct: Benched, case: str, reason: str
) -> None:
    record = direct.records[f"openai-{case}"]
    assert (record.verdict.outcome, record.verdict.reason) == ("infrastructure_error", reason)
    assert record.signals.agent.error_source == "stderr"
