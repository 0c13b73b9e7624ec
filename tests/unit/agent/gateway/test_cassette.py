"""What is recorded is replayed, what was not is refused, and no secret is kept."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.gateway.cassette import Cassette, cassette_path, read_cassette
from nanobench.agent.gateway.recording import Recorder, Subject
from nanobench.agent.gateway.replaying import Replay, check_replayable
from nanobench.agent.gateway.route import Upstream
from nanobench.agent.gateway.scrubbing import Scrubber
from nanobench.agent.gateway.substitution import Locations
from nanobench.agent.gateway.transport import RefusedError, TransportError, UpstreamRequest
from nanobench.errors import InvalidInputError
from nanobench.model.plan import Cell, ModelRef

CANARY = "sk-canary-4f1d9a77"
HEADER_CANARY = "tok-canary-77aa55"
CELL = Cell(model=ModelRef(provider="p", model="m"), task_id="t", mode="hinted", run=1)
HERE = Locations("/runs/1/ws", "/runs/1/run", "/state")
THERE = Locations("/runs/2/ws", "/runs/2/run", "/other")
PROVIDER = {"name": "p", "baseUrl": "http://127.0.0.1:1/x", "apiKey": "k", "models": ["m"]}
SUBJECT = Subject(CELL, "1.30.0", PROVIDER, "q", HERE)
UPSTREAM = Upstream(
    base_url="https://llm.example.com:8443/v1",
    api_key=CANARY,
    headers={"X-Auth-Token": f"Bearer {HEADER_CANARY}", "X-Title": "NanoBench is innocent"},
    dialect="openai_chat",
    ca_cert_path=None,
    provider="p",
)


@dataclass(frozen=True)
class Reply:
    status: int = 200
    content: bytes = b'data: {"n":1}\n\ndata: [DONE]\n\n'
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"content-type": "text/event-stream"}
    )
    failure: str | None = None
    replayed: bool = False
    ended: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        for at in range(0, len(self.content), 7):
            yield self.content[at : at + 7]
        if self.failure:
            raise TransportError(self.failure, "broken")  # type: ignore[arg-type]

    async def close(self) -> None: ...


class Provider:
    """Answers with the given replies, in order; a string is a failure to connect."""

    def __init__(self, *replies: Reply | str) -> None:
        self._replies = list(replies)

    async def send(self, request: UpstreamRequest) -> Reply:
        reply = self._replies.pop(0)
        if isinstance(reply, str):
            raise TransportError(reply, "no")  # type: ignore[arg-type]
        return reply

    async def close(self) -> None: ...


def asking(*said: str, route: str = "/chat/completions", **pinned: Any) -> UpstreamRequest:
    messages = [{"role": "user", "content": text} for text in said]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    headers = {"authorization": f"Bearer {CANARY}", "x-auth-token": HEADER_CANARY}
    sampling = pinned or {"temperature": 0, "seed": 1}
    return UpstreamRequest("POST", route, headers, b"sent", body, "openai_chat", sampling)


Seen = tuple[int, bytes, str | None]


def exchange(
    transport: Any, requests: list[UpstreamRequest], stop: int | None = None
) -> list[Seen]:
    async def all_of_them() -> list[Seen]:
        return [await seen(request) for request in requests]

    async def seen(request: UpstreamRequest) -> Seen:
        content = b""
        try:
            response = await transport.send(request)
        except TransportError as error:
            return 0, b"", error.kind
        except RefusedError as refused:
            error = refused.error
            return refused.status, f"{error.error_class}: {error.message}".encode(), error.code
        try:
            async for chunk in response.chunks():
                content += chunk
                if stop is not None and len(content) >= stop:
                    break
        except TransportError as error:
            return response.status, content, error.kind
        await response.close()
        return response.status, content, None

    return asyncio.run(all_of_them())


def record(
    directory: Path, replies: list[Reply | str], requests: list[UpstreamRequest], **how: Any
) -> list[Seen]:
    recorder = Recorder(SUBJECT, Scrubber(UPSTREAM))
    told = exchange(recorder.transport(Provider(*replies)), requests, **how)  # type: ignore[arg-type]
    recorder.save(directory)
    return told


def replay(
    directory: Path, requests: list[UpstreamRequest], locations: Locations = THERE
) -> list[Seen]:
    cassette = read_cassette(directory, CELL)
    check_replayable(cassette)
    return exchange(Replay(cassette, locations), requests)


def message(seen: Seen) -> str:
    status, content, code = seen
    assert (status, code) == (422, "nanobench_replay")
    kind, _, told = content.decode().partition(": ")
    assert kind == "replay"
    return told


def test_every_kind_of_reply_comes_back_as_it_came(tmp_path: Path) -> None:
    replies: list[Reply | str] = [
        Reply(),
        "refused",
        "timeout",
        Reply(429, b'{"error":{"message":"slow"}}', {"retry-after": "3"}),
        Reply(content=b"\xff\x00binary"),
        Reply(failure="reset"),
        Reply(content=b""),
    ]
    requests = [asking(str(number)) for number in range(len(replies))]
    told = record(tmp_path, replies, requests)
    assert [one[2] for one in told] == [None, "refused", "timeout", None, None, "reset", None]
    assert replay(tmp_path, requests) == told


def test_the_same_request_gets_its_replies_in_order_and_each_once(tmp_path: Path) -> None:
    replies: list[Reply | str] = [Reply(content=b"first"), Reply(content=b"second")]
    told = record(tmp_path, replies, [asking("a")] * 2)
    again = replay(tmp_path, [asking("a")] * 3)
    assert again[:2] == told
    assert message(again[2]) == ("replay miss: request 3 was not recorded; the recording holds 2")


def test_headers_that_steer_retries_are_kept_and_no_others(tmp_path: Path) -> None:
    headers = {
        "content-type": "application/json",
        "retry-after-ms": "5",
        "x-ratelimit-remaining-tokens": "1",
        "set-cookie": "session=1",
        "cf-ray": "1",
        "openai-organization": "acme",
    }
    record(tmp_path, [Reply(headers=headers)], [asking("a")])
    (kept,) = read_cassette(tmp_path, CELL).exchanges
    assert kept.reply is not None
    assert set(kept.reply.headers) == {
        "content-type",
        "retry-after-ms",
        "x-ratelimit-remaining-tokens",
    }


def test_no_key_and_no_host_is_kept(tmp_path: Path) -> None:
    told = f"bad key {CANARY} or {HEADER_CANARY} at https://llm.example.com:8443".encode()
    replies: list[Reply | str] = [Reply(401, told, {"retry-after": CANARY}), Reply(content=told)]
    record(tmp_path, replies, [asking("a"), asking(f"the key is {CANARY}")])
    text = cassette_path(tmp_path, CELL).read_text()
    assert "canary" not in text
    assert "NanoBench is innocent" not in text
    refused, answered = (one.reply for one in read_cassette(tmp_path, CELL).exchanges)
    assert refused is not None
    assert answered is not None
    assert b"example.com" not in refused.content
    assert b"llm.example.com" in answered.content, "what a model says of hosts is its own"
    assert replay(tmp_path, [asking("a"), asking(f"the key is {CANARY}")])[1][0] == 200


def test_a_miss_names_the_first_message_that_differs(tmp_path: Path) -> None:
    long = "x" * 300
    record(tmp_path, [Reply(), Reply()], [asking("a"), asking("a", long + "left", "c")])
    seen = replay(tmp_path, [asking("a"), asking("a", long + "right", "d")])
    told = message(seen[1])
    assert told.startswith("replay miss: request 2 is not the one recorded; first difference at ")
    assert "$.messages[1].content: recorded ...xxx" in told
    assert 'left"' in told
    assert 'right"' in told
    assert len(told) < 400
    (extra,) = replay(tmp_path, [asking("a", "b")])
    assert 'at $.messages[1]: recorded nothing, asked {"content": "b"' in message(extra)
    (other,) = replay(tmp_path, [asking("a", route="/v2/chat/completions")])
    assert "at route: " in message(other)


def test_a_miss_uses_nothing_up(tmp_path: Path) -> None:
    told = record(tmp_path, [Reply()], [asking("a")])
    assert replay(tmp_path, [asking("b"), asking("a")])[1:] == told


@pytest.mark.parametrize(
    ("pinned", "told"),
    [
        ({"temperature": 0.7, "seed": 1}, "now seed 1, temperature 0.7"),
        ({"temperature": 0}, "now temperature 0)"),
    ],
)
def test_a_replay_that_pins_differently_is_refused(
    tmp_path: Path, pinned: dict[str, Any], told: str
) -> None:
    record(tmp_path, [Reply()], [asking("a")])
    (seen,) = replay(tmp_path, [asking("a", **pinned)])
    assert "recorded seed 1, temperature 0, now" in message(seen)
    assert told in message(seen)


def test_paths_of_a_reply_become_those_of_this_run(tmp_path: Path) -> None:
    said = (
        b'{"path":"/runs/1/ws/a.py","home":"/runs/1/run/home","py":"/state/bin","x":"/runs/1/wsx"}'
    )
    record(tmp_path, [Reply(content=said), Reply()], [asking("a"), asking("/runs/1/ws/a.py")])
    seen = replay(tmp_path, [asking("a"), asking("/runs/2/ws/a.py")])
    assert json.loads(seen[0][1]) == {
        "path": "/runs/2/ws/a.py",
        "home": "/runs/2/run/home",
        "py": "/other/bin",
        "x": "/runs/1/wsx",
    }
    assert seen[1][0] == 200


def test_a_reply_that_the_agent_did_not_stay_for_is_no_reply(tmp_path: Path) -> None:
    record(tmp_path, [Reply()], [asking("a")], stop=3)
    assert "the agent was ended" in message(replay(tmp_path, [asking("a")])[0])


def test_messages_are_kept_once(tmp_path: Path) -> None:
    said = [f"{number} " + "word " * 2000 for number in range(12)]
    requests = [asking(*said[: number + 1]) for number in range(12)]
    told = record(tmp_path, [Reply() for _ in requests], requests)
    assert cassette_path(tmp_path, CELL).stat().st_size < 2 * sum(map(len, said))
    assert replay(tmp_path, requests) == told


def test_text_that_is_no_unicode_and_bodies_that_are_no_json_survive(tmp_path: Path) -> None:
    requests = [
        replace(asking("a"), agent_body=body)
        for body in (b'{"messages":["\\ud83d"]}', b"\xff", b"", b"[1,2]", b"[" * 900 + b"]" * 900)
    ]
    told = record(tmp_path, [Reply() for _ in requests], requests)
    assert replay(tmp_path, requests) == told


def test_the_substitutions_stand_in_the_cassette(tmp_path: Path) -> None:
    record(tmp_path, [Reply()], [asking("a")])
    cassette = read_cassette(tmp_path, CELL)
    names = [rule["name"] for rule in cassette.substitutions]
    assert "path of the workspace" in names
    assert "date of the system prompt" in names
    assert cassette.locations == HERE
    assert cassette.provider == {"name": "p", "models": ["m"]}
    assert cassette.priced_as == "q"


def test_a_cassette_of_other_rules_is_refused(tmp_path: Path) -> None:
    record(tmp_path, [Reply()], [asking("a")])
    cassette = read_cassette(tmp_path, CELL)
    older = cassette.model_copy(update={"key_version": 99})
    fewer = cassette.model_copy(update={"substitutions": cassette.substitutions[:-1]})
    for unlike in (older, fewer):
        with pytest.raises(InvalidInputError, match="other rules"):
            check_replayable(unlike)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda text: "{", "no cassette of this version"),
        (lambda text: text.replace('"version": "1"', '"version": "2"'), "version"),
        (lambda text: text.replace("hello", "hullo"), "hash"),
        (lambda text: text.replace('"utf-8"', '"base64"'), "base64"),
        (lambda text: text.replace('"run": 1', '"run": 2'), "another cell"),
    ],
)
def test_a_damaged_cassette_is_an_error_that_says_so(
    tmp_path: Path, damage: Any, told: str
) -> None:
    record(tmp_path, [Reply()], [asking("hello")])
    path = cassette_path(tmp_path, CELL)
    path.write_text(damage(path.read_text()))
    with pytest.raises(InvalidInputError, match=told):
        read_cassette(tmp_path, CELL)


def test_a_missing_cassette_names_the_cell(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no cassette of p/m on t, hinted, run 1"):
        read_cassette(tmp_path, CELL)


def test_a_cassette_is_the_same_bytes_whenever_it_is_written(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for directory in (first, second):
        record(directory, [Reply()], [asking("a")])
    texts = [cassette_path(directory, CELL).read_bytes() for directory in (first, second)]
    assert texts[0] == texts[1]
    assert Cassette.from_json(texts[0]).to_json().encode() == texts[0]
