"""The scripted server over real HTTP."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from nanobench.agent.scripted.script import Act, Cut, Fault, Say, Script, ToolCall
from nanobench.agent.scripted.server import ScriptedServer

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("read_file", "execute_bash")]
USER = {"role": "user", "content": "fix it"}
READ = Act((ToolCall("read_file", {"path": "a"}),))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def ask(url: str, body: dict[str, Any] | bytes) -> tuple[int, bytes, dict[str, str]]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", f"{parts.path}/chat/completions", body=data)
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def chat(*messages: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"model": "gold", "messages": [USER, *messages], "tools": TOOLS, **extra}


def assistant() -> dict[str, Any]:
    return {"role": "assistant", "content": ""}


def test_turns_follow_the_request_and_not_the_number_of_requests(server: ScriptedServer) -> None:
    url = server.register("k", Script((READ, Say("done"))))
    for _ in range(2):
        _, body, _ = ask(url, chat())
        assert json.loads(body)["choices"][0]["finish_reason"] == "tool_calls"
    _, body, _ = ask(url, chat(assistant()))
    assert json.loads(body)["choices"][0]["message"]["content"] == "done"


def test_the_last_turn_is_repeated(server: ScriptedServer) -> None:
    url = server.register("k", Script((READ, Say("done"))))
    _, body, _ = ask(url, chat(*[assistant()] * 9))
    assert json.loads(body)["choices"][0]["message"]["content"] == "done"


def test_streams_when_asked_to(server: ScriptedServer) -> None:
    url = server.register("k", Script((Say("done"),)))
    status, body, headers = ask(url, chat(stream=True))
    assert status == 200
    assert headers["Content-Type"].startswith("text/event-stream")
    assert body.endswith(b"data: [DONE]\n\n")


def test_each_request_is_logged_with_what_was_offered_and_sent(server: ScriptedServer) -> None:
    url = server.register("k", Script((READ, Say("done"))))
    ask(url, chat(temperature=0))
    ask(url, chat(assistant(), stream=True))
    first, second = server.exchanges("k")
    assert first.tools == ("read_file", "execute_bash")
    assert first.temperature == 0
    assert second.temperature is None
    assert (first.finish_reason, second.finish_reason) == ("tool_calls", "stop")
    assert first.status == 200
    assert first.error_class is None
    assert first.input_tokens
    assert first.output_tokens


def test_a_fault_has_status_body_and_headers(server: ScriptedServer) -> None:
    fault = Fault(429, "slow down", "rate_limit", "rate_limit", headers={"retry-after": "1"})
    url = server.register("k", Script((fault,)))
    status, body, headers = ask(url, chat(stream=True))
    assert status == 429
    assert headers["retry-after"] == "1"
    assert json.loads(body)["error"]["message"] == "slow down"
    (exchange,) = server.exchanges("k")
    assert (exchange.status, exchange.error_class) == (429, "rate_limit")
    assert exchange.output_tokens is None


def test_a_cut_stream_ends_without_its_end(server: ScriptedServer) -> None:
    url = server.register("k", Script((Cut("half a sen"),)))
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(url, chat(stream=True))
    assert b"half a sen" in caught.value.partial
    (exchange,) = server.exchanges("k")
    assert (exchange.status, exchange.error_class) == (200, "stream_cut")


def test_a_request_without_tools_gets_text_only(server: ScriptedServer) -> None:
    url = server.register("k", Script((READ,)))
    _, body, _ = ask(url, chat() | {"tools": []})
    choice = json.loads(body)["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"messages": 3}', b"\xff", b"[" * 200_000])
def test_nonsense_is_refused_and_logged(server: ScriptedServer, body: bytes) -> None:
    url = server.register("k", Script((Say("done"),)))
    status, answer, _ = ask(url, body)
    assert status == 400
    assert "error" in json.loads(answer)
    (exchange,) = server.exchanges("k")
    assert exchange.tools is None
    assert exchange.error_class == "invalid_request"


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages": [{"role": "assistant", "tool_calls": 7}], "tools": 5}',
        b'{"messages": [{"role": "user", "content": "half an emoji \\ud83d"}]}',
        b'{"messages": [null, 7, "x"], "temperature": "hot", "tools": [3, {"function": 1}]}',
    ],
)
def test_odd_but_readable_requests_are_answered(server: ScriptedServer, body: bytes) -> None:
    url = server.register("k", Script((Say("done"),)))
    assert ask(url, body)[0] == 200


def test_an_agent_that_is_ended_in_mid_talk_leaves_no_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    large = Act((ToolCall("write_file", {"path": "a", "content": "x" * 20_000_000}),))
    body = json.dumps(chat(stream=True)).encode()
    with ScriptedServer() as server:
        parts = urlsplit(server.register("k", Script((large,))))
        head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: "
        for missing in (1, 0):
            with socket.create_connection((parts.hostname, parts.port)) as connection:
                connection.sendall(f"{head}{len(body) + missing}\r\n\r\n".encode() + body)
                if not missing:
                    assert connection.recv(1)
        assert ask(f"http://127.0.0.1:{parts.port}{parts.path}", b"{")[0] == 400
    assert caplog.records == []
    assert [exchange.status for exchange in server.exchanges("k")] == [200, 400]


def test_unknown_and_released_keys_are_404(server: ScriptedServer) -> None:
    url = server.register("k", Script((Say("done"),)))
    assert ask(url.replace("/k/", "/other/"), chat())[0] == 404
    server.release("k")
    status, body, _ = ask(url, chat())
    assert status == 404
    assert json.loads(body)["error"]["code"] == "model_not_found"


def test_bodies_of_many_megabytes_are_taken(server: ScriptedServer) -> None:
    url = server.register("k", Script((Say("done"),)))
    status, _, _ = ask(url, chat({"role": "tool", "content": "x" * 8_000_000}))
    assert status == 200


def test_cells_do_not_see_each_other(server: ScriptedServer) -> None:
    def cell(number: int) -> str:
        url = server.register(f"cell-{number}", Script((READ, Say(f"done {number}"))))
        ask(url, chat())
        _, body, _ = ask(url, chat(assistant()))
        return str(json.loads(body)["choices"][0]["message"]["content"])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(cell, range(24)))
    assert answers == [f"done {number}" for number in range(24)]
    assert all(len(server.exchanges(f"cell-{number}")) == 2 for number in range(24))


def test_models_are_listed(server: ScriptedServer) -> None:
    parts = urlsplit(server.register("k", Script((Say("done"),))))
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request("GET", f"{parts.path}/models")
    document = json.loads(connection.getresponse().read())
    connection.close()
    assert document["data"][0]["object"] == "model"


def test_listens_on_loopback_only_and_ends_with_its_thread() -> None:
    before = set(threading.enumerate())
    with ScriptedServer() as running:
        url = running.register("k", Script((Say("done"),)))
        assert urlsplit(url).hostname == "127.0.0.1"
        assert set(threading.enumerate()) != before
    assert set(threading.enumerate()) == before
    with pytest.raises(ConnectionError):
        ask(url, chat())
