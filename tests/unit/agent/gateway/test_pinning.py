"""Temperature and seed are set, and nothing else of a request changes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.agent.gateway.dialects.errors import ErrorDocument
from nanobench.agent.gateway.dialects.registry import DIALECTS
from nanobench.agent.gateway.pinning import (
    IGNORED,
    pin,
    read_request,
    refused_parameter,
    temperature_state,
)

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["temperature", "seed", "stream_options", "options", "generationConfig", "stream", "messages"]
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(document=st.dictionaries(KEYS | st.text(max_size=5), VALUES), ascii_only=st.booleans())
def test_only_the_pinned_places_change(dialect: Any, document: Any, ascii_only: bool) -> None:
    body = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    asked = read_request(dialect, "/x", body)
    pinned = pin(dialect, asked, body, ())
    sent = json.loads(pinned.body)
    places = {"temperature": dialect.temperature, "seed": dialect.seed}
    places["usage"] = dialect.usage_switch
    for name, value in pinned.values.items():
        place = sent
        for key in places[name][:-1]:
            place = place[key]
        assert place.pop(places[name][-1]) == value
    kept = json.loads(body)
    for name in pinned.values:
        first, *rest = places[name]
        if not rest:
            kept.pop(first, None)
        elif isinstance(kept.get(first), dict):
            kept[first].pop(rest[0], None)
        else:  # what stood there was no object
            kept[first] = {}
    assert sent == kept
    assert pinned.values["temperature"] == 0


def test_an_unknown_dialect_and_a_body_that_is_none_are_left_alone() -> None:
    chat = BY_NAME["openai_chat"]
    for dialect, body in ((None, b'{"model": "m"}'), (chat, b"\x00"), (chat, b"[1]")):
        asked = read_request(dialect, "/chat/completions", body)
        pinned = pin(dialect, asked, body, ())
        assert (pinned.body, pinned.values, asked.model) == (body, {}, None)
        assert temperature_state(asked, pinned, ()) == "unknown"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'"cut \\ud83d"', "cut \ud83d"),  # half of an emoji, where an agent cut a text short
        (b"1e400", float("inf")),
    ],
)
def test_a_body_that_is_written_again_keeps_every_value(value: bytes, kept: Any) -> None:
    chat = BY_NAME["openai_chat"]
    body = b'{"temperature": 1, "x": ' + value + b"}"
    asked = read_request(chat, "", body)
    sent = json.loads(pin(chat, asked, body, ()).body)
    assert asked.temperature == 1
    assert sent == {"temperature": 0, "seed": 1, "x": kept}


@pytest.mark.parametrize("depth", [1010, 5000])
def test_a_body_too_deep_to_be_written_again_is_left_alone(depth: int) -> None:
    chat = BY_NAME["openai_chat"]
    body = b'{"temperature": 1, "x": ' + b"[" * depth + b"]" * depth + b"}"
    asked = read_request(chat, "", body)
    pinned = pin(chat, asked, body, ())
    assert (pinned.body, pinned.values) == (body, {})
    assert temperature_state(asked, pinned, ()) == "unknown"


def test_usage_is_asked_for_in_streams_only_and_is_no_sampling() -> None:
    chat = BY_NAME["openai_chat"]
    for streams in (True, False):
        body = json.dumps({"stream": streams, "stream_options": {"other": 1}}).encode()
        pinned = pin(chat, read_request(chat, "", body), body, ())
        options = {"other": 1, "include_usage": True} if streams else {"other": 1}
        assert json.loads(pinned.body)["stream_options"] == options
        assert pinned.sampling == {"temperature": 0, "seed": 1}


def test_a_refused_parameter_that_the_agent_sent_itself_is_taken_out() -> None:
    chat = BY_NAME["openai_chat"]
    body = b'{"temperature": 0.5, "model": "m"}'
    asked = read_request(chat, "", body)
    pinned = pin(chat, asked, body, {"temperature"})
    assert json.loads(pinned.body) == {"model": "m", "seed": 1}
    assert temperature_state(asked, pinned, {"temperature"}) == "refused"


@pytest.mark.parametrize(
    ("status", "message", "parameter", "refused"),
    [
        (400, "Unsupported value: 'temperature' does not support 0", "temperature", "temperature"),
        (400, "Unsupported parameter: 'temperature' is not supported", None, "temperature"),
        (400, "`temperature` may only be set to 1 when thinking is enabled", None, "temperature"),
        (400, 'Unknown name "seed": Cannot find field.', None, "seed"),
        (422, "Extra inputs are not permitted", "body.seed", "seed"),
        (400, "Unrecognized request argument supplied: stream_options", None, "usage"),
        (400, "the temperature of the oven is unknown to me", None, "temperature"),
        (400, "messages: unsupported role", None, None),
        (400, "temperature", None, None),
        (401, "'temperature' is not supported", "temperature", None),
        (500, "'temperature' is not supported", "temperature", None),
    ],
)
def test_a_refusal_is_known_by_status_and_name(
    status: int, message: str, parameter: str | None, refused: str | None
) -> None:
    chat = BY_NAME["openai_chat"]
    body = b'{"stream": true}'
    pinned = pin(chat, read_request(chat, "", body), body, ())
    document = ErrorDocument((), message, parameter)
    assert refused_parameter(chat, status, document, pinned) == refused
    without = pin(chat, read_request(chat, "", body), body, {"temperature", "seed", "usage"})
    assert refused_parameter(chat, status, document, without) is None


@pytest.mark.parametrize(
    ("model", "state"),
    [
        ("gemini-3.5-flash-lite", "ignored"),
        ("google/gemini-3.8-flash", "ignored"),
        ("gemini-3.5-flash", "pinned"),
        ("gemini-3.6-pro", "pinned"),
    ],
)
def test_models_that_ignore_the_temperature(model: str, state: str) -> None:
    chat = BY_NAME["openai_chat"]
    body = json.dumps({"model": model}).encode()
    asked = read_request(chat, "", body)
    assert temperature_state(asked, pin(chat, asked, body, ()), ()) == state


def test_every_row_of_the_table_names_its_source() -> None:
    assert all(source.startswith("https://") for _, source in IGNORED)
