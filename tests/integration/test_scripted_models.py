"""Scripted models act through the real Nanocoder; the sample task's suites judge them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from nanobench.agent.nanocoder import AgentRequest, agent_environment
from nanobench.agent.scripted.behaviours import TaskView, script_for
from nanobench.agent.scripted.edits import BaseTree, edit_calls, pack
from nanobench.agent.scripted.script import Say, Script
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.environment.toolchain import Toolchain
from nanobench.model import signals
from nanobench.model.plan import AgentSettings, Limits, ModelRef
from nanobench.model.task import Expected
from nanobench.scoring.symptoms import find_symptoms
from nanobench.verify.adapters import adapt
from nanobench.verify.formats import parse
from nanobench.verify.results import SuiteError
from nanobench.workspace.changes import Change, apply_changes
from nanobench.workspace.diff import diff_workspace

pytestmark = pytest.mark.real

VERSION = "1.30.0"
REGULAR, EXECUTABLE, LINK = 0o100644, 0o100755, 0o120000
State = dict[bytes, tuple[int, bytes]]


@dataclass(frozen=True)
class Nanocoder:
    """The installed agent and the server that it talks to."""

    toolchain: Toolchain
    server: ScriptedServer

    def work(self, workspace: Path, script: Script, own: Path) -> tuple[int, str]:
        """Exit code and stdout of a run in a workspace; its own state lies in `own`."""
        key = own.parent.name
        url = self.server.register(key, script)
        provider = {"name": "scripted", "baseUrl": url, "apiKey": "none", "models": ["gold"]}
        model = ModelRef(provider="scripted", model="gold")
        request = AgentRequest("Do it.", model, provider, AgentSettings(), Limits())
        own.mkdir(parents=True)
        for name in ("home", "config", "data", "cache", "state", "tmp"):
            (own / name).mkdir()
        argv = [str(self.toolchain.node), str(self.toolchain.nanocoder(VERSION))]
        argv += ["--provider", "scripted", "--model", "gold", "--mode", "yolo"]
        argv += ["--trust-directory", "--plain", "--json", "run", "Do it."]
        with (own / "out").open("wb") as out, (own / "err").open("wb") as err:
            done = subprocess.run(
                argv,
                cwd=workspace,
                env={
                    "PATH": os.environ["PATH"],
                    "LANG": "C.UTF-8",
                    **agent_environment(request, str(own)),
                },
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=120,
            )
        return done.returncode, (own / "out").read_text()


@pytest.fixture
def nanocoder(toolchain: Toolchain, server: ScriptedServer) -> Nanocoder:
    return Nanocoder(toolchain, server)


BEFORE: State = {
    b"crlf.txt": (REGULAR, b"one\r\ntwo\r\n"),
    b"no-end.txt": (REGULAR, b"no end of line"),
    b"unicode.md": (REGULAR, "ünï\u2028\ufeff \U0001f600 \x1b[0m\n".encode()),
    b"bom.txt": (REGULAR, b"\xef\xbb\xbfwith a mark\n"),
    b"latin1.txt": (REGULAR, b"caf\xe9\n"),
    b"image.bin": (REGULAR, bytes(range(256))),
    b"script.sh": (REGULAR, b"#!/bin/sh\n"),
    b"tool.sh": (EXECUTABLE, b"#!/bin/sh\nexit 0\n"),
    b"old/name.py": (REGULAR, b"x = 1\n"),
    b"gone.txt": (REGULAR, b"bye\n"),
    b"link": (LINK, b"crlf.txt"),
    b"becomes-link": (REGULAR, b"file\n"),
    b"link-to-file": (LINK, b"nowhere"),
    b"dir/inside": (REGULAR, b"1\n"),
    b"file": (REGULAR, b"1\n"),
    b"long.js": (REGULAR, b"x" * 20_000 + b"\n"),
    b"many.txt": (REGULAR, b"line\n" * 3000),
    b"empty": (REGULAR, b""),
    b"same": (REGULAR, b"unchanged\n"),
    b".gitignore": (REGULAR, b"hidden/\n"),
}
AFTER: State = {
    b"crlf.txt": (REGULAR, b"one\r\nthree\r\n"),
    b"no-end.txt": (REGULAR, b"still no end"),
    b"unicode.md": (REGULAR, "ünï\u2028\ufeff \U0001f680 \x1b[1m\t\x7f\n".encode()),
    b"bom.txt": (REGULAR, b"\xef\xbb\xbfstill with a mark\n"),
    b"latin1.txt": (REGULAR, b"caf\xe9 noir\n"),
    b"image.bin": (REGULAR, bytes(range(255, -1, -1))),
    b"script.sh": (EXECUTABLE, b"#!/bin/sh\n"),
    b"tool.sh": (REGULAR, b"#!/bin/sh\nexit 1\n"),
    b"new/deep/name.py": (REGULAR, b"x = 1\n"),
    b"link": (LINK, b"no-end.txt"),
    b"becomes-link": (LINK, b"crlf.txt"),
    b"link-to-file": (REGULAR, b"now a file\n"),
    b"dir": (REGULAR, b"was a directory\n"),
    b"file/inside": (REGULAR, b"was a file\n"),
    b"long.js": (REGULAR, b"y" * 20_000 + b"\n"),
    b"many.txt": (REGULAR, b"other\n" * 3000),
    b"empty": (REGULAR, b"no more\n"),
    b"now-empty": (EXECUTABLE, b""),
    b"large.txt": (REGULAR, b"".join(b"line %d of a large file\n" % n for n in range(12_500))),
    b"large.bin": (REGULAR, bytes(range(256)) * 1200),
    b"same": (REGULAR, b"unchanged\n"),
    b".gitignore": (REGULAR, b"hidden/\n"),
    b"hidden/kept.txt": (REGULAR, b"ignored by git\n"),
    "with space/\u00fcn\u00ef 'quoted' $(x).txt".encode(): (REGULAR, b"odd name\n"),
    b"line\nend": (REGULAR, b"odder name\n"),
    b"-dash": (REGULAR, b"an option?\n"),
    b"latin1-\xe9": (EXECUTABLE, b"not UTF-8\n"),
    b"mkfs.txt": (REGULAR, b"blocked word\n"),
}


def read_state(root: Path) -> State:
    found: State = {}
    for item in root.rglob("*"):
        name = os.fsencode(item.relative_to(root))
        if item.is_symlink():
            found[name] = (LINK, os.fsencode(item.readlink()))
        elif item.is_file() and not name.startswith(b".nanocoder/"):
            mode = EXECUTABLE if item.stat().st_mode & 0o100 else REGULAR
            found[name] = (mode, item.read_bytes())
    return found


def test_edits_of_every_kind_come_out_byte_for_byte(nanocoder: Nanocoder, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    start = [Change(path, mode, content, None) for path, (mode, content) in BEFORE.items()]
    assert apply_changes(workspace, start) == []
    changes = [
        Change(path, *AFTER.get(path, (None, None)), BEFORE.get(path, (None,))[0])
        for path in BEFORE.keys() | AFTER.keys()
        if BEFORE.get(path) != AFTER.get(path)
    ]
    base = BaseTree(frozenset(BEFORE), lambda path: BEFORE[path][1])
    script = Script((*pack(edit_calls(changes, base)), Say("done")))
    code, out = nanocoder.work(workspace, script, tmp_path / "own")
    report = json.loads(out)
    assert [call for call in report["toolCalls"] if call["error"]] == []
    assert (code, report["kind"]) == (0, "success")
    assert read_state(workspace) == AFTER
    used = {call["name"] for call in report["toolCalls"]}
    assert used == {"read_file", "write_file", "file_op", "execute_bash"}


def test_gold_turns_the_base_into_the_golden_state(
    nanocoder: Nanocoder, view: TaskView, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    view.snapshot.unpack(workspace)
    script = script_for("gold", view)
    code, out = nanocoder.work(workspace, script, tmp_path / "own")
    assert code == 0
    diff = diff_workspace(workspace, view.snapshot, tmp_path / "scratch")
    assert diff.changes == view.source_changes
    assert set(view.task.required_files) <= set(json.loads(out)["filesChanged"])
    exchanges = nanocoder.server.exchanges(tmp_path.name)
    assert len(exchanges) == len(script.steps)
    assert all(exchange.status == 200 and exchange.tools for exchange in exchanges)
    assert exchanges[-1].finish_reason == "stop"


Suites = dict[str, dict[str, signals.TestOutcome]]


def run_suites(workspace: Path, view: TaskView, node: Path) -> tuple[Suites, list[SuiteError]]:
    """Every test by suite and id, and the errors that belong to no test."""
    found: Suites = {}
    errors: list[SuiteError] = []
    for suite in view.task.all_suites():
        result = workspace.parent / f"{suite.name}-{workspace.name}.xml"
        command = adapt(suite, str(result)).command
        command = command.replace(".venv/bin/python", sys.executable)
        subprocess.run(
            ["sh", "-c", command],
            cwd=workspace,
            env={"PATH": f"{node.parent}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            timeout=120,
        )
        parsed = parse("junit", result, str(workspace))
        found[suite.name] = {test.id: test for test in parsed.tests}
        errors += parsed.suite_errors
    return found, errors


def passing(suites: Suites, ids: dict[str, tuple[str, ...]]) -> dict[str, int]:
    return {
        name: sum(id in suites[name] and suites[name][id].status == "passed" for id in wanted)
        for name, wanted in ids.items()
    }


def test_expected_is_what_the_base_and_the_golden_state_give(
    nanocoder: Nanocoder, view: TaskView, tmp_path: Path
) -> None:
    states: list[Suites] = []
    tests = [c for c in view.golden.changes if c.path.decode() in view.task.test_files]
    for name, changes in (("base", tests), ("golden", view.golden.changes)):
        view.snapshot.unpack(tmp_path / name)
        assert apply_changes(tmp_path / name, changes) == []
        suites, errors = run_suites(tmp_path / name, view, nanocoder.toolchain.node)
        assert errors == []
        states.append(suites)
    before, after = states
    passed = {
        name: {id: before[name][id].status == "passed" for id in sorted(after[name])}
        for name in after
    }
    assert all(t.status == "passed" for tests in after.values() for t in tests.values())
    assert view.task.expected == Expected(
        fail_to_pass={n: tuple(i for i, ok in t.items() if not ok) for n, t in passed.items()},
        pass_to_pass={n: tuple(i for i, ok in t.items() if ok) for n, t in passed.items()},
    )


@pytest.mark.parametrize(
    ("name", "python", "javascript"),
    [
        ("gold", 3, 5),
        ("noop", 0, 0),
        ("irrelevant-edit", 0, 0),
        ("partial", 0, 5),
        ("cross-language-half", 3, 0),
        ("hallucinated-api", 0, 0),
        ("wrong-layer", 0, 0),
        ("context-overflow", 0, 0),
    ],
)
def test_each_model_passes_the_targets_that_its_behaviour_says(
    nanocoder: Nanocoder,
    view: TaskView,
    tmp_path: Path,
    name: str,
    python: int,
    javascript: int,
) -> None:
    workspace = tmp_path / "workspace"
    view.snapshot.unpack(workspace)
    code, _ = nanocoder.work(workspace, script_for(name, view), tmp_path / "own")
    assert code == (1 if name == "context-overflow" else 0)
    tests = [c for c in view.golden.changes if c.path.decode() in view.task.test_files]
    assert apply_changes(workspace, tests) == []
    suites, errors = run_suites(workspace, view, nanocoder.toolchain.node)
    assert view.task.expected is not None
    counts = passing(suites, view.task.expected.fail_to_pass)
    assert counts == {"pytest": python, "node": javascript}
    if name in ("gold", "partial", "cross-language-half"):
        held = passing(suites, view.task.expected.pass_to_pass)
        assert held == {n: len(ids) for n, ids in view.task.expected.pass_to_pass.items()}
    if name == "hallucinated-api":
        kinds = {error.type for error in errors}
        assert "NameError" in kinds
    if name == "wrong-layer":
        symptoms = find_symptoms("Python", "pytest", tuple(suites["pytest"].values()))
        assert [(s.kind, s.code) for s in symptoms[:1]] == [("interface_mismatch", "TypeError")]
        assert not any(s.kind == "missing_symbol" for s in symptoms)
        node = find_symptoms("JavaScript", "node", tuple(suites["node"].values()))
        assert {symptom.kind for symptom in node} == {"interface_mismatch"}
