"""Replies in the OpenAI chat-completions format, as one document or as server-sent events.

The format is that of `POST /v1/chat/completions`: chunks of `choices[0].delta`, tool-call
arguments as pieces of one string, a chunk with the finish reason, a chunk with the usage and
no choice, and `data: [DONE]`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nanobench.agent.scripted.script import Act, Cut, Fault, Say

_ARGUMENT_PIECE = 32_768  # characters of one delta; large edits stay streams
_BYTES_PER_TOKEN = 4
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Reply:
    """One turn, addressed: the model's name as asked for, the turn's number, tokens read."""

    model: str
    turn: int
    step: Act | Say
    input_tokens: int

    @property
    def finish_reason(self) -> str:
        """Why the model stopped, in the provider's words."""
        return self.step.finish_reason if isinstance(self.step, Say) else "tool_calls"

    @property
    def output_tokens(self) -> int:
        """Size of text and tool calls, four bytes to a token."""
        return count_tokens(self._message())

    def completion(self) -> dict[str, Any]:
        """The reply as one document, for requests that do not stream."""
        choice = {"index": 0, "message": self._message(), "finish_reason": self.finish_reason}
        return self._envelope("chat.completion", [choice]) | {"usage": self._usage()}

    def events(self) -> Iterator[bytes]:
        """The reply as server-sent events, `[DONE]` included."""
        yield self._delta({"role": "assistant", "content": ""})
        if isinstance(self.step, Say):
            yield self._delta({"content": self.step.text})
        else:
            for index, call in enumerate(self._tool_calls()):
                yield from self._call_events(index, call)
        yield self._delta({}, self.finish_reason)
        yield event(self._envelope("chat.completion.chunk", []) | {"usage": self._usage()})
        yield DONE

    def _call_events(self, index: int, call: dict[str, Any]) -> Iterator[bytes]:
        arguments = call["function"]["arguments"]
        opening = call | {"function": {"name": call["function"]["name"], "arguments": ""}}
        yield self._delta({"tool_calls": [{"index": index} | opening]})
        for start in range(0, len(arguments), _ARGUMENT_PIECE):
            piece = {"arguments": arguments[start : start + _ARGUMENT_PIECE]}
            yield self._delta({"tool_calls": [{"index": index, "function": piece}]})

    def _delta(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return event(self._envelope("chat.completion.chunk", [choice]))

    def _envelope(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return _envelope(kind, self.model, str(self.turn), choices)

    def _message(self) -> dict[str, Any]:
        if isinstance(self.step, Say):
            return {"role": "assistant", "content": self.step.text}
        return {"role": "assistant", "content": None, "tool_calls": self._tool_calls()}

    def _tool_calls(self) -> list[dict[str, Any]]:
        assert isinstance(self.step, Act)  # noqa: S101 - callers looked
        return [
            {
                "id": call_id(self.turn, index),
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for index, call in enumerate(self.step.calls)
        ]

    def _usage(self) -> dict[str, int]:
        return {
            "prompt_tokens": self.input_tokens,
            "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
        }


def _envelope(kind: str, model: str, number: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-scripted-{number}",
        "object": kind,
        "created": 0,  # no clock: the same conversation gives the same bytes
        "model": model,
        "choices": choices,
    }


def event(document: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n"


def cut_event(step: Cut, model: str) -> bytes:
    """The last thing heard of a stream that breaks off."""
    choice = {"index": 0, "delta": {"content": step.text}, "finish_reason": None}
    return event(_envelope("chat.completion.chunk", model, "cut", [choice]))


def error_document(fault: Fault) -> dict[str, Any]:
    """The body of an HTTP error."""
    error = {"message": fault.message, "type": fault.kind, "param": None, "code": fault.code}
    return {"error": error}


def call_id(turn: int, index: int) -> str:
    """Names a tool call so that the turn can be read off a later request."""
    return f"call_{turn}_{index}"


def turn_of(messages: list[Any]) -> int:
    """The turn that a request asks for, counted from 0.

    It is a function of the request alone, so that a retry gets the same turn again: the number
    of assistant messages, or the turn after the last tool call if that is later (Nanocoder
    drops the oldest of more than 1,000 messages).
    """
    said = [m for m in messages if isinstance(m, dict) and m.get("role") == "assistant"]
    calls = [m["tool_calls"] for m in said if isinstance(m.get("tool_calls"), list)]
    later = [_turn_after(call) for listed in calls for call in listed]
    return max([len(said), *later])


def _turn_after(call: Any) -> int:
    parts = str(call.get("id", "") if isinstance(call, dict) else "").split("_")
    known = len(parts) == 3 and parts[0] == "call" and parts[1].isascii() and parts[1].isdigit()
    return int(parts[1]) + 1 if known else 0


def count_tokens(said: Any) -> int:
    """A stable stand-in for a tokenizer: UTF-8 bytes of the JSON, four to a token.

    Halves of surrogate pairs count as well: Nanocoder cuts tool results between UTF-16 units.
    """
    text = json.dumps(said, ensure_ascii=False)
    return -(-len(text.encode(errors="surrogatepass")) // _BYTES_PER_TOKEN)


def input_tokens(messages: list[Any]) -> int:
    """Tokens of a conversation without its system prompt, which holds paths and dates."""
    return count_tokens(
        [m for m in messages if not (isinstance(m, dict) and m.get("role") == "system")]
    )
