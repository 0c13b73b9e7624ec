"""`nanobench publish gate` and `finding`: the trusted stage, and what it must not believe."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

SHA = "c" * 40
GATE = {
    "tasks": [
        {
            "task": "acme-1",
            "gates": [
                {
                    "gate": "clone",
                    "status": "failed",
                    "problems": [
                        {
                            "gate": "clone",
                            "file": "tasks/acme/acme-1.json",
                            "field": "base_commit",
                            "seen": "the commit is not there | <script>alert(1)</script> @all",
                            "remedy": "push it, or name another one",
                        }
                    ],
                }
            ],
        }
    ]
}


def archive(files: dict[str, str], mode: int = 0o100644) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            opened.writestr(entry, content)
    return made.getvalue()


@pytest.fixture
def second_stage(job: Any, hub: Any, events: Any) -> Any:
    """`second_stage({...} or bytes)`: publish what run 3 of the fork's pull request 5 left."""
    hub.add_pull(5, SHA, fork=True)
    hub.add_pull(6, "e" * 40, fork=True, branch="other")
    hub.add_pull(7, "f" * 40)
    job.event("workflow_run", events["workflow_run"](3))

    def publish(left: Any) -> Any:
        content = left if isinstance(left, bytes) else archive({"gate.json": json.dumps(left)})
        hub.add_artifact("gate", content, {"id": 3, "event": "pull_request"})
        return job.run("publish", "gate", "--artifact", "gate")

    return publish


def test_the_pull_request_that_ran_is_told_which_gate_failed_and_how_to_fix_it(
    second_stage: Any, hub: Any
) -> None:
    done = second_stage({**GATE, "pull_request": 5})
    assert done.code == 0
    (posted,) = hub.state.reviews[5]
    assert list(hub.state.reviews) == [5]
    body = posted["body"]
    assert "<code>tasks/acme/acme-1.json</code>: <code>base_commit</code>" in body
    assert "to do: <code>push it, or name another one</code>" in body
    assert "<script>" not in body
    assert body.partition("\n")[2] in done.summary


def test_a_result_without_a_number_goes_to_the_only_pull_request_with_that_head(
    second_stage: Any, hub: Any
) -> None:
    second_stage(GATE)
    assert list(hub.state.reviews) == [5]


@pytest.mark.parametrize("number", [6, 7, 999])
def test_a_foreign_number_is_refused_and_nothing_is_posted(
    second_stage: Any, hub: Any, number: int
) -> None:
    done = second_stage({**GATE, "pull_request": number})
    assert done.code == 0
    assert f"says pull request {number}" in done.err
    assert hub.state.reviews == {}


def test_of_two_pull_requests_with_one_head_the_number_chooses(second_stage: Any, hub: Any) -> None:
    hub.add_pull(8, SHA, fork=True)
    assert "says pull request None" in second_stage(GATE).err
    assert hub.state.reviews == {}
    hub.state.artifacts.clear()
    second_stage({**GATE, "pull_request": 8})
    assert list(hub.state.reviews) == [8]


def test_a_number_is_believed_in_no_event_without_a_pull_request(
    job: Any, hub: Any, tmp_path: Path
) -> None:
    hub.add_pull(7, SHA)
    (tmp_path / "gate.json").write_text(json.dumps({**GATE, "pull_request": 7}))
    done = job.run("publish", "gate", tmp_path)
    assert "no pull request" in done.out
    assert "acme-1" in done.summary
    assert hub.log == []


@pytest.mark.parametrize(
    "left",
    [
        archive({"../gate.json": "{}"}),
        archive({"gate.json": "/etc/passwd"}, 0o120777),
        archive({"gate.json": "x" * 3_000_000}),
        archive({"gate.json": " " * 17_000_000}),
        archive({"other.json": "{}"}),
        archive({"gate.json": "[]"}),
        archive({"gate.json": '{"tasks": [], "schema_version": "7"}'}),
        archive({"gate.json": '{"tasks": [], "a\\n::add-mask::e\\n::stop-commands::x": 1}'}),
        archive({"x\n::add-mask::e\n": ""}),
        archive({"gate.json": '{"tasks": [{"task": "t", "gates": [{"gate": "mine"}]}]}'}),
        b"no archive",
    ],
)
def test_a_hostile_artifact_is_refused_and_nothing_is_posted(
    second_stage: Any, hub: Any, left: bytes
) -> None:
    done = second_stage(left)
    assert done.code == 3
    assert done.summary == ""
    assert hub.state.reviews == {}
    assert hub.requests("POST", "") == []


