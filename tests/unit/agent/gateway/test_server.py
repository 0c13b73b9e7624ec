"""The gateway between an agent and a provider that misbehaves."""

import gzip
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nanobench.agent.exchange import Attempt, Exchange
from nanobench.agent.gateway.dialects.base import ErrorText
from nanobench.agent.gateway.dialects.errors import REQUEST_LIMIT_CODE
from nanobench.agent.gateway.route import PLACEHOLDER_KEY, RetryPolicy, RouteOptions
from nanobench.errors import InvalidInputError

SOON = RetryPolicy(first_wait_seconds=0.001)


def event(document: Any) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def delta(finish: str | None = None, **said: Any) -> bytes:
    return event({"model": "m-1", "choices": [{"delta": said, "finish_reason": finish}]})


USAGE = event(
    {"model": "m-1", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
)
ROLE, TEXT, STOP, DONE = (
    *(delta(role="assistant"), delta(content="Hi"), delta("stop")),
    b"data: [DONE]\n\n",
)
ANSWER = (ROLE, TEXT, STOP, USAGE, DONE)


def test_a_stream_reaches_the_agent_byte_for_byte_and_is_noted(agent: Any) -> None:
    odd = b': comment\r\n\r\ndata:  {"choices":[]}\r\n\r\n'
    agent.plays(agent.streaming(odd, *ANSWER))
    reply = agent.ask()
    assert (reply.status, reply.body) == (200, odd + b"".join(ANSWER))
    assert reply.headers["content-type"] == "text/event-stream"
    seen = agent.exchange()
    assert (seen.index, seen.method, seen.route) == (0, "POST", "/chat/completions")
    assert (seen.dialect, seen.status, seen.answered) == ("openai_chat", 200, 200)
    assert (seen.error_class, seen.attempts, seen.client_left) == (None, (), False)
    assert (seen.input_tokens, seen.output_tokens, seen.finish_reason) == (7, 3, "stop")
    assert (seen.model_asked, seen.model_answered, seen.tools) == ("m", "m-1", ("read_file",))
    assert (seen.temperature, seen.temperature_asked, seen.seed) == (0, None, 1)
    assert seen.temperature_state == "pinned"
    assert seen.response_bytes == len(reply.body)
    assert seen.first_byte_seconds is not None
    assert seen.total_seconds is not None
    assert 0 < seen.first_byte_seconds <= seen.total_seconds


def test_the_provider_gets_key_pins_and_the_rest_untouched(agent: Any) -> None:
    agent.open(headers={"X-Team": "blue"})
    agent.plays(agent.streaming(*ANSWER))
    body = b'{"model": "m", "stream": true, "note": "\\ud800", "n": 1.0, "messages": []}'
    agent.ask(body, path="/chat/completions?x=1", accept_encoding="gzip", cookie="a=b")
    (asked,) = agent.provider.asked
    assert (asked.method, asked.path) == ("POST", "/base/v1/chat/completions?x=1")
    assert asked.headers["authorization"] == f"Bearer {agent.key}"
    assert (asked.headers["x-team"], asked.headers["accept-encoding"]) == ("blue", "identity")
    assert "cookie" not in asked.headers
    assert asked.json["temperature"] == 0
    assert asked.json["seed"] == 1
    assert asked.json["stream_options"] == {"include_usage": True}
    assert asked.body.endswith(body[1:])  # not a byte of it is written anew


def test_what_the_agent_asked_of_sampling_is_noted_and_replaced(agent: Any) -> None:
    agent.plays(agent.streaming(*ANSWER))
    agent.ask({"model": "m", "messages": [], "temperature": 0.7, "seed": 9, "stream": True})
    assert (agent.provider.asked[0].json["temperature"], agent.provider.asked[0].json["seed"]) == (
        0,
        1,
    )
    seen = agent.exchange()
    assert (seen.temperature_asked, seen.temperature, seen.seed) == (0.7, 0, 1)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model.",
            "unsupported_value",
        ),
        ("`temperature` is deprecated for this model.", None),
        ("`temperature` may only be set to 1 when thinking is enabled", None),
    ],
)
def test_a_refused_temperature_is_left_out_at_once_and_from_then_on(
    agent: Any, message: str, code: str | None
) -> None:
    agent.plays(agent.failing(400, message, code), agent.streaming(*ANSWER))
    assert agent.ask().status == 200
    assert agent.ask().status == 200
    bodies = [asked.json for asked in agent.provider.asked]
    assert ["temperature" in body for body in bodies] == [True, False, False]
    assert [body["seed"] for body in bodies] == [1, 1, 1]
    first, second = agent.close()
    assert first.attempts == (Attempt(400, "invalid_request"),)
    assert second.attempts == ()
    assert {(one.temperature, one.temperature_state) for one in (first, second)} == {
        (None, "refused")
    }


