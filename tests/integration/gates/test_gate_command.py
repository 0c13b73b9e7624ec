"""The gates as a contributor meets them: each fails for each of its reasons, and says which."""

import json
import random
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from nanobench.errors import GateError, InfrastructureError

pytestmark = pytest.mark.real
Submit = Callable[..., Any]
GATES = ["schema", "clone", "verification", "flakiness", "contamination", "repository_matrix"]


def test_a_good_task_passes_every_gate_in_their_order(submit: Submit) -> None:
    gated = submit().gate("--pull-request", "7")
    assert gated.done.exit_code == 0, gated.done.output
    assert list(gated.statuses) == GATES
    assert set(gated.statuses.values()) == {"passed"}
    assert gated.document["pull_request"] == 7


def test_what_must_pass_is_written_and_then_agrees(submit: Submit) -> None:
    task = submit()
    expected = task.document["expected"]
    assert task.gate("--write", expected=...).done.exit_code == 0
    assert json.loads(task.path.read_text())["expected"] == expected
    assert task.run(str(task.path)).done.exit_code == 0


def test_a_test_that_no_agent_is_given_is_never_expected(submit: Submit) -> None:
    """It came with the golden patch alone, so that no agent could reach 1.0."""
    text = (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { add } = require('../src/add.js');\n"
        "test('hidden', () => { assert.equal(add(2, 2), 4); });\n"
    )
    task = submit(change={"test/hidden.test.js": text})
    expected = task.document["expected"]
    assert task.gate("--write", expected=...).done.exit_code == 0
    assert json.loads(task.path.read_text())["expected"] == expected


def test_a_task_with_patch_and_statement_inside_passes(submit: Submit) -> None:
    task = submit()
    patch = task.repository / "golden.patch"

    ends = [task.document[name] for name in ("base_commit", "merge_commit")]
    with patch.open("wb") as stream:
        subprocess.run(["git", "diff", *ends], cwd=task.repository, stdout=stream, check=True)
    gated = task.gate(
        problem_statement="Adding subtracts.",
        ground_truth_patch=patch.read_text(),
        suites=...,
        test_command="node --test test/*.test.js",
        expected={
            kind: {"tests": found["node"]} for kind, found in task.document["expected"].items()
        },
    )
    assert gated.done.exit_code == 0, gated.done.output


@pytest.mark.parametrize(
    ("changes", "field", "seen"),
    [
        ({"domain": ...}, "domain", "missing"),
        ({"sweets": 1}, "sweets", "no such field"),
        ({"base_commit": "main"}, "base_commit", "match pattern"),
        ({"required_files": ["../x"]}, "required_files[0]", "inside the repository"),
        ({"repo": "acme/other"}, "repo", "in the folder 'acme-add'"),
        (
            {"suites": ..., "test_command": "make check", "expected": ...},
            "test_command",
            "does not show which",
        ),
        (
            {
                "problem_statement": {
                    "from": "issue",
                    "url": "https://x.org/1",
                    "sha256": "a" * 64,
                },
                "curation": {
                    "state": "approved",
                    "approved_by": "bea",
                    "approved_on": "2026-06-01",
                    "checks": {
                        "tier": True,
                        "novelty_and_balance": True,
                        "statement_does_not_leak": True,
                        "required_files_right_and_complete": True,
                    },
                },
            },
            "problem_statement.from",
            "which others can edit",
        ),
    ],
)
def test_the_schema_gate_names_the_field(
    submit: Submit, changes: dict[str, Any], field: str, seen: str
) -> None:
    gated = submit().gate(**changes)
    assert isinstance(gated.done.exception, GateError)
    assert gated.statuses["schema"] == "failed"
    assert any(
        one["field"] == field and seen in one["seen"] and one["remedy"]
        for one in gated.problems("schema")
    ), gated.told("schema")


def test_all_problems_of_a_file_are_told_and_the_other_gates_wait(submit: Submit) -> None:
    gated = submit().gate(domain=..., sweets=1, base_commit="main")
    assert {one["field"] for one in gated.problems("schema")} == {"domain", "sweets", "base_commit"}
    assert {gated.statuses[gate] for gate in GATES[1:]} == {"not_run"}


