"""Trajectory signals: each rule holds where it should, and not beside it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.agent.exchange import Exchange
from nanobench.agent.trajectory import trajectory_signals
from nanobench.model.report import AgentReport
from nanobench.model.signals import Ending, TrajectorySignals


def call(
    name: str, error: str | None = None, result: str = "ok", **arguments: Any
) -> dict[str, Any]:
    shown = None if error else result
    return {"name": name, "arguments": arguments, "result": shown, "error": error}


def bash(command: str, **more: Any) -> dict[str, Any]:
    return call("execute_bash", command=command, **more)


def read(path: str, first: int | None = None, last: int | None = None) -> dict[str, Any]:
    bounds = {"start_line": first, "end_line": last}
    return call("read_file", path=path, **{k: v for k, v in bounds.items() if v is not None})


EDIT = call("string_replace", path="a.py", old_str="a", new_str="b")


def signals(
    *calls: dict[str, Any],
    text: str = "",
    ending: Ending = "completed",
    exchanges: list[Exchange] | None = None,
) -> TrajectorySignals:
    document = {"kind": "success", "exitCode": 0, "finalText": text, "toolCalls": calls}
    report = AgentReport.model_validate(document)
    return trajectory_signals(report, exchanges, ending, "/ws")


def exchange(finish: str | None = "stop", size: int = 0) -> Exchange:
    return Exchange(200, None, 1, 1, finish, None, None, request_bytes=size)


class TestRereading:
    @pytest.mark.parametrize(
        ("calls", "count"),
        [
            ([read("a.py"), read("a.py")], 1),
            ([read("a.py"), read("/ws/./a.py", 5, 9)], 1),
            ([read("a.py", 1, 50), read("a.py", 51, 100)], 0),
            ([read("a.py", 1, 50), read("a.py", 50, 100)], 1),
            ([read("a.py"), EDIT, read("a.py")], 0),
            ([read("a.py"), call("string_replace", error="no match"), read("a.py")], 1),
            ([read("a.py"), bash("sed -i s/a/b/ a.py"), read("a.py")], 0),
            ([read("a.py"), read("b.py")], 0),
            ([bash("npm test"), bash("npm test 2>&1 | tail -20")], 1),
            ([bash("npm test"), EDIT, bash("npm test")], 0),
            ([call("find_files", pattern="*.py")] * 3, 2),
            ([call("write_tasks", tasks="x")] * 3, 0),
        ],
    )
    def test_only_what_was_shown_before_counts(
        self, calls: list[dict[str, Any]], count: int
    ) -> None:
        assert signals(*calls).rereads == count


class TestLoops:
    def test_three_in_a_row_are_a_loop(self) -> None:
        found = signals(*[bash("ls")] * 3, EDIT, *[bash("ls")] * 4, bash("pwd"))
        assert (found.loops, found.longest_repeat) == (2, 4)

    def test_two_in_a_row_or_alternating_ones_are_none(self) -> None:
        found = signals(bash("ls"), bash("ls"), bash("pwd"), bash("ls"))
        assert (found.loops, found.longest_repeat) == (0, 2)


class TestClaims:
    @pytest.mark.parametrize(
        ("text", "claims"),
        [
            ("I fixed the bug in add().", True),
            ("All tests pass now.", True),
            ("The task is done!", True),
            ("I could not fix it.", False),
            ("The tests don't pass.", False),
            ("The fix is not complete. I stopped.", False),
            ("It should be fixed once you rebuild.", False),
            ("Let me look at the file.", False),
            ("It fails. But now it is fixed.", True),
            ("fixed " + "." * 2000, False),
            ("", False),
        ],
    )
    def test_words_of_success_without_doubt(self, text: str, claims: bool) -> None:
        assert signals(EDIT, text=text).claims_success is claims

    @pytest.mark.parametrize(
        ("calls", "unverified"),
        [
            ([EDIT], True),
            ([bash("pytest"), EDIT], True),
            ([EDIT, bash("pytest")], False),
            ([EDIT, bash("cat a.py"), bash("git diff")], True),
            ([EDIT, bash("sed -i s/a/b/ a.py && pytest")], False),
            ([EDIT, bash("pytest", error="Error: not allowed")], True),
            ([EDIT, bash("pytest", result="EXIT_CODE: 127\nSTDERR:\nnot found")], True),
            ([EDIT, call("lsp_get_diagnostics", path="a.py")], False),
            ([EDIT, bash("pytest"), call("write_file", error="no", path="a.py")], False),
            ([bash("pytest")], False),
            ([], True),
        ],
    )
    def test_success_is_verified_by_what_ran_after_the_last_edit(
        self, calls: list[dict[str, Any]], unverified: bool
    ) -> None:
        found = signals(*calls, text="Done.")
        assert (found.unverified_claim, found.verified) == (unverified, not unverified)

    def test_an_agent_that_was_ended_claims_nothing(self) -> None:
        assert not signals(EDIT, text="Done.", ending="timed_out").claims_success


class TestTools:
    def test_shell_only(self) -> None:
        assert signals(bash("ls")).shell_only
        assert not signals(bash("ls"), read("a.py")).shell_only
        assert not signals().shell_only

    def test_web_browser_and_ocr(self) -> None:
        found = signals(call("fetch_url", url="https://example.com"))
        assert (found.web, found.browser, found.ocr) == (True, False, False)
        assert found.network_attempts == ('fetch_url {"url": "https://example.com"}',)
        found = signals(bash("tesseract a.png - && npx playwright test"))
        assert (found.web, found.browser, found.ocr) == (False, True, True)

    def test_attempts_are_listed_once_shortened_and_bounded(self) -> None:
        commands = [f"curl https://example.com/{number}" for number in range(50)]
        found = signals(*[bash(c) for c in commands], bash(commands[0]))
        assert found.network_attempts == tuple(commands[:20])
        long = signals(bash("git log --all " + "x" * 1000)).history_attempts
        assert [len(one) for one in long] == [160]

    def test_history_is_also_mined_by_reading_gits_own_files(self) -> None:
        assert signals(read(".git/packed-refs")).history_attempts
        assert signals(call("git_log", branch="origin/main")).history_attempts
        assert not signals(call("git_log", count=5), read(".gitignore")).history_attempts

    def test_vision_is_what_was_given(self) -> None:
        report = AgentReport.model_validate({"kind": "success", "exitCode": 0})
        for shown in (True, False):
            found = trajectory_signals(report, None, "completed", "/ws", images_given=shown)
            assert found.vision is shown


class TestHarness:
    def test_refused_failed_and_malformed_calls_are_told_apart(self) -> None:
        found = signals(
            call("read_file", error="⚒ Validation failed: path", path="../x"),
            call("string_replace", error="Error: no match"),
            {"name": "read_file", "arguments": '{"pa', "result": None, "error": "bad"},
            bash("sleep 999", result="Error: Command timed out after 120000ms\n"),
            bash("cat big", result="x ... [Output truncated: 99999 characters total; ...] y"),
            ending="turn_limit",
        ).harness
        assert (found.rejected_calls, found.failed_calls, found.malformed_calls) == (1, 2, 1)
        assert (found.timed_out_calls, found.cut_results, found.turn_limit) == (1, 1, True)

    def test_calls_that_the_report_leaves_out_show_in_the_providers_log(self) -> None:
        log = [exchange("tool_calls"), exchange("tool_calls"), exchange("stop")]
        assert signals(bash("ls"), exchanges=log).harness.unreported_calls == 1
        assert signals(bash("ls"), bash("ls"), exchanges=log).harness.unreported_calls == 0
        assert signals(bash("ls")).harness.unreported_calls is None

    def test_a_shortened_history_shows_in_smaller_requests(self) -> None:
        log = [exchange(size=size) for size in (100, 200, 150, 180)]
        assert signals(exchanges=log).harness.shrunk_requests == 1
        assert signals(exchanges=[exchange()]).harness.shrunk_requests is None


def test_without_a_report_nothing_is_claimed_to_be_known() -> None:
    found = trajectory_signals(None, [exchange("tool_calls")], "aborted", "/ws")
    assert not found.known
    assert found.harness.unreported_calls is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)
arguments = values | st.dictionaries(
    st.sampled_from(["path", "command", "start_line", "end_line", "operation", "branch"]), values
)
names = st.sampled_from(["read_file", "execute_bash", "file_op", "git_log", "fetch_url", "x"])


@given(st.lists(st.tuples(names, arguments), max_size=4), st.text(max_size=40))
def test_no_call_of_a_model_is_too_odd(calls: list[tuple[str, Any]], text: str) -> None:
    document = [{"name": name, "arguments": given, "result": text} for name, given in calls]
    signals(*document, text=text)