def test_each_of_our_parameters_can_be_refused(agent: Any) -> None:
    agent.plays(
        agent.failing(400, 'Unknown name "seed": Cannot find field.'),
        agent.failing(422, "Extra inputs are not permitted: stream_options"),
        agent.streaming(*ANSWER),
    )
    agent.ask()
    last = agent.provider.asked[-1].json
    assert ("seed" in last, "stream_options" in last, last["temperature"]) == (False, False, 0)
    seen = agent.exchange()
    assert (seen.seed, seen.temperature_state, len(seen.attempts)) == (None, "pinned", 2)


def test_a_model_that_ignores_the_temperature_is_known(agent: Any) -> None:
    agent.plays(agent.streaming(*ANSWER))
    agent.ask({"model": "google/gemini-3.6-flash", "messages": [], "stream": True})
    seen = agent.exchange()
    assert (seen.temperature, seen.temperature_state) == (0, "ignored")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_transient_failure_is_absorbed(agent: Any, status: int) -> None:
    agent.plays(
        agent.failing(status), agent.failing(status, retry_after_ms="3"), agent.streaming(*ANSWER)
    )
    assert agent.ask().body == b"".join(ANSWER)
    seen = agent.exchange()
    assert (seen.status, seen.error_class) == (200, None)
    assert [one.status for one in seen.attempts] == [status, status]
    asked, waited = seen.attempts[1].retry_after_seconds, seen.attempts[1].waited_seconds
    assert asked == 0.003
    assert asked <= waited < 0.1


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_one_that_lasts_is_told_in_a_status_that_is_not_retried(agent: Any, status: int) -> None:
    agent.plays(agent.failing(status, "The provider is sad", "sad"))
    reply = agent.ask()
    assert reply.status == 424
    assert reply.json["error"]["message"] == (
        f"The provider is sad (HTTP {status} from the provider, 5 attempts)"
    )
    assert reply.json["error"]["code"] == "sad"
    assert len(agent.provider.asked) == 5
    seen = agent.exchange()
    assert (seen.status, seen.answered, len(seen.attempts)) == (status, 424, 4)
    assert seen.error_class in ("timeout", "rate_limit", "server_error", "overload")
    assert seen.error_code == "sad"


@pytest.mark.parametrize(
    ("status", "message", "code", "error_class"),
    [
        (400, "too long", "context_length_exceeded", "context_size"),
        (401, "Incorrect API key provided", "invalid_api_key", "authentication"),
        (402, "Insufficient credits", None, "billing"),
        (404, "no such model", "model_not_found", "unknown_model"),
        (429, "You exceeded your current quota", "insufficient_quota", "quota"),
        (429, "Request too large for m on tokens per min", "rate_limit_exceeded", "context_size"),
    ],
)
def test_what_does_not_get_better_is_told_at_once(
    agent: Any, status: int, message: str, code: str | None, error_class: str
) -> None:
    agent.plays(agent.failing(status, message, code))
    reply = agent.ask()
    assert reply.status == (424 if status == 429 else status)
    assert message in reply.json["error"]["message"]
    assert len(agent.provider.asked) == 1
    seen = agent.exchange()
    assert (seen.error_class, seen.error_code, seen.attempts) == (error_class, code, ())


@pytest.mark.parametrize(("told", "tries"), [("false", 1), ("true", 5)])
def test_the_provider_s_word_on_retries_is_taken(agent: Any, told: str, tries: int) -> None:
    agent.plays(agent.failing(503 if told == "false" else 400, x_should_retry=told))
    agent.ask()
    assert len(agent.provider.asked) == tries


def test_a_wait_beyond_measure_is_not_waited_for(agent: Any) -> None:
    agent.plays(agent.failing(429, retry_after="86400"))
    assert agent.ask().status == 424
    assert len(agent.provider.asked) == 1


def test_retries_of_a_run_are_counted_over_its_requests(agent: Any) -> None:
    agent.open(RouteOptions(retry=replace(SOON, retries_per_run=6)))
    agent.plays(agent.failing(500))
    for _ in range(3):
        agent.ask()
    assert [len(one.attempts) for one in agent.close()] == [4, 2, 0]


