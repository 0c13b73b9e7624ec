"""`nanobench status` beside a real bench whose model never answers: seen, ended, and crashed."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.files import StateDirectory

pytestmark = pytest.mark.real

PATIENCE = 240.0


def reply() -> bytes:
    """A call of the shell, for 100 tokens read and 10 written."""
    function = {"name": "execute_bash", "arguments": json.dumps({"command": "true"})}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    parts: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}},
    ]
    envelope = {"id": "r", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    events = [f"data: {json.dumps(envelope | part)}\n\n" for part in parts]
    return "".join([*events, "data: [DONE]\n\n"]).encode()


@contextmanager
def silent_provider() -> Iterator[tuple[str, threading.Event]]:
    """A provider that answers once and then says nothing: its address, and when that begins."""
    silent, over = threading.Event(), threading.Event()

    class Silent(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.close_connection = True
            if any(message["role"] == "tool" for message in body["messages"]):
                silent.set()
                over.wait(PATIENCE)
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(reply())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", silent
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class Bench:
    """One cell of the sample task, run by a process of its own."""

    def __init__(self, state: StateDirectory, out: Path, url: str) -> None:
        self.out = out
        provider = {"name": "silent", "baseUrl": url, "apiKey": "none", "models": ["m"]}
        self.env = {
            **os.environ,
            "NANOBENCH_STATE_DIR": str(state.root),
            "NANOCODER_PROVIDERS": json.dumps([provider]),
        }

    def start(self) -> "subprocess.Popen[bytes]":
        arguments = ("bench", "--models", "silent/m", "--tasks", "sample", "--out", str(self.out))
        command = (sys.executable, "-m", "nanobench", *arguments)
        return subprocess.Popen(command, env=self.env, stderr=subprocess.PIPE, cwd=self.out.parent)

    def status(self, *options: str) -> "subprocess.CompletedProcess[bytes]":
        command = (sys.executable, "-m", "nanobench", "status", str(self.out), *options)
        return subprocess.run(command, capture_output=True, timeout=60, check=False)

    def cell(self) -> dict[str, Any]:
        done = self.status("--json")
        if done.returncode == 3:  # the plan is not there yet
            return {}
        (cell,) = json.loads(done.stdout)["cells"]
        return dict(cell)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()
    process.communicate(timeout=60)


def test_a_running_cell_is_seen_and_ended_and_the_bench_says_so(
    shared_state: StateDirectory, tmp_path: Path
) -> None:
    with silent_provider() as (url, silent):
        bench = Bench(shared_state, tmp_path / "out", url)
        process = bench.start()
        try:
            assert silent.wait(PATIENCE)
            cell = bench.cell()
            (live,) = bench.out.glob("cells/*/attempt-1/status.json")
            place = Path(json.loads(live.read_text())["place"])
            assert place.is_dir()
            assert (cell["state"], cell["phase"], cell["attempt"]) == ("running", "agent", 1)
            assert b"running: 1 running" in bench.status().stdout
            until(lambda: bench.cell()["input_tokens"] == 100)
            assert bench.cell()["output_tokens"] == 10
            assert bench.cell()["requests"] >= 1
            until(lambda: any("silent" in line for line in bench.cell()["output"]))
            assert bench.status("--kill", cell["cell_id"]).returncode == 0
            _, stderr = process.communicate(timeout=PATIENCE)
        finally:
            end(process)
    assert process.returncode == 4
    assert b"the user ended the run in the phase 'agent'" in stderr
    cell = bench.cell()
    assert (cell["state"], cell["score"], cell["outcome"]) == ("failed", None, "environment")
    (attempt,) = (bench.out / "cells").glob("*/attempt-*")
    record = json.loads((attempt / "record.json").read_text())
    assert record["verdict"]["outcome"] == "infrastructure_error"
    assert not {"status.json", "kill"} & set(record["completion"]["artifacts_created"])
    assert not place.exists()
    assert bench.status("--kill", cell["cell_id"]).returncode == 2


def test_after_a_crash_the_cell_is_known_to_be_cut_short(
    shared_state: StateDirectory, tmp_path: Path
) -> None:
    with silent_provider() as (url, silent):
        bench = Bench(shared_state, tmp_path / "out", url)
        process = bench.start()
        children: list[psutil.Process] = []
        try:
            assert silent.wait(PATIENCE)
            until(lambda: bench.cell().get("state") == "running")
            children = psutil.Process(process.pid).children(recursive=True)
        finally:
            end(process)
        gone, alive = psutil.wait_procs(children, timeout=30)
        assert (bool(gone), alive) == (True, [])
        done = bench.status("--json")
        found = json.loads(done.stdout)
    assert found["running"] is False
    (cell,) = found["cells"]
    assert (cell["state"], cell["phase"]) == ("interrupted", "agent")
