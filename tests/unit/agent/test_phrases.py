import pytest

from nanobench.agent.phrases import classify_report_message, classify_stderr, error_text

BOOT = "nanocoder · mock · qwen2.5-coder:7b · yolo\n"


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        (BOOT, ""),
        (BOOT + "Connection failed: x\n", "Connection failed: x"),
        ("[plain] MCP server failed: n (e)\n" + BOOT + "Server error: x\n", "Server error: x"),
        (f"\x1b[36m{BOOT.strip()}\x1b[0m\n\x1b[31mbad port\x1b[0m\n", "bad port"),
        ("Invalid --mode value: x\n", "Invalid --mode value: x"),
        ("", ""),
    ],
)
def test_the_error_stands_below_the_boot_line(stderr: str, expected: str) -> None:
    assert error_text(stderr) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Authentication failed: Invalid API key or credentials", "authentication"),
        ("Access forbidden: Check your API permissions", "permission"),
        ("Model not found: The requested model may not exist or is unavailable", "unknown_model"),
        ("Rate limit exceeded: Too many requests. Please wait and try again", "rate_limit"),
        ("Rate limit: You exceeded your current quota, please check your plan", "quota"),
        ("Rate limit: usage limit reached", "quota"),
        ("Request failed (402): Insufficient credits", "billing"),
        ("Request failed (408): Request Timeout", "timeout"),
        ("Request failed (413): Request too large", "invalid_request"),
        ("Request failed (418): teapot", "invalid_request"),
        ("Request failed (529): Overloaded", "overload"),
        ("Server error: The server had an error", "server_error"),
        ("Server error: The engine is currently overloaded", "overload"),
        ("Server error: Bad Gateway", "server_error"),
        ("Connection failed: Unable to reach the model server", "connection"),
        ("Request timed out: The model took too long to respond", "timeout"),
        ("Request timed out while waiting for model response headers. For slow", "timeout"),
        ("Context too large: Please reduce the conversation length", "context_size"),
        ("Too many tokens: Please shorten your message", "context_size"),
        ("Expected property name or '}' in JSON at position 1 (line 1 column 2)", "bad_response"),
        ("Unexpected end of JSON input", "bad_response"),
        ("Upstream overloaded", "overload"),
        ("other side closed", "stream_cut"),
        ("terminated", "stream_cut"),
        ('Invalid --model value: "a b". Model name must contain only', "configuration"),
        ("TypeError: x is not a function\n    at y", None),
        ("", None),
    ],
)
def test_each_fixed_phrase_has_its_class(message: str, expected: str | None) -> None:
    assert classify_stderr(message) == expected


def test_a_bad_request_is_judged_by_the_provider_s_body() -> None:
    message = (
        "Bad request: too much\nURL: http://127.0.0.1:1/v1/chat/completions\nResponse body: "
        '{"error": {"message": "too much", "code": "context_length_exceeded"}}'
    )
    assert classify_stderr(message) == "context_size"
    assert classify_stderr("Bad request: no tools here") == "invalid_request"


@pytest.mark.parametrize(
    ("message", "ending", "error_class"),
    [
        ("Conversation exceeded 200 turns without a final answer", "turn_limit", None),
        ("Model returned an empty response with no tool calls", "empty_response", "empty"),
        ("No response received from model", "empty_response", "empty"),
        ("Aborted", "aborted", None),
        ("No providers configured. Run nanocoder", "configuration_error", "configuration"),
        ("Provider 'x' not found in agents.config.json.", "configuration_error", "configuration"),
        ("Provider 'x' is ambiguous. Found", "configuration_error", "configuration"),
        ("Model 'x' not available for provider 'y'.", "configuration_error", "configuration"),
        ("Directory /a\nb is not trusted. Pass", "configuration_error", "configuration"),
        ("All configured providers failed:\n", "configuration_error", "configuration"),
        ("Failed to initialize provider: Error", "configuration_error", "configuration"),
        ("Something new", "crashed", "unknown"),
        ("", "crashed", "unknown"),
    ],
)
def test_each_report_message_has_its_ending(
    message: str, ending: str, error_class: str | None
) -> None:
    assert classify_report_message(message) == (ending, error_class)
