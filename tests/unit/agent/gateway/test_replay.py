"""Recording and replaying through the gateway itself, retries and refused parameters included."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.budget import Budget, Meter, Purse
from nanobench.agent.gateway.cassette import read_cassette
from nanobench.agent.gateway.prices import PriceList, Product
from nanobench.agent.gateway.recording import Recorder, Subject
from nanobench.agent.gateway.replaying import Replay
from nanobench.agent.gateway.route import RetryPolicy, RouteOptions, Upstream
from nanobench.agent.gateway.scrubbing import Scrubber
from nanobench.agent.gateway.substitution import Locations
from nanobench.model.plan import Cell, ModelRef

CELL = Cell(model=ModelRef(provider="acme", model="m"), task_id="t", mode="hinted", run=1)
PLACE = Locations("/ws", "/run/nb", "/state")
NO_WAIT = RetryPolicy(waits=False, longest_wait_seconds=1e6, patience_seconds=1e6)
OTHER = {"model": "m", "stream": True, "messages": []}
TIMES = {
    "first_byte_seconds": None,
    "total_seconds": None,
    "replayed": False,
    "response_bytes": 0,
}


@pytest.fixture
def answer(agent: Any) -> Any:
    text = b'data: {"model":"m-1","choices":[{"delta":{"content":"Hi"}}]}\n\n'
    stop = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n'
    return (text, stop, usage, b"data: [DONE]\n\n")


def timeless(exchanges: tuple[Exchange, ...]) -> list[Exchange]:
    return [
        replace(
            one,
            **TIMES,
            attempts=tuple(replace(a, waited_seconds=0.0) for a in one.attempts),
        )
        for one in exchanges
    ]


def twice(agent: Any, directory: Path, questions: list[Any]) -> tuple[Any, Any]:
    """What the agent got and what was noted, recorded and then replayed."""
    upstream = Upstream(agent.provider.url, agent.key, {}, "openai_chat", None, "acme")
    recorder = Recorder(Subject(CELL, "1.30.0", {"name": "acme"}, None, PLACE), Scrubber(upstream))
    agent.open(RouteOptions(retry=NO_WAIT, through=recorder.transport))
    replies = [agent.ask(question) for question in questions]
    noted = agent.close()
    recorder.save(directory)
    asked = len(agent.provider.asked)
    cassette = read_cassette(directory, CELL)
    agent.open(RouteOptions(retry=NO_WAIT, through=lambda wire: Replay(cassette, PLACE)))
    again = [agent.ask(question) for question in questions]
    noted_again = agent.close()
    assert len(agent.provider.asked) == asked, "the provider was left alone"
    return (replies, noted), (again, noted_again)


def test_retries_come_back_as_they_were_and_nobody_waits(
    agent: Any, answer: Any, tmp_path: Path
) -> None:
    agent.plays(
        agent.failing(500),
        agent.Play(then="reset"),
        agent.failing(429, retry_after="3600"),
        agent.streaming(*answer),
    )
    (replies, noted), (again, noted_again) = twice(agent, tmp_path, [None, OTHER])
    assert [reply.body for reply in again] == [reply.body for reply in replies]
    assert len(noted[0].attempts) == 3
    assert noted_again[0].attempts[2].retry_after_seconds == 3600
    assert timeless(noted_again) == timeless(noted)
    assert [one.replayed for one in noted_again] == [True, True]


def test_a_refused_temperature_is_refused_again(agent: Any, answer: Any, tmp_path: Path) -> None:
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    agent.plays(agent.failing(400, message, "unsupported_value"), agent.streaming(*answer))
    (_, noted), (_, noted_again) = twice(agent, tmp_path, [None, OTHER])
    assert [one.temperature_state for one in noted] == ["refused", "refused"]
    assert timeless(noted_again) == timeless(noted)
    pinned = [one.pinned for one in read_cassette(tmp_path, CELL).exchanges]
    assert pinned == [{"temperature": 0, "seed": 1}, {"seed": 1}, {"seed": 1}]


@pytest.mark.parametrize("then", ["cut", "end"])
def test_a_stream_that_broke_off_breaks_off_again(
    agent: Any, answer: Any, tmp_path: Path, then: str
) -> None:
    agent.plays(agent.streaming(answer[0], then=then))
    (replies, noted), (again, noted_again) = twice(agent, tmp_path, [None])
    assert noted[0].error_class == "stream_cut"
    assert timeless(noted_again) == timeless(noted)
    assert again[0].body == replies[0].body


def test_an_error_of_the_provider_comes_back(agent: Any, tmp_path: Path) -> None:
    agent.plays(agent.failing(400, "too long", "context_length_exceeded"))
    (replies, noted), (again, noted_again) = twice(agent, tmp_path, [None])
    assert (again[0].status, again[0].body) == (replies[0].status, replies[0].body)
    assert timeless(noted_again) == timeless(noted)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/chat/completions", ("error", "message")),
        ("/messages", ("error", "message")),
        ("/api/chat", ("error",)),
        ("/odd/route", ("error", "message")),
    ],
)
def test_a_miss_is_told_in_every_dialect_and_noted_as_what_it_is(
    agent: Any, answer: Any, tmp_path: Path, path: str, place: tuple[str, ...]
) -> None:
    agent.plays(agent.streaming(*answer))
    twice(agent, tmp_path, [None])
    cassette = read_cassette(tmp_path, CELL)
    agent.open(RouteOptions(retry=NO_WAIT, through=lambda wire: Replay(cassette, PLACE)))
    reply = agent.ask({"model": "other", "messages": []}, path)
    noted = agent.exchange()
    assert reply.status == 422
    told = reply.json
    for name in place:
        told = told[name]
    assert "replay miss" in told
    assert (noted.error_class, noted.error_code) == ("replay", "nanobench_replay")
    assert noted.attempts == ()


def test_a_reply_is_whole_once_it_is_complete_whenever_the_agent_leaves(
    agent: Any, answer: Any, tmp_path: Path
) -> None:
    agent.plays(agent.streaming(*answer, then="stall"))
    upstream = Upstream(agent.provider.url, None, {}, "openai_chat", None, "acme")
    recorder = Recorder(Subject(CELL, "1.30.0", {"name": "acme"}, None, PLACE), Scrubber(upstream))
    agent.open(RouteOptions(through=recorder.transport))
    connection = agent.send()
    response = connection.getresponse()
    while response.readline() != b"data: [DONE]\n":
        pass
    connection.close()
    assert agent.provider.gone.wait(20)
    agent.close()
    recorder.save(tmp_path)
    (kept,) = read_cassette(tmp_path, CELL).exchanges
    assert kept.reply is not None
    assert kept.reply.content == b"".join(answer)
    assert not kept.reply.abandoned


@pytest.mark.parametrize("path", ["/chat/completions", "/odd/route"])
def test_a_ceiling_holds_in_every_dialect(agent: Any, answer: Any, path: str) -> None:
    agent.plays(agent.streaming(*answer))
    product = Product("acme", "m", agent.provider.url)
    meter = Meter(Budget(max_requests=1), Purse(None), product, PriceList(()))
    agent.open(RouteOptions(guard=meter))
    first, second = agent.ask(None, path), agent.ask(None, path)
    assert (first.status, second.status) == (200, 402)
    assert "NanoBench ended this run at its limit: 1 requests" in second.json["error"]["message"]
    refused = agent.close()[1]
    assert (refused.error_class, refused.error_code) == ("budget", "nanobench_request_limit")
    assert len(agent.provider.asked) == 1
