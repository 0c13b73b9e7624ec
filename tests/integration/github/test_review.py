"""`nanobench publish review` in a job of every event, against the fake."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.report.aggregate import build_report

LIMIT = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
MARK = "<!-- nanobench:review results -->"
SHA = "c" * 40


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """What `nanobench report` left of two planned cells that never ran."""
    cells = tuple(
        Cell(model=ModelRef.parse("acme/one"), task_id="t1", mode="hinted", run=run)
        for run in (1, 2)
    )
    task = PlanTask(task_id="t1", origin="dataset", sha256="a" * 64, tier=2)
    directory = tmp_path / "report"
    directory.mkdir()
    text = build_report(Plan(tasks=(task,), cells=cells), []).to_json()
    (directory / "report.json").write_text(text)
    return directory


@pytest.fixture
def on_pull_request(job: Any, hub: Any, events: Any) -> Any:
    """A job of pull request 5, which is of this repository."""
    hub.add_pull(5, SHA)
    job.event("pull_request", events["pull_request"]())
    return job


def test_a_pull_request_gets_one_review_and_a_second_run_updates_it(
    on_pull_request: Any, hub: Any, report: Path
) -> None:
    first = on_pull_request.run("publish", "review", report, "--report", "https://e.org/7")
    assert (first.code, first.outputs["review"]) == (0, "created")
    (posted,) = hub.state.reviews[5]
    assert posted["body"].startswith(f"{MARK}\n## NanoBench: no run has a score")
    assert "[full report](https://e.org/7)" in posted["body"]
    assert f"commit <code>{SHA[:12]}</code>" in posted["body"]
    second = on_pull_request.run("publish", "review", report, "--report", "https://e.org/8")
    assert (second.outputs["review"], second.outputs["review-url"]) == (
        "updated",
        posted["html_url"],
    )
    (posted,) = hub.state.reviews[5]
    assert "https://e.org/8" in posted["body"]


def test_the_step_hands_on_what_a_workflow_decides_by(on_pull_request: Any, report: Path) -> None:
    done = on_pull_request.run("publish", "review", report)
    assert done.outputs["verdict"] == "no baseline"
    assert (done.outputs["missing"], done.outputs["infrastructure"]) == ("2", "0")
    assert json.loads(done.outputs["scores"]) == {"acme/one hinted": None}
    assert "**2 missing**, of 2 planned runs" in done.summary
    error = "::error title=t1 has missing runs::acme/one hinted: 2 runs left no record"
    assert error in done.out.splitlines()


def test_an_annotation_points_to_the_tasks_file_where_the_checkout_has_it(
    on_pull_request: Any, report: Path, tmp_path: Path
) -> None:
    (tmp_path / "tasks/acme").mkdir(parents=True)
    (tmp_path / "tasks/acme/t1.json").write_text("{}")
    done = on_pull_request.run("publish", "review", report)
    assert "::error file=tasks/acme/t1.json,title=t1 has missing runs::" in done.out


def test_a_pull_request_from_a_fork_gets_a_summary_and_github_is_not_asked(
    job: Any, hub: Any, events: Any, report: Path
) -> None:
    job.event("pull_request", events["pull_request"](fork=True))
    done = job.run("publish", "review", report)
    assert (done.code, done.outputs["review"]) == (0, "skipped")
    assert "fork" in done.out
    assert "NanoBench" in done.summary
    assert hub.log == []


@pytest.mark.parametrize("event", ["push", "release", "schedule", "workflow_dispatch"])
def test_an_event_without_a_pull_request_gets_a_summary(
    job: Any, hub: Any, report: Path, event: str
) -> None:
    job.event(event, {"ref": "refs/heads/main"})
    done = job.run("publish", "review", report)
    assert (done.code, done.outputs["review"]) == (0, "skipped")
    assert "NanoBench" in done.summary
    assert hub.log == []


def test_a_dispatch_can_name_a_pull_request(job: Any, hub: Any, report: Path) -> None:
    hub.add_pull(8, SHA)
    job.event("workflow_dispatch", {"inputs": {}})
    job.run("publish", "review", report, "--pull-request", 8)
    assert len(hub.state.reviews[8]) == 1


def test_our_review_is_found_on_the_third_page_and_no_other_is_touched(
    on_pull_request: Any, hub: Any, report: Path
) -> None:
    for number in range(240):
        hub.add_review(5, f"thoughts {number}", login="someone")
    hub.add_review(5, f"{MARK}\ncopied", login="someone")
    hub.add_review(5, "<!-- nanobench:review gates -->\nanother of ours")
    ours = hub.add_review(5, f"{MARK}\nold")
    before = [dict(review) for review in hub.state.reviews[5] if review is not ours]
    assert on_pull_request.run("publish", "review", report).outputs["review"] == "updated"
    assert "## NanoBench" in ours["body"]
    assert [review for review in hub.state.reviews[5] if review is not ours] == before


def test_a_token_of_a_person_looks_for_that_persons_review(
    on_pull_request: Any, hub: Any, events: Any, report: Path
) -> None:
    from github_routes import Token

    hub.state.tokens["pat"] = Token("maintainer", user=True)
    hub.add_review(5, f"{MARK}\nby actions")
    ours = hub.add_review(5, f"{MARK}\nold", login="maintainer")
    on_pull_request.event("pull_request", events["pull_request"](), token="pat")
    assert on_pull_request.run("publish", "review", report).outputs["review"] == "updated"
    assert "## NanoBench" in ours["body"]
    hub.state.tokens["app"] = Token("our-app[bot]")
    on_pull_request.event("pull_request", events["pull_request"](), token="app")
    for expected in ("created", "updated"):
        done = on_pull_request.run("publish", "review", report, "--author", "our-app[bot]")
        assert done.outputs["review"] == expected


def test_two_jobs_that_post_at_once_leave_one_review_that_stands(
    on_pull_request: Any, hub: Any, report: Path
) -> None:
    def rival(number: int) -> None:
        hub.state.before_create = None
        hub.add_review(number, f"{MARK}\nthe rival's")

    hub.state.before_create = rival
    done = on_pull_request.run("publish", "review", report)
    first, second = hub.state.reviews[5]
    assert done.outputs["review-url"] == first["html_url"]
    assert "## NanoBench" in first["body"]
    assert second["body"] == f"This result now stands in [another review]({first['html_url']})."
    on_pull_request.run("publish", "review", report)
    assert len(hub.state.reviews[5]) == 2


def test_an_answer_that_is_lost_after_the_review_was_made_makes_no_second_one(
    on_pull_request: Any, hub: Any, report: Path, pauses: list[float]
) -> None:
    from github_fake import Fault

    hub.state.faults = [Fault("POST", "reviews$", 502, after=True)]
    assert on_pull_request.run("publish", "review", report).outputs["review"] == "updated"
    assert len(hub.state.reviews[5]) == 1
    assert pauses == [1.0]


@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_is_waited_out(
    on_pull_request: Any, hub: Any, report: Path, pauses: list[float], status: int
) -> None:
    from github_fake import Fault

    hub.state.faults = [Fault("POST", "reviews$", status, LIMIT, {"Retry-After": "17"}, times=2)]
    assert on_pull_request.run("publish", "review", report).outputs["review"] == "created"
    assert pauses == [17.0, 17.0]
    assert len(hub.state.reviews[5]) == 1


@pytest.mark.parametrize(
    ("method", "status", "message", "tries"),
    [
        ("POST", 403, "Resource not accessible by integration", 1),
        ("GET", 404, "Not Found", 1),
        ("POST", 422, "Validation Failed", 1),
        ("POST", 503, "unavailable", 5),
        ("POST", 403, LIMIT, 5),
    ],
)
def test_what_github_refuses_is_told_and_fails_nothing(
    on_pull_request: Any, hub: Any, report: Path, method: str, status: int, message: str, tries: int
) -> None:
    from github_fake import Fault

    hub.state.faults = [Fault(method, "(reviews|pulls/5)$", status, message, times=99)]
    done = on_pull_request.run("publish", "review", report)
    assert (done.code, done.outputs["review"]) == (0, "failed")
    assert message[:20] in done.err
    assert "::warning title=The result could not be posted::" in done.out
    assert "NanoBench" in done.summary
    refused = [e for e in hub.requests(method, "pulls") if e.status == status]
    assert len(refused) == tries


def test_a_read_only_token_is_told_which_permission_is_missing(
    on_pull_request: Any, hub: Any, events: Any, report: Path
) -> None:
    from github_routes import Token

    hub.state.tokens["reads"] = Token(writes=False)
    on_pull_request.event("pull_request", events["pull_request"](), token="reads")
    done = on_pull_request.run("publish", "review", report)
    assert (done.code, done.outputs["review"]) == (0, "failed")
    assert "does not permit" in done.err
    assert "permission" in done.err
    assert len(hub.requests("POST", "reviews")) == 1


def test_without_a_token_the_summary_is_all(
    on_pull_request: Any, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    done = on_pull_request.run("publish", "review", report)
    assert (done.code, done.outputs["review"]) == (0, "failed")
    assert "GITHUB_TOKEN" in done.err
    assert "NanoBench" in done.summary


def test_a_fork_is_commented_on_by_the_second_stage_at_the_head_that_ran(
    job: Any, hub: Any, events: Any, report: Path
) -> None:
    hub.add_pull(5, SHA, fork=True)
    hub.add_pull(6, "e" * 40, fork=True, branch="other")
    job.event("workflow_run", events["workflow_run"](3))
    assert job.run("publish", "review", report).outputs["review"] == "created"
    assert list(hub.state.reviews) == [5]
    job.event("workflow_run", events["workflow_run"](3, sha="f" * 40))
    done = job.run("publish", "review", report)
    assert done.outputs["review"] == "skipped"
    assert "moved on" in done.out


@pytest.mark.parametrize(
    "branch", ['x";$(touch /tmp/nb-ran)#&state=closed', "a b\n::error::x", "../../pulls/1", "é%2F?"]
)
def test_a_hostile_branch_name_is_one_value_of_one_query(
    job: Any, hub: Any, events: Any, report: Path, branch: str
) -> None:
    hub.add_pull(5, SHA, fork=True, branch=branch)
    job.event("workflow_run", events["workflow_run"](3, branch=branch))
    done = job.run("publish", "review", report)
    assert done.outputs["review"] == "created"
    known = re.compile(r"/user|/repos/nano/bench/pulls(/5/reviews)?")
    assert all(known.fullmatch(exchange.path) for exchange in hub.log)
    assert branch not in done.out + done.summary


def test_the_second_stage_of_a_push_comments_on_nothing(
    job: Any, hub: Any, events: Any, report: Path
) -> None:
    hub.add_pull(5, SHA, fork=True)
    payload = events["workflow_run"](3)
    payload["workflow_run"]["event"] = "push"
    job.event("workflow_run", payload)
    assert job.run("publish", "review", report).outputs["review"] == "skipped"
    assert hub.log == []


@pytest.mark.parametrize("damage", ["absent", "link", "other", "not json"])
def test_a_report_that_is_none_is_a_clear_error(
    job: Any, hub: Any, report: Path, tmp_path: Path, damage: str
) -> None:
    file = report / "report.json"
    content = file.read_text()
    file.unlink()
    if damage == "link":
        (tmp_path / "real.json").write_text(content)
        file.symlink_to(tmp_path / "real.json")
    elif damage != "absent":
        file.write_text("{}" if damage == "other" else "no")
    done = job.run("publish", "review", report)
    assert done.code == 3
    assert "report.json" in done.err
    assert hub.log == []


def test_on_a_laptop_the_comment_is_written_to_a_file(
    job: Any, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EVENT_NAME", "EVENT_PATH", "TOKEN", "STEP_SUMMARY", "OUTPUT"):
        monkeypatch.delenv(f"GITHUB_{name}")
    monkeypatch.delenv("GITHUB_ACTIONS")
    done = job.run("publish", "review", report, "--out", tmp_path / "new/comment.md")
    assert done.code == 0
    assert "::" not in done.out
    assert (tmp_path / "new/comment.md").read_text().startswith(MARK)


def test_a_full_summary_keeps_what_stands_and_sheds_the_rest(
    on_pull_request: Any, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nanobench.github import publishing

    asked: Callable[..., int] = lambda environ: 900  # noqa: E731
    monkeypatch.setattr(publishing, "summary_room", asked)
    done = on_pull_request.run("publish", "review", report)
    assert len(done.summary.encode()) < 1500
    assert done.summary.startswith("## NanoBench")
    assert "Left out for length" in done.summary


@pytest.mark.parametrize("key", ["", "--> x", "UPPER", "x" * 65])
def test_a_key_cannot_end_the_marker(on_pull_request: Any, report: Path, key: str) -> None:
    done = on_pull_request.run("publish", "review", report, "--key", key)
    assert done.code == 2
    assert "--key" in done.err
