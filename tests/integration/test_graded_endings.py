"""Every way to end a run, graded: `nanobench bench` with the real Nanocoder on the sample task.

The provider is the test's own, described as users describe theirs; the gateway stands before it.
One bench runs all the cases that end by themselves, another those that a limit ends.
"""

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.agent.scripted.edits import edit_calls
from nanobench.agent.scripted.script import Act, Fault, Say, Script, Step, ToolCall
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.agent.scripted.sources import TaskView
from nanobench.files import StateDirectory
from nanobench.model.plan import Ruleset
from nanobench.model.record import Record
from nanobench.model.verdict import Verdict
from nanobench.scoring.judge import judge
from nanobench.workspace.changes import Change

pytestmark = pytest.mark.real

TASK = "sample"
API_KEY = "key-of-the-test-5d41402abc4b2a76"
DAEMON = f"86400.{os.getpid()}"  # an argument for `sleep` by which a process is known
DONE = Say("Done.")
SOON = {"retry-after-ms": "10"}
BAD_KEY = Fault(401, "Incorrect API key provided", "authentication")
DOWN = Fault(500, "The server had an error", "server_error", headers=SOON)
TOO_LONG = Fault(
    400, "maximum context length is 8192 tokens", "context_size", code="context_length_exceeded"
)
CHEAT = "def test_passes():\n    assert True\n"
ALL_PASS = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome = "passed"
"""


def bash(command: str) -> ToolCall:
    return ToolCall("execute_bash", {"command": command})


def put(path: str, content: bytes) -> ToolCall:
    """Write a file with the shell, so that Nanocoder does not know of it."""
    return bash(f"printf %s '{base64.b64encode(content).decode()}' | base64 -d > '{path}'")


def by_shell(changes: Sequence[Change]) -> tuple[ToolCall, ...]:
    return tuple(put(change.path.decode(), change.content or b"") for change in changes)


def plant(marks: Path) -> ToolCall:
    """Make the workspace's git run commands, wherever git would run in it or under its files.

    Each would leave a mark in a directory of the host that no sandbox holds.
    """
    touch = f"touch '{marks}'"
    script = f"""
    mkdir -p .git/hooks .git/info
    for hook in pre-commit post-checkout post-index-change pre-applypatch post-applypatch \\
        fsmonitor-watchman reference-transaction; do
      printf '#!/bin/sh\\n{touch}/hook\\n' > .git/hooks/$hook
      chmod 755 .git/hooks/$hook
    done
    cat >> .git/config <<'END'
    [core]
        fsmonitor = "{touch}/fsmonitor"
        hooksPath = .git/hooks
        pager = "{touch}/pager"
        excludesFile = /dev/stdin
    [filter "evil"]
        clean = "{touch}/clean; cat"
        smudge = "{touch}/smudge; cat"
        required = true
    [diff]
        external = "{touch}/external"
    [diff "evil"]
        textconv = "{touch}/textconv; cat"
        command = "{touch}/command"
    END
    echo '* filter=evil diff=evil -text' | tee .git/info/attributes > .gitattributes
    echo '*' | tee .git/info/exclude > .gitignore
    """
    return bash("\n".join(line.removeprefix("    ") for line in script.splitlines()))


def conversations(view: TaskView, marks: Path) -> dict[str, tuple[Step, ...]]:
    """What the model of each case does, for the cases that end by themselves."""
    gold = edit_calls(view.source_changes, view.base)
    half = view.changes_of(["javascript"])
    javascript = edit_calls(half, view.base)
    unread = {"path": "tempo/units.py", "old_str": '"h"', "new_str": '"hour"'}
    spoil = "rm js/test/units.test.js && echo 'assert False' > tests/test_units.py"
    daemon = (
        f"setsid sh -c 'trap \"\" TERM HUP; echo up > up.txt; sleep {DAEMON}; true' "
        "</dev/null >/dev/null 2>&1 & until test -s up.txt; do sleep 0.1; done"
    )
    rename = "git mv tempo/units.py tempo/scale.py && sed -i s/tempo.units/tempo.scale/ tempo/*.py"
    return {
        "large": (
            Act(gold),
            Act((ToolCall("write_file", {"path": "notes.txt", "content": "x" * 200_000}),)),
            DONE,
        ),
        "refused": (BAD_KEY,),
        "refused-late": (Act(gold), BAD_KEY),
        "down": (DOWN,),
        "down-late": (Act(gold), DOWN),
        "overflow": (TOO_LONG,),
        "overflow-late": (Act(gold), TOO_LONG),
        "sigterm": (Act((*gold, bash("kill -TERM $PPID; sleep 5"))), DONE),
        "shell": (Act(by_shell(view.source_changes)), DONE),
        "shell-half": (Act(by_shell(half)), DONE),
        "failed-edit": (Act((ToolCall("string_replace", unread),)), DONE),
        "commit": (Act((*gold, bash("git add -A && git commit -qm work"))), DONE),
        "spoiled-tests": (Act((*gold, bash(spoil))), DONE),
        "easy-tests": (
            Act(
                (
                    put("tests/test_units.py", CHEAT.encode()),
                    put("tests/conftest.py", ALL_PASS.encode()),
                )
            ),
            DONE,
        ),
        "daemon": (Act((*gold, bash(daemon))), DONE),
        "planted": (Act((*gold, plant(marks))), DONE),
        "wiped": (Act((*gold, bash('gone=$PWD; cd /; rm -rf "$gone"'))), DONE),
        "rename": (Act((*javascript, bash(rename))), DONE),
    }


def unending(view: TaskView) -> dict[str, tuple[Step, ...]]:
    """The cases that only a limit ends."""
    gold = edit_calls(view.source_changes, view.base)
    return {
        "slow": (Act((*gold, bash(f"sleep {DAEMON}"))), DONE),
        "idle": (Act((bash(f"sleep {DAEMON}"),)), DONE),
    }


class BrokenArguments(BaseHTTPRequestHandler):
    """A model whose every tool call is cut short within its arguments."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        function = {"name": "read_file", "arguments": '{"pa'}
        call = {"index": 0, "id": "c", "type": "function", "function": function}
        for delta, finish in (({"tool_calls": [call]}, None), ({}, "tool_calls")):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0}
            self.wfile.write(b"data: " + json.dumps(chunk | {"choices": [choice]}).encode())
            self.wfile.write(b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def broken_arguments() -> Iterator[str]:
    """The base URL of that model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BrokenArguments)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Benched:
    """What a bench left."""

    out: Path
    exit_code: int
    stderr: str
    records: dict[str, Record]


def bench(urls: dict[str, str], out: Path, state: StateDirectory, *options: str) -> Benched:
    """Run one cell per provider; each provider is named after its case."""
    providers = [
        {"name": name, "baseUrl": url, "apiKey": "${CASE_KEY}", "models": ["m"]}
        for name, url in urls.items()
    ]
    argv = [sys.executable, "-m", "nanobench", "bench", "--tasks", TASK, "--out", str(out)]
    argv += ["--models", ",".join(f"{name}/m" for name in urls), "--state-dir", str(state.root)]
    settings = {"NANOCODER_PROVIDERS": json.dumps(providers), "CASE_KEY": API_KEY}
    done = subprocess.run(
        [*argv, *options],
        cwd=out.parent,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
    )
    found = [Record.from_json(path.read_bytes()) for path in out.glob("cells/*/*/record.json")]
    records = {record.cell.model.provider: record for record in found}
    assert records.keys() == urls.keys(), done.stderr
    return Benched(out, done.returncode, done.stderr, records)


def survivors() -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if DAEMON in (p.info["cmdline"] or ())]


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("marks")


@pytest.fixture(scope="module")
def ended(
    view: TaskView,
    server: ScriptedServer,
    shared_state: StateDirectory,
    tmp_path_factory: pytest.TempPathFactory,
    marks: Path,
) -> Iterator[Benched]:
    steps = conversations(view, marks)
    urls = {name: server.register(name, Script(script)) for name, script in steps.items()}
    out = tmp_path_factory.mktemp("ended") / "out"
    yield bench(urls, out, shared_state, "--jobs", "2")
    for process in survivors():
        process.kill()


@pytest.fixture(scope="module")
def limited(
    view: TaskView,
    server: ScriptedServer,
    shared_state: StateDirectory,
    tmp_path_factory: pytest.TempPathFactory,
) -> Benched:
    steps = unending(view)
    urls = {name: server.register(name, Script(script)) for name, script in steps.items()}
    out = tmp_path_factory.mktemp("limited") / "out"
    options = ("--jobs", "3", "--timeout", "15", "--max-turns", "3")
    with broken_arguments() as url:
        return bench({**urls, "broken": url}, out, shared_state, *options)


def under(ruleset: Ruleset, record: Record) -> Verdict:
    return judge(record.signals, ruleset)


def required(view: TaskView) -> tuple[str, ...]:
    return view.task.required_files


def assert_solved(record: Record, view: TaskView) -> None:
    assert (record.verdict.score, record.verdict.category) == (1.0, None), record.verdict
    assert record.signals.edits.required_observed == required(view)
    assert record.completion.remaining_failures == ()


def assert_no_score(record: Record, reason: str) -> None:
    verdict = record.verdict
    assert (verdict.outcome, verdict.reason) == ("infrastructure_error", reason)
    assert (verdict.score, verdict.label, verdict.solved) == (None, None, False)


def test_a_bench_with_cells_without_score_tells_why_and_which(ended: Benched) -> None:
    assert ended.exit_code == 4
    assert "4 of 18 cells have no score" in ended.stderr
    assert "Traceback" not in ended.stderr
    report = (ended.out / "report" / "report.md").read_text()
    for name, record in ended.records.items():
        if record.verdict.score is None:
            assert record.verdict.reason in ("authentication", "server_error")
            assert record.verdict.reason in ended.stderr
        assert f"{name}/m" in report


def test_the_provider_s_key_is_written_nowhere(ended: Benched) -> None:
    files = [path for path in ended.out.rglob("*") if path.is_file()]
    assert len(files) > 50
    assert [path for path in files if API_KEY.encode() in path.read_bytes()] == []


def test_a_report_over_64_kib_is_read_whole(ended: Benched, view: TaskView) -> None:
    record = ended.records["large"]
    assert_solved(record, view)
    assert record.signals.agent.report == "complete"
    assert record.signals.agent.report_bytes > 200_000
    assert "notes.txt" in (record.signals.edits.reported or ())
    assert record.verdict.flags == ()


@pytest.mark.parametrize(
    ("case", "reason"), [("refused", "authentication"), ("down", "server_error")]
)
def test_a_provider_s_error_leaves_no_report_and_no_score(
    ended: Benched, view: TaskView, case: str, reason: str
) -> None:
    for name, observed, edited in ((case, 0.0, ()), (f"{case}-late", 1.0, required(view))):
        record = ended.records[name]
        agent = record.signals.agent
        assert_no_score(record, reason)
        assert (agent.ending, agent.report) == ("provider_error", "missing")
        assert (agent.error_class, agent.error_source) == (reason, "gateway")
        assert record.verdict.observed_score == observed
        assert record.signals.edits.required_observed == edited
        assert record.signals.edits.reported is None


def test_an_overflow_without_edit_is_rule_1(ended: Benched) -> None:
    record = ended.records["overflow"]
    verdict = record.verdict
    assert (record.signals.agent.report, record.signals.agent.exit_code) == ("missing", 1)
    assert (verdict.score, verdict.rule, verdict.reason) == (0.0, 1, "context_size")
    assert verdict.category == "context_window_exceeded"
    assert [match.rule for match in verdict.also_matched] == [2]


def test_an_overflow_after_the_work_is_judged_by_the_tree(ended: Benched, view: TaskView) -> None:
    record = ended.records["overflow-late"]
    assert record.signals.agent.report == "missing"
    assert_solved(record, view)
    literal = under("1.0", record)
    assert literal.solved
    assert literal.flags == ("edited_from_diff_without_report",)


def test_an_agent_that_ends_its_own_run_is_judged_by_what_it_left(
    ended: Benched, view: TaskView
) -> None:
    record = ended.records["sigterm"]
    agent = record.signals.agent
    assert (agent.exit_code, agent.ending, agent.report) == (0, "aborted", "missing")
    assert_solved(record, view)


def test_edits_by_the_shell_count_though_the_report_has_none(
    ended: Benched, view: TaskView
) -> None:
    record = ended.records["shell"]
    edits = record.signals.edits
    assert_solved(record, view)
    assert (edits.reported, edits.required_reported) == ((), ())
    assert set(edits.observed_only) >= set(required(view))
    assert record.verdict.flags == ("reported_edits_disagree",)
    assert under("1.0", record).solved


def test_half_of_the_work_by_the_shell_is_nothing_to_the_literal_rules(ended: Benched) -> None:
    record = ended.records["shell-half"]
    assert record.signals.edits.reported == ()
    assert (record.verdict.score, record.verdict.category) == (0.5, "partial_fix_only")
    literal = under("1.0", record)
    assert (literal.score, literal.rule, literal.label) == (0.0, 2, "Zero Signal")


def test_a_failed_edit_counts_as_none_though_the_report_lists_it(ended: Benched) -> None:
    record = ended.records["failed-edit"]
    edits = record.signals.edits
    assert record.signals.tools.failed == {"string_replace": 1}
    assert (edits.observed, edits.reported_only) == ((), ("tempo/units.py",))
    assert edits.required_reported == ("tempo/units.py",)
    verdict = record.verdict
    assert (verdict.score, verdict.rule, verdict.category) == (0.0, 2, None)
    assert verdict.evidence[0] == "edited nothing"
    assert under("1.0", record).rule != 2


def test_a_commit_of_the_agent_is_part_of_its_work(ended: Benched, view: TaskView) -> None:
    record = ended.records["commit"]
    assert_solved(record, view)
    assert record.signals.edits.agent_committed
    assert not ended.records["shell"].signals.edits.agent_committed


def test_spoiled_tests_are_told_and_not_carried_over(ended: Benched, view: TaskView) -> None:
    record = ended.records["spoiled-tests"]
    assert_solved(record, view)
    assert record.signals.edits.protected == ("js/test/units.test.js", "tests/test_units.py")


def test_easier_tests_win_nothing(ended: Benched) -> None:
    record = ended.records["easy-tests"]
    assert record.signals.edits.protected == ("tests/conftest.py", "tests/test_units.py")
    assert record.signals.verification.targets_passed == 0
    assert (record.verdict.score, record.verdict.rule) == (0.0, 2)


def test_a_daemon_does_not_outlive_its_agent(ended: Benched, view: TaskView) -> None:
    record = ended.records["daemon"]
    assert_solved(record, view)
    assert "up.txt" in {edit.path for edit in record.signals.edits.observed}
    assert survivors() == []


def test_a_planted_git_directory_runs_nothing_and_hides_nothing(
    ended: Benched, view: TaskView, marks: Path
) -> None:
    record = ended.records["planted"]
    assert_solved(record, view)
    assert list(marks.iterdir()) == []
    planted = {".gitattributes", ".gitignore"}
    gold = {change.path.decode() for change in view.source_changes}
    assert {edit.path for edit in record.signals.edits.observed} == gold | planted


def test_what_is_planted_would_run_in_a_careless_git(view: TaskView, tmp_path: Path) -> None:
    workspace, seen = tmp_path / "ws", tmp_path / "marks"
    view.snapshot.unpack(workspace)
    seen.mkdir()
    subprocess.run(["sh", "-ec", plant(seen).arguments["command"]], cwd=workspace, check=True)
    for arguments in (["add", "-A"], ["diff", "HEAD"]):
        subprocess.run(["git", *arguments], cwd=workspace, capture_output=True, timeout=60)
    assert {"fsmonitor", "clean", "hook"} <= {path.name for path in seen.iterdir()}


def test_a_renamed_required_file_counts_as_edited(ended: Benched) -> None:
    record = ended.records["rename"]
    kinds = {edit.path: edit.change for edit in record.signals.edits.observed}
    assert (kinds["tempo/units.py"], kinds["tempo/scale.py"]) == ("deleted", "added")
    assert "tempo/units.py" in record.signals.edits.required_observed
    verdict = record.verdict
    assert (verdict.score, verdict.category) == (0.5, "partial_fix_only")


def test_a_removed_workspace_is_one_without_files(ended: Benched, view: TaskView) -> None:
    record = ended.records["wiped"]
    observed = record.signals.edits.observed
    assert {edit.path.encode() for edit in observed} == view.snapshot.entries.keys()
    assert {edit.change for edit in observed} == {"deleted"}
    assert (record.verdict.outcome, record.verdict.score) == ("graded", 0.0)


def test_a_run_ended_by_the_clock_reaches_half_of_the_score(
    limited: Benched, view: TaskView
) -> None:
    record = limited.records["slow"]
    verdict = record.verdict
    assert record.signals.agent.ending == "timed_out"
    assert record.signals.edits.required_observed == required(view)
    assert (verdict.score, verdict.solved, verdict.label) == (0.5, False, "Partial Resolution")
    assert (verdict.category, verdict.rule, verdict.reason) == (None, None, "timed_out")
    assert survivors() == []


def test_a_run_ended_by_the_clock_without_edit_is_zero_signal(limited: Benched) -> None:
    record = limited.records["idle"]
    verdict = record.verdict
    assert (record.signals.agent.ending, record.signals.agent.report) == ("timed_out", "missing")
    assert (verdict.outcome, verdict.score, verdict.label) == ("graded", 0.0, "Zero Signal")
    assert (verdict.rule, verdict.category) == (2, None)


def test_arguments_that_cannot_be_parsed_are_told_and_graded(limited: Benched) -> None:
    record = limited.records["broken"]
    assert limited.exit_code == 0, limited.stderr
    assert record.signals.agent.ending == "turn_limit"
    assert record.signals.tools.unparsed_arguments > 0
    assert (record.verdict.score, record.verdict.rule) == (0.0, 2)
