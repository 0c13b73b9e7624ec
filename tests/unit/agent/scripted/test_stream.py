"""The wire format: what a client that knows OpenAI's chunks puts together again."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nanobench.agent.scripted import stream
from nanobench.agent.scripted.script import Act, Fault, Say, ToolCall


def _documents(reply: stream.Reply) -> list[dict[str, Any]]:
    events = list(reply.events())
    assert events[-1] == b"data: [DONE]\n\n"
    assert all(e.startswith(b"data: ") and e.endswith(b"\n\n") for e in events)
    return [json.loads(e.removeprefix(b"data: ")) for e in events[:-1]]


def _assemble(documents: list[dict[str, Any]]) -> dict[int, dict[str, str]]:
    calls: dict[int, dict[str, str]] = {}
    for document in documents:
        for choice in document["choices"]:
            for call in choice["delta"].get("tool_calls", []):
                known = calls.setdefault(call["index"], {"id": "", "name": "", "arguments": ""})
                known["id"] += call.get("id", "")
                known["name"] += call["function"].get("name", "")
                known["arguments"] += call["function"]["arguments"]
    return calls


@given(st.text(max_size=200))
def test_text_arrives_whole(text: str) -> None:
    documents = _documents(stream.Reply("m", 0, Say(text), 7))
    said = [c["delta"].get("content", "") for d in documents for c in d["choices"]]
    assert "".join(said) == text


def test_large_arguments_are_split_and_join_to_the_same_json() -> None:
    content = 'Ünïcode "quoted" \r\n' * 9000
    calls = (
        ToolCall("read_file", {"path": "a.py"}),
        ToolCall("write_file", {"path": "a.py", "content": content}),
    )
    documents = _documents(stream.Reply("m", 3, Act(calls), 7))
    assembled = _assemble(documents)
    assert [assembled[i]["name"] for i in (0, 1)] == ["read_file", "write_file"]
    assert json.loads(assembled[1]["arguments"])["content"] == content
    assert len({call["id"] for call in assembled.values()}) == 2
    assert max(len(json.dumps(document)) for document in documents) < 70_000


def test_finish_reason_then_usage_come_last() -> None:
    act = Act((ToolCall("read_file", {"path": "a"}),))
    finish, usage = _documents(stream.Reply("m", 0, act, 11))[-2:]
    assert finish["choices"][0]["finish_reason"] == "tool_calls"
    assert usage["choices"] == []
    assert usage["usage"]["prompt_tokens"] == 11
    assert usage["usage"]["completion_tokens"] > 0
    stopped = _documents(stream.Reply("m", 0, Say("x", finish_reason="length"), 1))[-2]
    assert stopped["choices"][0]["finish_reason"] == "length"


def test_the_document_says_the_same_as_the_stream() -> None:
    act = Act((ToolCall("write_file", {"path": "a", "content": "ä"}),))
    reply = stream.Reply("m", 2, act, 5)
    message = reply.completion()["choices"][0]["message"]
    assembled = _assemble(_documents(reply))[0]
    assert message["tool_calls"][0]["function"]["arguments"] == assembled["arguments"]
    assert message["tool_calls"][0]["id"] == assembled["id"]
    assert reply.completion()["usage"] == _documents(reply)[-1]["usage"]


def test_a_retry_asks_for_the_same_turn() -> None:
    user = {"role": "user", "content": "fix"}
    said = {"role": "assistant", "content": "", "tool_calls": [{"id": stream.call_id(0, 0)}]}
    result = {"role": "tool", "tool_call_id": stream.call_id(0, 0), "content": "ok"}
    assert stream.turn_of([user]) == 0
    assert stream.turn_of([user, said, result]) == 1
    assert stream.turn_of([user, said, result]) == 1


def test_the_turn_survives_a_history_that_was_cut_at_its_head() -> None:
    last = {"role": "assistant", "content": "", "tool_calls": [{"id": stream.call_id(41, 2)}]}
    assert stream.turn_of([last, {"role": "tool", "content": "ok"}]) == 42


@given(st.lists(st.one_of(st.none(), st.text(), st.dictionaries(st.text(), st.text()))))
def test_strange_messages_do_not_upset_the_turn(messages: list[Any]) -> None:
    odd = {"role": "assistant", "tool_calls": [None, {"id": "call_²_1"}, {"id": 7}]}
    assert stream.turn_of([*messages, odd]) >= 1


def test_tokens_do_not_depend_on_the_system_prompt() -> None:
    user = {"role": "user", "content": "fix it"}
    here = [{"role": "system", "content": "cwd: /ws, date: today"}, user]
    there = [{"role": "system", "content": "cwd: /somewhere/else/entirely"}, user]
    assert stream.input_tokens(here) == stream.input_tokens(there) > 0


def test_an_error_has_the_form_of_openai() -> None:
    fault = Fault(400, "too long", "context_size", code="context_length_exceeded")
    error = stream.error_document(fault)["error"]
    assert error["code"] == "context_length_exceeded"
    assert error["message"] == "too long"
    assert error["type"] == "invalid_request_error"
