"""Events come out of a stream the same wherever its chunks end."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.agent.gateway.dialects.openai_chat import OPENAI_CHAT
from nanobench.agent.gateway.framing import LONGEST_LINE, JsonLines, Parser, ServerSentEvents
from nanobench.agent.gateway.reply import StreamTap

LINES = st.sampled_from(
    [
        *(b"data: one", b"data:two", b"data:  [DONE]", b"data", b": comment", b"event: error"),
        *(
            b"id: 7",
            b"",
            b"",
            b"",
            "data: \u00e9\u20ac\U0001f600".encode(),
            b"\xef\xbb\xbfdata: bom",
        ),
        *(b"retry: 1", b'data: {"a":\x0b1}', b"data: x\x85y\x1cz"),
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.lists(st.tuples(LINES, ENDS)).map(lambda pairs: b"".join(a + b for a, b in pairs))


def whole(parser: Parser, chunks: list[bytes]) -> list[bytes]:
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.end()


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[a:b] for a, b in pairwise(ends)]


@given(STREAMS, st.lists(st.integers(0, 10_000)))
def test_any_chunking_gives_the_same_events(stream: bytes, places: list[int]) -> None:
    expected = whole(ServerSentEvents(), [stream])
    assert whole(ServerSentEvents(), cut(stream, places)) == expected
    assert whole(ServerSentEvents(), [bytes([byte]) for byte in stream]) == expected


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_any_bytes_in_any_chunks_give_the_same_lines(stream: bytes, places: list[int]) -> None:
    assert whole(JsonLines(), cut(stream, places)) == whole(JsonLines(), [stream])


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\ndata: b\r\n\r\n", [b"a\nb"]),
        (b"data: a\rdata: b\r\r", [b"a\nb"]),
        (b": OPENROUTER PROCESSING\n\ndata: a\n\n", [b"a"]),
        (b"event: error\ndata: a\n\n", [b"a"]),
        (b"data: a", [b"a"]),
        (b"data: a\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_events_as_the_standard_frames_them(stream: bytes, events: list[bytes]) -> None:
    assert whole(ServerSentEvents(), [stream]) == events


def test_a_line_beyond_all_measure_is_skipped_and_the_next_event_is_read() -> None:
    parser, piece = ServerSentEvents(), b"x" * (1 << 20)
    events = parser.feed(b"data: ")
    for _ in range(LONGEST_LINE // len(piece) + 1):
        events += parser.feed(piece)
    events += parser.feed(b"\n\ndata: a\n\n")
    assert events == [b"a"]


@given(st.lists(st.integers(0, 10_000)))
def test_what_a_stream_tells_does_not_depend_on_its_chunks(places: list[int]) -> None:
    chunk = {
        "model": "m",
        "choices": [{"delta": {"content": "\u20ac" * 50}, "finish_reason": None}],
    }
    last = {"model": "m", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    done = {"model": "m", "choices": [{"delta": {}, "finish_reason": "length"}]}
    events = [chunk, chunk, done, last]
    stream = b"".join(
        b"data: " + json.dumps(e, ensure_ascii=False).encode() + b"\n\n" for e in events
    )
    tap = StreamTap(OPENAI_CHAT)
    for part in cut(stream + b"data: [DONE]\n\n", places):
        tap.feed(part)
    tap.end()
    reading = tap.reading
    assert (reading.input_tokens, reading.output_tokens, reading.model) == (7, 3, "m")
    assert (reading.finish_reason, reading.finished) == ("length", True)


TELLING = (re.compile(rb"one"), re.compile(rb"\[DONE\]"))


def tells(event: bytes) -> bool:
    return any(pattern.search(event) for pattern in TELLING)


@pytest.mark.parametrize("parser", [ServerSentEvents, JsonLines])
@given(STREAMS, st.lists(st.integers(0, 10_000)))
def test_trimming_loses_nothing_that_tells(
    parser: type[ServerSentEvents] | type[JsonLines], stream: bytes, places: list[int]
) -> None:
    trimming, found = parser(), []
    for chunk in cut(stream, places):
        found += trimming.feed(trimming.trimmed(chunk, TELLING))
    found += trimming.end()
    expected = whole(parser(), [stream])
    told = [event for event in expected if tells(event)]
    assert [event for event in found if tells(event)] == told
    assert len(found) <= len(expected)


def test_trimming_cuts_out_what_does_not_tell() -> None:
    parser = ServerSentEvents()
    parser.feed(b"data: first\n\n")
    dull = b"data: two\n\n" * 1000
    assert parser.trimmed(dull + b"data: one\n\n" + dull, TELLING) == b"data: one\n\n" + dull
    assert parser.trimmed(dull, TELLING) == b""
