from typing import Any

import pytest

from nanobench.agent.tools import relative_path, tool_signals
from nanobench.model.report import AgentReport


def report(*calls: dict[str, Any]) -> AgentReport:
    return AgentReport.model_validate({"kind": "success", "exitCode": 0, "toolCalls": calls})


def read(path: Any, **more: Any) -> dict[str, Any]:
    error = more.pop("error", None)
    return {"name": "read_file", "arguments": {"path": path, **more}, "error": error}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.py", "a.py"),
        ("./a//b/../c.py", "a/c.py"),
        ("/ws/a.py", "a.py"),
        ("/ws/../etc/passwd", None),
        ("/ws", None),
        ("/wsx/a.py", None),
        ("/etc/passwd", None),
        ("..", None),
        ("../a.py", None),
        ("a/../../b", None),
        (".", None),
        ("a\0b", None),
    ],
)
def test_paths_are_relative_to_the_workspace_or_nothing(path: str, expected: str | None) -> None:
    assert relative_path(path, "/ws") == expected


def test_calls_failures_and_unparsed_arguments_are_counted() -> None:
    signals = tool_signals(
        report(
            read("a.py"),
            read("b.py", error="Error: no such file"),
            {"name": "read_file", "arguments": '{"pa', "error": "Invalid tool arguments"},
            {"name": "execute_bash", "arguments": {"command": "false"}, "result": "EXIT_CODE: 1"},
        ),
        "/ws",
        ("a.py", "b.py"),
    )
    assert signals.calls == {"read_file": 3, "execute_bash": 1}
    assert signals.failed == {"read_file": 2}
    assert signals.unparsed_arguments == 1


def test_only_successful_reads_of_content_count_as_read() -> None:
    signals = tool_signals(
        report(
            read("b.py"),
            read("/ws/a.py"),
            read("./a.py"),
            read("failed.py", error="Error"),
            read("size.py", metadata_only=True),
            read("../outside.py"),
            read(7),
            read(""),
            {"name": "read_file", "arguments": None},
            {"name": "string_replace", "arguments": {"path": "c.py"}},
        ),
        "/ws",
        ("a.py", "c.py", "b.py"),
    )
    assert signals.files_read == ("b.py", "a.py")
    assert signals.required_files_read == ("a.py", "b.py")


def test_a_tool_name_as_long_as_a_book_is_cut() -> None:
    signals = tool_signals(report({"name": "x" * 5000}), "/ws", ())
    assert signals.calls == {"x" * 100: 1}


def test_without_a_report_nothing_is_known() -> None:
    assert tool_signals(None, "/ws", ("a.py",)).files_read == ()