def test_a_file_that_is_no_json_is_told_with_its_line(submit: Submit) -> None:
    task = submit()
    task.write()
    task.path.write_text('{\n"a": 1,\n}')
    assert "line 3" in task.run(str(task.path)).told("schema")


def test_an_id_of_another_task_is_refused(submit: Submit) -> None:
    task = submit()
    other = task.tasks / "acme-other"
    other.mkdir()
    (other / "add-1.json").write_text("{}")
    assert "acme-other/add-1.json" in task.gate().told("schema")


def test_a_tier_that_the_files_do_not_suggest_is_a_warning_only(submit: Submit) -> None:
    gated = submit().gate(complexity_tier="Tier 3 (System Refactor)")
    assert gated.done.exit_code == 0
    (warning,) = gated.problems("schema")
    assert (warning["severity"], warning["field"]) == ("warning", "complexity_tier")
    assert gated.statuses["schema"] == "passed"


@pytest.mark.parametrize(
    ("changes", "field", "seen"),
    [
        ({"repo_url": "/nowhere/repository"}, "base_commit", "cannot fetch"),
        ({"base_commit": "0" * 40}, "base_commit", "cannot fetch"),
        ({"required_files": ["src/none.js"]}, "required_files[0]", "not in the repository"),
        ({"test_files": ["test/none.test.js"]}, "test_files[0]", "not there in the golden state"),
        ({"merge_commit": "d" * 40}, "merge_commit", "the patch ends at"),
        (
            {
                "attachments": [
                    {"path": "src/add.js", "media_type": "text/plain", "sha256": "a" * 64}
                ]
            },
            "attachments",
            "a" * 64,
        ),
    ],
)
def test_the_clone_gate_names_what_is_not_there(
    submit: Submit, changes: dict[str, Any], field: str, seen: str
) -> None:
    gated = submit().gate(**changes)
    assert isinstance(gated.done.exception, GateError)
    assert gated.statuses["clone"] == "failed"
    assert any(one["field"] == field and seen in one["seen"] for one in gated.problems("clone"))
    assert gated.statuses["verification"] == "not_run"


@pytest.mark.parametrize("which", ["problem_statement", "ground_truth_patch"])
def test_the_clone_gate_names_both_hashes(submit: Submit, which: str) -> None:
    task = submit()
    gated = task.gate(**{which: {**task.document[which], "sha256": "b" * 64}})
    (problem,) = gated.problems("clone")
    assert problem["field"] == which
    assert "b" * 64 in problem["seen"]
    assert task.document[which]["sha256"] in problem["seen"]


def test_a_required_file_that_the_patch_leaves_alone_is_named(submit: Submit) -> None:
    gated = submit(base={"src/add.js": "exports.add = 0;\n", "src/other.js": ""}).gate(
        required_files=["src/add.js", "src/other.js"]
    )
    assert "src/other.js is not changed by the golden patch" in gated.told("clone")


@pytest.mark.parametrize(
    ("test", "seen"),
    [
        (
            "test('idle', () => {});\n",
            "no test fails at base and passes at the golden state; 1 pass at both",
        ),
        ("test('bad', () => { throw new Error('x'); });\n", "golden: suite node: 1 fail"),
        ("process.abort();\n", "golden"),
        (
            "test('web', async () => { await fetch('http://example.org'); });\n",
            "golden: suite node: 1 fail",
        ),
    ],
)
def test_the_verification_gate_tells_why(submit: Submit, test: str, seen: str) -> None:
    text = f"const test = require('node:test');\n{test}"
    gated = submit(change={"test/add.test.js": text}).gate()
    assert gated.statuses["verification"] == "failed"
    assert seen in gated.told("verification"), gated.told("verification")


def test_a_suite_that_gives_no_results_is_told_with_its_last_words_and_is_not_called_stable(
    submit: Submit,
) -> None:
    command = "echo no such module >&2; exit 3; node --test test/*.test.js"
    suite = {"name": "node", "language": "JavaScript", "command": command}
    gated = submit().gate(suites=[suite])
    assert "no such module" in gated.told("verification")
    assert gated.statuses["flakiness"] == "not_run"
    assert "golden: suite node gave no results to compare" in gated.told("flakiness")