def test_bodies_that_the_agent_s_sdk_cannot_read_are_wrapped(agent: Any) -> None:
    body = b'[{"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT"}}]'
    agent.plays(agent.Play(400, {"content-type": "application/json"}, (body,)))
    reply = agent.ask()
    assert reply.status == 400
    assert reply.json["error"]["message"] == "bad (HTTP 400 from the provider)"


def test_an_error_before_any_output_becomes_a_status_and_is_retried(agent: Any) -> None:
    late = event({"error": {"message": "Overloaded", "code": 503}})
    agent.plays(agent.streaming(ROLE, late), agent.streaming(*ANSWER))
    assert agent.ask().body == b"".join(ANSWER)
    assert agent.exchange().attempts[0].error_class == "overload"


def test_an_error_after_output_is_passed_on_and_noted(agent: Any) -> None:
    late = event({"error": {"message": "Overloaded", "code": 503}})
    agent.plays(agent.streaming(ROLE, TEXT, late))
    reply = agent.ask()
    assert (reply.status, reply.body) == (200, ROLE + TEXT + late)
    seen = agent.exchange()
    assert (seen.status, seen.error_class, seen.attempts) == (200, "overload", ())


@pytest.mark.parametrize("then", ["cut", "end"])
def test_a_stream_that_ends_before_any_output_is_asked_for_again(agent: Any, then: str) -> None:
    agent.plays(agent.streaming(ROLE, then=then), agent.streaming(*ANSWER))
    assert agent.ask().body == b"".join(ANSWER)
    assert agent.exchange().attempts[0].error_class in ("connection", "stream_cut")


@pytest.mark.parametrize("then", ["cut", "end"])
def test_a_stream_that_ends_after_output_ends_with_an_error_event(agent: Any, then: str) -> None:
    agent.plays(agent.streaming(ROLE, TEXT, b'data: {"choi', then=then))
    reply = agent.ask()
    assert reply.whole
    assert reply.body.startswith(ROLE + TEXT + b'data: {"choi\n\n')
    told = json.loads(reply.body.rpartition(b"data: ")[2])
    assert told["error"]["message"] == "the provider broke its reply off"
    assert len(agent.provider.asked) == 1
    seen = agent.exchange()
    assert (seen.status, seen.error_class, seen.output_tokens) == (200, "stream_cut", None)


def test_a_finished_stream_needs_no_done(agent: Any) -> None:
    agent.plays(agent.streaming(ROLE, TEXT, STOP, then="cut"))
    assert agent.ask().body == ROLE + TEXT + STOP
    assert agent.exchange().error_class is None


def test_a_stalled_stream_ends_with_an_error_event(agent: Any) -> None:
    agent.open(RouteOptions(idle_seconds=0.3))
    agent.plays(agent.streaming(ROLE, TEXT, then="stall"))
    reply = agent.ask()
    assert b"sent nothing for too long" in reply.body
    assert agent.exchange().error_class == "timeout"


def test_a_provider_that_never_answers_is_given_up(agent: Any) -> None:
    agent.open(RouteOptions(retry=replace(SOON, attempts=2), idle_seconds=0.2))
    agent.plays(agent.streaming(then="stall"))
    assert agent.ask().status == 424
    seen = agent.exchange()
    assert (seen.error_class, seen.answered, len(seen.attempts)) == ("timeout", 424, 1)


def test_a_refused_connection_is_retried_and_told(agent: Any) -> None:
    agent.open(base_url="http://127.0.0.1:9/v1")
    reply = agent.ask()
    assert (reply.status, "cannot be reached" in reply.json["error"]["message"]) == (424, True)
    seen = agent.exchange()
    assert (seen.status, seen.error_class, len(seen.attempts)) == (None, "connection", 4)


def test_a_connection_that_is_reset_before_the_reply_is_tried_again(agent: Any) -> None:
    agent.plays(agent.Play(then="reset"), agent.streaming(*ANSWER))
    assert agent.ask().status == 200
    assert agent.exchange().attempts == (
        Attempt(None, "connection", None, pytest.approx(0, abs=1)),
    )


def test_an_empty_reply_is_the_model_s_own(agent: Any) -> None:
    agent.plays(agent.streaming(ROLE, STOP, DONE))
    assert agent.ask().body == ROLE + STOP + DONE
    assert agent.exchange().error_class == "empty"


def test_a_page_instead_of_a_stream_is_an_error(agent: Any) -> None:
    agent.plays(agent.Play(200, {"content-type": "text/html"}, (b"<html>Welcome</html>",)))
    assert agent.ask().status == 424
    assert agent.exchange().error_class == "bad_response"


