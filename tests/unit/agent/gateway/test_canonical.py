"""The key of a request: what it must not see, and that it sees all the rest."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.agent.gateway.canonical import LEFT_OUT, CanonicalRequest, canonical_request
from nanobench.agent.gateway.substitution import Locations, substitutions
from nanobench.agent.gateway.transport import UpstreamRequest

HERE = Locations("/home/a/runs/1/ws", "/home/a/runs/1/run", "/home/a")
THERE = Locations("/ws", "/run/nb", "/srv/state")
EXACT = st.none() | st.booleans() | st.integers() | st.text()
SCALARS = EXACT | st.floats(allow_nan=False, allow_infinity=False)
DISTINCT = st.lists(EXACT, min_size=2, max_size=5, unique_by=json.dumps)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
BODIES = st.dictionaries(
    st.text(min_size=1).filter(lambda name: name not in LEFT_OUT), VALUES, max_size=5
)


def canonical(body: bytes, locations: Locations = HERE, **changed: Any) -> CanonicalRequest:
    fields: dict[str, Any] = {
        "method": "POST",
        "route": "/chat/completions",
        "headers": {},
        "dialect": "openai-chat",
    } | changed
    request = UpstreamRequest(**fields, body=b"pinned", agent_body=body, pinned={})
    return canonical_request(request, substitutions(locations))


def key(document: Any, locations: Locations = HERE, **changed: Any) -> str:
    return canonical(json.dumps(document).encode(), locations, **changed).key


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shuffled(member) for name, member in reversed(value.items())}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def respelt(value: Any) -> Any:
    """Whole numbers as floats, as another JSON writer may spell them."""
    if isinstance(value, dict):
        return {name: respelt(member) for name, member in value.items()}
    if isinstance(value, list):
        return [respelt(item) for item in value]
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    return float(value) if whole else value


@given(BODIES)
def test_the_order_of_names_and_the_spelling_of_json_do_not_matter(body: dict[str, Any]) -> None:
    spelt = json.dumps(shuffled(respelt(body)), indent=3, ensure_ascii=False)
    assert canonical(spelt.encode(errors="surrogatepass")).key == key(body)


@given(BODIES, st.text(min_size=1).filter(lambda name: name not in LEFT_OUT), DISTINCT)
def test_every_scalar_of_a_body_is_in_its_key(
    body: dict[str, Any], name: str, values: list[Any]
) -> None:
    keys = {key({**body, name: {"deep": [value]}}) for value in values}
    assert len(keys) == len(values)


@given(DISTINCT)
def test_the_order_of_arrays_matters(values: list[Any]) -> None:
    assert key({"stop": values}) != key({"stop": [*values[1:], values[0]]})


def test_true_is_not_one_and_text_is_no_number() -> None:
    assert len({key({"n": n}) for n in (1, True, "1", [1], None, {"1": 1})}) == 6
    assert key({"n": 1}) == key({"n": 1.0}) == canonical(b'{"n":1e0}').key
    assert key({"n": 0}) == canonical(b'{"n":-0.0}').key
    assert key({"n": 0.1}) != key({"n": 0.2})


@pytest.mark.parametrize("name", sorted(LEFT_OUT))
def test_what_is_left_out_is_left_out_at_the_top_only(name: str) -> None:
    assert key({"model": "m", name: "x"}) == key({"model": "m"})
    assert key({"model": "m", "deep": {name: "x"}}) != key({"model": "m", "deep": {}})


@pytest.mark.parametrize(
    "changed",
    [
        {"dialect": "anthropic"},
        {"method": "GET"},
        {"route": "/responses"},
        {"route": "/chat/completions?alt=sse"},
        {"headers": {"anthropic-version": "2023-06-01"}},
        {"headers": {"anthropic-beta": "tools"}},
    ],
)
def test_the_address_is_in_the_key(changed: dict[str, Any]) -> None:
    assert key({"model": "m"}, **changed) != key({"model": "m"})


def test_what_a_client_adds_by_itself_is_not() -> None:
    noise = {"user-agent": "x", "authorization": "Bearer k", "x-api-key": "k", "x-title": "t"}
    assert key({}, headers=noise) == key({})
    assert key({}, route="/m?b=2&a=1") == key({}, route="/m?a=1&b=2")
    spaced = {"anthropic-beta": "one,  two"}
    assert key({}, headers=spaced) == key({}, headers={"anthropic-beta": "one,two"})


OPENAI = (
    '{"messages":[{"role":"assistant","tool_calls":[{"id":"%s"},{"id":"%s"}]},'
    '{"role":"tool","tool_call_id":"%s","content":"r"}]}'
)
ANTHROPIC = (
    '{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"%s","input":{}},'
    '{"type":"tool_use","id":"%s","input":{}}]},'
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"r"}]}]}'
)
RESPONSES = (
    '{"input":[{"type":"function_call","call_id":"%s"},{"type":"function_call",'
    '"call_id":"%s"},{"type":"function_call_output","call_id":"%s","output":"r"}]}'
)
GOOGLE = (
    '{"contents":[{"parts":[{"functionCall":{"id":"%s"}},{"functionCall":{"id":"%s"}},'
    '{"functionResponse":{"id":"%s"}}]}]}'
)


@pytest.mark.parametrize("form", [OPENAI, ANTHROPIC, RESPONSES, GOOGLE])
def test_ids_of_tool_calls_count_by_their_order_only(form: str) -> None:
    def named(*ids: str) -> str:
        return canonical((form % ids).encode()).key

    assert named("a", "b", "a") == named("toolu_9", "call_1", "toolu_9")
    assert named("a", "b", "a") == named("b", "a", "b")
    assert named("a", "b", "a") != named("a", "b", "b"), "the result of another call"
    assert named("a", "b", "a") != named("a", "a", "a")


def test_an_argument_that_is_named_like_an_id_is_an_argument() -> None:
    def calling(value: str) -> str:
        call = {"type": "tool_use", "id": "t", "input": {"call_id": value, "id": value}}
        return key({"messages": [{"role": "assistant", "content": [call]}]})

    assert calling("a") != calling("b")
    assert key({"id": "a"}) != key({"id": "b"})


PROMPT = """## SYSTEM INFORMATION