def test_an_artifact_with_another_digest_than_github_says_is_refused(
    job: Any, hub: Any, events: Any
) -> None:
    content = archive({"gate.json": json.dumps(GATE)})
    hub.add_artifact("gate", content, {"id": 3}, digest=f"sha256:{'0' * 64}")
    job.event("workflow_run", events["workflow_run"](3))
    done = job.run("publish", "gate", "--artifact", "gate")
    assert done.code == 3
    assert "GitHub says sha256:000" in done.err


def test_the_store_of_artifacts_does_not_see_the_token(second_stage: Any, hub: Any) -> None:
    second_stage(GATE)
    assert hub.seen_by_store
    assert all("Authorization" not in headers for headers in hub.seen_by_store)


def test_a_run_without_the_artifact_is_a_clear_error(job: Any, hub: Any, events: Any) -> None:
    hub.add_artifact("other", b"", {"id": 3})
    job.event("workflow_run", events["workflow_run"](3))
    done = job.run("publish", "gate", "--artifact", "gate")
    assert done.code == 3
    assert "left no artifact 'gate'" in done.err


def test_a_directory_or_an_artifact_must_be_named(job: Any, tmp_path: Path) -> None:
    assert job.run("publish", "gate").code == 2
    assert job.run("publish", "gate", tmp_path, "--artifact", "x").code == 2
    assert job.run("publish", "gate", "--artifact", "x").code == 2


@pytest.fixture
def find(job: Any, tmp_path: Path) -> Any:
    """`find(text)`: publish a finding of the health of the dataset."""

    def publish(text: str) -> Any:
        (tmp_path / "finding.txt").write_text(text)
        return job.run(
            "publish", "finding", tmp_path / "finding.txt", "--key", "health", "--title", "Health"
        )

    return publish


def test_a_finding_opens_one_issue_and_keeps_it_up_to_date(find: Any, hub: Any) -> None:
    assert "issue created" in find("acme-1 is flaky").out
    assert "issue unchanged" in find("acme-1 is flaky").out
    assert "issue updated" in find("acme-1 and acme-2 are flaky ```` @all").out
    (issue,) = hub.state.issues
    assert "`````text\nacme-1 and acme-2 are flaky ```` @all\n`````" in issue["body"]
    assert issue["labels"] == ["nanobench"]


def test_an_issue_that_a_person_closed_is_opened_again_only_for_news(find: Any, hub: Any) -> None:
    find("acme-1 is flaky")
    hub.state.issues[0]["state"] = "closed"
    assert "unchanged" in find("acme-1 is flaky").out
    assert hub.state.issues[0]["state"] == "closed"
    assert "updated" in find("acme-2 is flaky").out
    assert hub.state.issues[0]["state"] == "open"


def test_an_issue_of_someone_else_with_our_marker_is_left_alone(find: Any, hub: Any) -> None:
    find("first")
    hub.state.issues[0]["login"] = "someone"
    before = dict(hub.state.issues[0])
    assert "created" in find("second").out
    assert hub.state.issues[0] == before


def test_nothing_found_opens_nothing(find: Any, job: Any, hub: Any, tmp_path: Path) -> None:
    assert "no issue" in find(" \n").out
    (tmp_path / "gate.json").write_text('{"tasks": []}')
    done = job.run("publish", "finding", tmp_path / "gate.json", "--key", "a", "--title", "T")
    assert "no issue" in done.out
    assert hub.log == []


def test_gates_that_failed_become_a_finding(job: Any, hub: Any, tmp_path: Path) -> None:
    (tmp_path / "gate.json").write_text(json.dumps(GATE))
    job.run("publish", "finding", tmp_path / "gate.json", "--key", "a", "--title", "T\nx")
    (issue,) = hub.state.issues
    assert issue["title"] == "T x"
    assert "base_commit" in issue["body"]


def test_a_finding_that_cannot_be_posted_fails_its_job(find: Any, hub: Any) -> None:
    from github_fake import Fault

    hub.state.faults = [Fault("POST", "issues", 403, "Resource not accessible by integration")]
    assert find("x").code == 4


def test_keys_are_masked_in_actions_only(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOCODER_PROVIDERS", '[{"name": "a", "apiKey": "s3cret"}]')
    assert job.run("publish", "masks").out == "::add-mask::s3cret\n"
    monkeypatch.setenv("NANOCODER_PROVIDERS", '[{"name": "a", "apiKey": "s3cret"')
    done = job.run("publish", "masks")
    assert done.code == 3
    assert "s3cret" not in done.out + done.err
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert job.run("publish", "masks").code == 2