def test_a_document_is_passed_on_whole_and_counted(agent: Any) -> None:
    choice = {"message": {"content": "Hi"}, "finish_reason": "length"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    body = json.dumps({"model": "m-1", "choices": [choice], "usage": usage}).encode()
    agent.plays(agent.Play(200, {"content-type": "application/json"}, (body[:9], body[9:])))
    reply = agent.ask({"model": "m", "messages": []})
    assert (reply.status, reply.body) == (200, body)
    assert "stream_options" not in agent.provider.asked[0].json
    seen = agent.exchange()
    assert (seen.error_class, seen.finish_reason, seen.output_tokens) == ("length", "length", 3)


def test_an_error_under_status_200_is_an_error(agent: Any) -> None:
    body = b'{"error": {"code": 402, "message": "Insufficient credits"}}'
    agent.plays(agent.Play(200, {"content-type": "application/json"}, (body,)))
    reply = agent.ask({"model": "m", "messages": []})
    assert reply.status == 424
    assert agent.exchange().error_class == "billing"


@pytest.mark.parametrize("told", [True, False])
def test_compression_that_nobody_asked_for_is_undone(agent: Any, told: bool) -> None:
    packed = gzip.compress(b"".join(ANSWER))
    headers = {
        "content-type": "text/event-stream",
        **({"content-encoding": "gzip"} if told else {}),
    }
    agent.plays(agent.Play(200, headers, (packed[:20], packed[20:])))
    reply = agent.ask()
    assert reply.body == b"".join(ANSWER)
    assert "content-encoding" not in reply.headers
    assert agent.exchange().input_tokens == 7


def test_headers_that_cannot_be_sent_on_are_left_out(agent: Any) -> None:
    headers = {"content-type": "text/event-stream", "x-odd": "a\x0bb", "x-wide": "\udcff"}
    agent.plays(agent.Play(200, headers, ANSWER))
    reply = agent.ask()
    assert (reply.status, reply.body) == (200, b"".join(ANSWER))
    assert not {"x-odd", "x-wide"} & reply.headers.keys()


def test_a_request_that_cannot_be_read_is_refused_and_noted_as_an_error(
    agent: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    agent.plays(agent.streaming(*ANSWER))
    reply = agent.ask(b"no gzip", content_encoding="gzip")
    assert (reply.status, agent.exchange().error_class) == (400, "invalid_request")
    assert agent.provider.asked == []
    assert capfd.readouterr().err == ""


def test_an_unknown_route_passes_through_and_says_so(agent: Any) -> None:
    body = b'{"data": [1, 2]}'
    agent.plays(agent.Play(503, {"content-type": "application/json", "x-a": "b"}, (body,)))
    reply = agent.ask(b"\x00raw", path="/embeddings")
    assert (reply.status, reply.body, reply.headers["x-a"]) == (503, body, "b")
    assert agent.provider.asked[0].body == b"\x00raw"
    seen = agent.exchange()
    assert (seen.dialect, seen.temperature_state, seen.tools) == ("unknown", "unknown", None)
    assert (seen.status, seen.answered, seen.error_class) == (503, 503, "overload")


@pytest.mark.parametrize("path", ["/../secret", "/a/%2e%2e/b", "/..", "/a/..%2fb", "/./x"])
def test_no_path_climbs_out_of_the_provider_s_base(agent: Any, path: str) -> None:
    assert agent.ask(path=path).status == 404
    assert agent.provider.asked == []


def test_other_routes_and_closed_ones_are_not_served(agent: Any) -> None:
    base = agent.base
    agent.base = base.replace("/route/", "/other/")
    assert agent.ask().status == 404
    agent.base = base.replace("/route/v1", "/route")
    assert agent.ask().status == 404
    agent.close()
    agent.base = base
    assert agent.ask().status == 404


def test_a_redirect_is_not_followed_with_the_key(agent: Any) -> None:
    agent.plays(agent.Play(307, {"location": "http://127.0.0.1:9/steal"}))
    assert agent.ask().status == 424
    assert len(agent.provider.asked) == 1


def test_the_key_is_taken_out_of_what_the_provider_says(agent: Any) -> None:
    agent.open(headers={"X-Secret": "Token very-secret-token"})
    message = f"bad key {agent.key} or very-secret-token"
    agent.plays(agent.failing(401, message, x_echo=agent.key))
    reply = agent.ask()
    for text in (reply.body.decode(), str(reply.headers)):
        assert agent.key not in text
        assert "very-secret-token" not in text
    assert reply.json["error"]["message"].startswith(f"bad key {PLACEHOLDER_KEY}")
    assert agent.key not in repr(agent.close())


def test_no_key_is_sent_where_none_is_configured(agent: Any) -> None:
    agent.open(api_key=None)
    agent.plays(agent.streaming(*ANSWER))
    agent.ask(x_api_key=PLACEHOLDER_KEY)
    headers = agent.provider.asked[0].headers
    assert ("authorization" in headers, "x-api-key" in headers) == (False, False)


def test_a_key_goes_where_the_agent_puts_its_placeholder(agent: Any) -> None:
    agent.plays(agent.streaming(*ANSWER))
    agent.ask(path="/messages", x_api_key=PLACEHOLDER_KEY, anthropic_version="2023-06-01")
    headers = agent.provider.asked[0].headers
    assert (headers["x-api-key"], headers["anthropic-version"]) == (agent.key, "2023-06-01")


def test_an_agent_that_leaves_ends_the_provider_s_work(agent: Any) -> None:
    agent.plays(agent.streaming(ROLE, TEXT, then="stall"))
    connection = agent.send()
    assert connection.getresponse().read1(10)
    connection.close()
    assert agent.provider.gone.wait(10)
    seen = agent.exchange()
    assert (seen.client_left, seen.status, seen.error_class) == (True, 200, None)


def test_closing_a_route_ends_what_is_under_way(agent: Any) -> None:
    agent.plays(agent.streaming(then="stall"))
    connection = agent.send()
    while not agent.provider.asked:
        threading.Event().wait(0.01)
    seen = agent.exchange()
    assert (seen.client_left, seen.status, seen.answered) == (True, None, None)
    assert agent.provider.gone.wait(10)
    connection.close()


def test_an_agent_that_leaves_while_the_gateway_retries_leaves_the_reason(agent: Any) -> None:
    agent.open(RouteOptions(retry=RetryPolicy(first_wait_seconds=60)))
    agent.plays(agent.failing(503))
    connection = agent.send()
    while not agent.provider.asked:
        threading.Event().wait(0.01)
    threading.Event().wait(0.1)  # the reply is read
    seen = agent.exchange()
    connection.close()
    assert (seen.client_left, seen.status, seen.error_class) == (True, 503, "overload")


def test_many_agents_are_served_at_once(agent: Any) -> None:
    agent.plays(agent.streaming(*ANSWER))
    replies: list[int] = []
    threads = [
        threading.Thread(target=lambda: replies.append(agent.ask().status)) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [200] * 20
    assert [one.index for one in agent.close()] == list(range(20))


def test_a_body_of_many_megabytes_is_carried(agent: Any) -> None:
    agent.plays(agent.streaming(*ANSWER))
    text = "x" * (5 << 20)
    assert agent.ask({"model": "m", "stream": True, "messages": [text]}).status == 200
    assert agent.provider.asked[0].json["messages"] == [text]


class OneRequest:
    """Lets one request pass, and prices it."""

    def __init__(self) -> None:
        self.left = 1

    def refusal(self) -> ErrorText | None:
        self.left -= 1
        return ErrorText("budget", REQUEST_LIMIT_CODE, "enough") if self.left < 0 else None

    def settle(self, exchange: Exchange) -> Exchange:
        return replace(exchange, cost=0.5)


def test_a_guard_refuses_in_the_agent_s_dialect_and_settles_every_exchange(agent: Any) -> None:
    agent.open(RouteOptions(guard=OneRequest()))
    agent.plays(agent.streaming(*ANSWER))
    assert agent.ask().status == 200
    refused = agent.ask(path="/messages")
    assert (refused.status, refused.json["type"]) == (402, "error")
    assert refused.json["error"]["message"].startswith("enough")
    assert len(agent.provider.asked) == 1
    first, second = agent.close()
    assert (first.cost, first.error_class) == (0.5, None)
    assert (second.error_class, second.error_code) == ("budget", REQUEST_LIMIT_CODE)


def test_a_certificate_authority_that_is_none_is_refused(agent: Any, tmp_path: Path) -> None:
    for content in (None, b"no certificate"):
        ca = tmp_path / "ca.pem"
        if content:
            ca.write_bytes(content)
        with pytest.raises(InvalidInputError, match="caCertPath"):
            agent.open(base_url="https://127.0.0.1:1/v1", ca_cert_path=ca)