Operating System: Linux
OS Version: {kernel}
Home Directory: {run}/home
Current Working Directory: {workspace}
Current Date: {date}"""


def speaking(prompt: str, said: str = "Fix it.", result: str = "ok") -> dict[str, Any]:
    return {
        "messages": [
            {"role": "system", "content": prompt},
            {"role": "user", "content": said},
            {"role": "tool", "tool_call_id": "c", "content": result},
        ]
    }


def test_the_system_prompt_of_another_day_and_machine_is_the_same() -> None:
    run, workspace = HERE.run, HERE.workspace
    first = PROMPT.format(kernel="6.8.0", run=run, workspace=workspace, date="2026-11-30")
    run, workspace = THERE.run, THERE.workspace
    second = PROMPT.format(kernel="6.1", run=run, workspace=workspace, date="2027-01-01")
    assert key(speaking(first), HERE) == key(speaking(second), THERE)
    assert key(speaking(first), HERE) != key(speaking(first.replace("Linux", "macOS")), HERE)
    slim = "OS: Linux | CWD: /ws | Date: 2026-11-3"
    assert key(speaking(slim + "0"), THERE) == key(speaking(slim + "1"), THERE)


def test_a_date_outside_of_the_system_prompt_counts() -> None:
    assert key(speaking("p", "Current Date: 2026-11-30")) != key(
        speaking("p", "Current Date: 2026-12-01")
    )


def test_paths_are_replaced_whole_and_everywhere() -> None:
    assert key(speaking("p", "see /ws/a.py"), THERE) == key(
        speaking("p", "see /home/a/runs/1/ws/a.py"), HERE
    )
    assert key(speaking("p", "/ws/a"), THERE) != key(speaking("p", "/wsgi/a"), THERE)
    assert "<workspace>" not in str(canonical(b'["/wsgi /x/ws /ws-2 /ws.old"]', THERE).body)
    assert canonical(b'["cd /ws."]', THERE).body == ["json", ["cd <workspace>."]]
    assert canonical(
        b'["/srv/state/tools http://127.0.0.1:5/%s/v1/m"]' % (b"0af9" * 8), THERE
    ).body == [
        "json",
        ["<state>/tools <gateway>/v1/m"],
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("===== 3 passed in 0.12s =====", "==== 3 passed in 10.30s ===="),
        ("1 passed in 75.50s (0:01:15)", "1 passed in 61.50s (0:01:01)"),
        ("# duration_ms 12.5", "# duration_ms 130"),
        ("ok  pkg  0.012s", "ok  pkg  0.300s"),
        ("<A object at 0x7f1234abcdef>", "<A object at 0x7f1234abcd00>"),
        ("-rw-r--r-- 1 r r 5 Nov 30 10:53 a", "-rw-r--r-- 1 r r 5 Dec  1 09:00 a"),
        ("Mon Nov 30 11:17:24 UTC 2026", "Tue Dec  1 09:00:01 UTC 2026"),
        ("at 2026-11-30T10:00:00.123Z", "at 2026-11-30T11:00:00.5Z"),
        ("/run/nb/tmp/tmpab12_x9z", "/run/nb/tmp/tmpcd34_y8w"),
    ],
)
def test_what_a_command_prints_of_its_time_is_no_difference(one: str, other: str) -> None:
    assert key(speaking("p", "u", one)) == key(speaking("p", "u", other))
    assert key(speaking("p", one, "r")) != key(speaking("p", other, "r")), "the user says it"


def test_what_a_command_prints_otherwise_is() -> None:
    pairs = [("3 passed", "2 passed"), ("wait 5s", "wait 6s"), ("exit 1", "exit 2"), ("a", "b")]
    for one, other in pairs:
        assert key(speaking("p", "u", one)) != key(speaking("p", "u", other))


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe", b"{", b'{"a":1,"a":2}', b'{"n":1e999}', b'{"n":NaN}', b"[" * 100_000],
    ids=["no text", "no JSON", "name twice", "too large", "no number", "too deep"],
)
def test_what_is_no_plain_json_counts_byte_for_byte(body: bytes) -> None:
    assert canonical(body).body[0] == "bytes"
    assert canonical(body).key != canonical(body + b" ").key
    assert canonical(b"").body == ["none"]


def test_a_field_of_an_odd_type_is_no_role() -> None:
    for odd in ([], {}, 1, None):
        assert key({"m": {"role": odd, "type": odd, "content": "x"}}) != key({})


def test_half_of_a_surrogate_pair_is_text_like_any_other() -> None:
    halves = [canonical(b'{"a":"\\ud83%c"}' % digit).key for digit in b"de"]
    assert halves[0] != halves[1]