def test_expected_that_is_missing_or_made_up_is_told(submit: Submit) -> None:
    task = submit()
    assert task.gate(expected=...).told("verification") == (
        "expected: the file does not say which tests must pass; seen: 1 fails without the patch "
        "(test/add.test.js::adds), 1 pass either way"
    )
    made_up = {"fail_to_pass": {"node": []}, "pass_to_pass": {"node": ["test/add.test.js::adds"]}}
    told = task.gate(expected=made_up).told("verification")
    assert "fail_to_pass.node: 1 tests differ: seen, not stated: test/add.test.js::adds\n" in told
    assert told.endswith("is there; stated, not seen: test/add.test.js::adds")


def test_a_gate_that_could_not_be_run_has_not_passed(submit: Submit) -> None:
    gated = submit().gate(environment={"runtimes": {"node": ">=22"}, "install": ["exit 3"]})
    assert isinstance(gated.done.exception, InfrastructureError)
    assert (gated.statuses["verification"], gated.statuses["flakiness"]) == ("not_run", "not_run")
    assert "exit" in gated.told("verification")


FLAKY = {
    "time": "assert.strictEqual(Number(process.hrtime.bigint() / 1000n) % 2, 0)",
    "random": "assert.ok(Math.random() < 0.5)",
    "order": "const done = []; const one = (n) => new Promise((end) => setTimeout(() => { "
    "done.push(n); end(); }, Math.random() * 8)); await Promise.all([one(1), one(2)]); "
    "assert.deepStrictEqual(done, [1, 2])",
    "port": "const net = require('node:net'); const on = (port) => new Promise((end, fail) => { "
    "const server = net.createServer().on('error', fail).listen(port, '127.0.0.1', () => "
    "server.close(() => end())); }); const taken = net.createServer().listen(4001, '127.0.0.1'); "
    "await new Promise((end) => taken.on('listening', end)); "
    "try { await on(4001 + Math.floor(Math.random() * 2)); } finally { taken.close(); }",
}


class Uncertain(BaseHTTPRequestHandler):
    """A service that answers every other time, by chance."""

    def do_GET(self) -> None:
        self.send_response(random.choice([200, 503]))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""


@pytest.fixture
def service() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Uncertain) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        serving.join()


def test_a_task_that_asks_a_service_is_caught(submit: Submit, service: str) -> None:
    asks = "".join(
        f"test('f{n}', async () => {{ if (!(await fetch('{service}')).ok) throw Error(); }});\n"
        for n in range(16)
    )
    text = f"const test = require('node:test');\n{asks}"
    gated = submit(change={"test/flaky.test.js": text}).gate(
        test_files=["test/add.test.js", "test/flaky.test.js"],
        environment={"runtimes": {"node": ">=22"}, "network": {"verify": "host"}},
    )
    assert gated.statuses["flakiness"] == "failed"
    assert "change from run to run" in gated.told("flakiness")


@pytest.mark.parametrize("kind", sorted(FLAKY))
def test_a_flaky_task_is_caught(submit: Submit, kind: str) -> None:
    """Sixteen tests of even chances: that all do the same three times is one in 4 ** 16."""
    body = "".join(f"test('f{n}', async () => {{ {FLAKY[kind]}; }});\n" for n in range(16))
    text = f"const test = require('node:test');\nconst assert = require('node:assert');\n{body}"
    tests = ["test/add.test.js", "test/flaky.test.js"]
    gated = submit(change={"test/flaky.test.js": text}).gate(test_files=tests)
    assert gated.statuses["flakiness"] == "failed"
    assert "change from run to run" in gated.told("flakiness")


@pytest.mark.parametrize(
    ("date", "merged_at", "field", "seen"),
    [
        ("2026-03-30T09:00:00Z", "2026-03-30T09:00:00Z", "merged_at", "not after the dataset's"),
        ("2026-03-30T09:00:00Z", "2026-05-04T09:00:00Z", "merged_at", "the commit"),
        ("2026-04-01T00:00:00Z", "2026-04-01T10:00:00Z", "merge_commit", "not after the dataset's"),
    ],
)
def test_the_contamination_gate_holds_dates_against_the_cutoff_and_the_commit(
    submit: Submit, date: str, merged_at: str, field: str, seen: str
) -> None:
    gated = submit(date=date).gate(merged_at=merged_at)
    assert gated.statuses["contamination"] == "failed"
    assert any(
        one["field"] == field and seen in one["seen"] for one in gated.problems("contamination")
    ), gated.told("contamination")
    fields = [one["field"] for one in gated.problems("contamination") if seen in one["seen"]]
    assert fields == [field]


