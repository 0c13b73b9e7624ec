import json

import pytest

from nanobench.agent.gateway.dialects.registry import classify_http_error, classify_message


def body(**error: object) -> str:
    return json.dumps({"error": error})


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (400, body(message="m", code="context_length_exceeded"), "context_size"),
        (
            400,
            body(message="This endpoint's maximum context length is 8 tokens."),
            "context_size",
        ),
        (400, body(message="prompt is too long: 9 tokens > 8 maximum"), "context_size"),
        (400, body(message="Invalid value for 'messages'"), "invalid_request"),
        (400, body(message="API key not valid. Please pass one."), "authentication"),
        (
            400,
            "[" + body(code=400, message="m", status="INVALID_ARGUMENT") + "]",
            "invalid_request",
        ),
        (401, body(message="Incorrect API key provided"), "authentication"),
        (401, "<html>", "authentication"),
        (402, body(code=402, message="Insufficient credits"), "billing"),
        (403, "", "permission"),
        (404, '{"object":"error","message":"m","code":"model_not_found"}', "unknown_model"),
        (408, "", "timeout"),
        (
            413,
            body(message="Request body too large for gpt. Max size: 8000 tokens."),
            "context_size",
        ),
        (413, body(message="Request too large"), "invalid_request"),
        (422, "", "invalid_request"),
        (429, body(message="slow", type="requests", code="rate_limit_exceeded"), "rate_limit"),
        (429, body(message="m", type="insufficient_quota"), "quota"),
        (
            429,
            body(
                message="Request too large for m on tokens per min (TPM)",
                code="rate_limit_exceeded",
            ),
            "context_size",
        ),
        (429, body(message="Too many requests; tokens per day are used up"), "rate_limit"),
        (500, body(message="The server had an error", type="server_error"), "server_error"),
        (500, body(message="m", code=429), "rate_limit"),
        (502, "<html>Bad Gateway</html>", "server_error"),
        (503, "", "overload"),
        (504, "", "timeout"),
        (529, body(type="overloaded_error", message="Overloaded"), "overload"),
        (200, body(code=502, message="Provider returned error"), "server_error"),
        (200, "{}", "bad_response"),
    ],
)
def test_status_and_body_name_the_class(status: int, text: str, expected: str) -> None:
    assert classify_http_error(status, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "[1]",
        '"text"',
        '{"error": null}',
        '{"error": "text"}',
        '{"error": {"message": {"a": 1}, "code": [1]}}',
        '{"error": {"details": [1]}}',
        "[" * 100_000,
        '{"error": {"code": "' + "9" * 5000 + '"}}',
    ],
)
def test_any_body_falls_back_to_the_status(text: str) -> None:
    assert classify_http_error(403, text) == "permission"


def test_a_number_echoed_in_a_client_error_is_no_status() -> None:
    assert classify_http_error(400, body(message="token 429 is wrong", code=429)) == (
        "invalid_request"
    )


def test_an_unknown_text_has_no_class() -> None:
    assert classify_message("all is well") is None