def test_a_repository_that_is_not_in_the_registry_is_told(submit: Submit) -> None:
    task = submit()
    (task.tasks / "registry.json").unlink()
    assert "acme/add is not in the registry" in task.gate().told("repository_matrix")


def test_too_few_points_are_told_axis_by_axis(submit: Submit, scored: Callable[..., Any]) -> None:
    task = submit()
    entry = scored("acme/add", repo_url="other", novelty={"points": 0, "reason": ""}, total=12)
    poor = {**entry, "depth": {"points": 3, "mean_files": 3.2}, "total": 11}
    (task.tasks / "registry.json").write_text(json.dumps({"repositories": [poor]}))
    told = task.gate().told("repository_matrix")
    assert "11 of 20 points, 12 are needed: languages 2, depth 3, activity 4, novelty 0" in told
    assert "the registry has other for acme/add" in told


def test_a_repository_that_does_not_answer_fails_no_gate(submit: Submit) -> None:
    gated = submit().gate(repo_url="http://127.0.0.1:9/acme/add")
    assert gated.statuses["clone"] == gated.statuses["contamination"] == "not_run"
    assert "Failed to connect" in gated.told("clone")


def test_without_a_dataset_nothing_is_gated(submit: Submit) -> None:
    task = submit()
    path = task.write()
    (task.tasks / "dataset.json").unlink()
    gated = task.run(str(path))
    assert gated.done.exit_code != 0
    assert "dataset.json" in str(gated.done.exception)


class TestRegistry:
    """registry.json, submitted."""

    @pytest.fixture
    def gate(self, submit: Submit) -> Callable[..., Any]:
        task = submit()

        def run(entries: list[Any], before: list[Any] | None = None) -> Any:
            path = task.tasks / "registry.json"
            path.write_text(json.dumps({"repositories": entries}))
            arguments = [str(path)]
            if before is not None:
                old = task.tasks.parent / "old.json"
                old.write_text(json.dumps({"repositories": before}))
                arguments += ["--registry-before", str(old)]
            return task.run(*arguments)

        return run

    def test_enough_points_in_a_new_domain_pass(
        self, gate: Callable[..., Any], scored: Callable[..., Any]
    ) -> None:
        entries = [scored("a/a", domain="one"), scored("b/b", domain="two")]
        assert gate(entries).done.exit_code == 0

    def test_too_few_points_fail_unless_the_entry_was_there_before(
        self, gate: Callable[..., Any], scored: Callable[..., Any]
    ) -> None:
        poor = scored("a/a", novelty={"points": 0, "reason": ""}, depth={"points": 2,
                      "mean_files": 2.0}, total=10)  # fmt: skip
        assert "a/a has 10 of 20 points" in gate([poor]).told("repository_matrix")
        assert gate([poor], before=[poor]).done.exit_code == 0

    def test_an_earlier_registry_that_is_not_there_is_none_that_was_empty(
        self, submit: Submit, scored: Callable[..., Any]
    ) -> None:
        task = submit()
        path = task.tasks / "registry.json"
        path.write_text(json.dumps({"repositories": [scored("a/a")]}))
        done = task.run(str(path), "--registry-before", str(path.with_name("befor.json"))).done
        assert done.exit_code != 0
        assert "befor.json" in str(done.exception)

    def test_a_domain_that_is_represented_needs_a_reason(
        self, gate: Callable[..., Any], scored: Callable[..., Any]
    ) -> None:
        silent = scored("b/b", novelty={"points": 0, "reason": ""}, total=12)
        told = gate([scored("a/a"), silent], before=[scored("a/a")]).told("repository_matrix")
        assert "'arithmetic' is the domain of a/a already" in told
        argued = {**silent, "novelty": {"points": 0, "reason": "another paradigm"}}
        assert gate([scored("a/a"), argued], before=[scored("a/a")]).done.exit_code == 0

    def test_a_registry_that_is_none_is_told_by_field(
        self, gate: Callable[..., Any], scored: Callable[..., Any]
    ) -> None:
        gated = gate([scored("a/a", total=19)])
        assert gated.statuses == {"schema": "failed", "repository_matrix": "not_run"}
        assert "'total' is 19, the axes give 16" in gated.told("schema")
