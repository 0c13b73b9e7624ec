"""The audit round trip: export, two reviewers, score, status, and what reports make of it."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from nanobench.cli.audit import audit
from nanobench.cli.report import report
from nanobench.errors import InvalidInputError, StateError, UsageError
from nanobench.model.audit import AuditKey

OTHER = {
    "hallucinated_api": "wrong_abstraction_layer",
    "wrong_abstraction_layer": "hallucinated_api",
}


def run(command, *arguments):
    return CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=True)


@pytest.fixture
def results(tmp_path, write_run):
    root = tmp_path / "results"
    for number in range(1, 41):
        category = "hallucinated_api" if number % 3 else "wrong_abstraction_layer"
        language = "Go" if number % 4 == 0 else "Python"
        write_run(root, f"acme/zeta t{number} 1", category, language=language)
    return root


@pytest.fixture
def tasks(tmp_path):
    directory = tmp_path / "tasks"
    directory.mkdir()
    (directory / "dataset.json").write_text("{}")
    return directory


@pytest.fixture
def exported(tmp_path, results):
    def export(seed="s"):
        out, key = tmp_path / f"bundle-{seed}", tmp_path / f"key-{seed}.json"
        done = run(
            audit, "export", results, "--out", out, "--key", key, "--size", 40, "--seed", seed
        )
        assert done.exit_code == 0, done.exception
        return out, key

    return export


def answer(bundle, key, reviewer, wrong):
    """A sheet of `reviewer`, who does not agree on the first `wrong` items."""
    truth = AuditKey.from_json(key.read_bytes())
    stream = io.StringIO()
    rows = csv.writer(stream)
    rows.writerow(("bundle", "item", "reviewer", "label", "note"))
    for place, one in enumerate(truth.entries):
        label = OTHER[one.category] if place < wrong else one.category
        rows.writerow((truth.bundle, one.item, reviewer, label, ""))
    path = bundle.parent / f"{bundle.name}-{reviewer}.csv"
    path.write_text(stream.getvalue())
    return path


def scored(exported, tasks, seed, wrong):
    """The score of an audit by two reviewers, recorded."""
    bundle, key = exported(seed)
    sheets = [answer(bundle, key, name, wrong) for name in ("ann", "bob")]
    done = run(audit, "score", key, *sheets, "--record", "--tasks-dir", tasks, "--json")
    assert done.exit_code == 0, done.exception
    return json.loads(done.output)


def reported(results, tasks, out):
    done = run(report, results, "--out", out, "--tasks-dir", tasks)
    assert done.exit_code == 0, done.exception
    return json.loads((out / "report.json").read_text())


def figures(value, name=""):
    """Every number but the counts of categories, with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("taxonomy", "failure_modes"):
                yield from figures(inner, f"{name}.{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from figures(inner, f"{name}.{place}")
    elif isinstance(value, int | float):
        yield name, value


def modes(document):
    return {row["failure_mode"] for row in document["cells"]}


def test_two_reviewers_who_agree_on_95_of_100_leave_the_categories_apart(
    tmp_path, exported, tasks, results
):
    score = scored(exported, tasks, "s", wrong=2)
    assert score["overall"]["rate"] == pytest.approx(0.95)
    assert score["overall"]["low"] < 0.95 < score["overall"]["high"]
    assert score["between_reviewers"] == {"ann, bob": 1}
    assert 0.8 < score["reviewers"][0]["kappa"] < 1
    assert set(score["languages"]) == {"Go", "Python"}
    assert sum(sum(row.values()) for row in score["reviewers"][0]["confusion"].values()) == 40
    assert modes(reported(results, tasks, tmp_path / "out")) == set(OTHER)


def test_at_85_of_100_reports_show_one_category_until_it_recovers(
    tmp_path, exported, tasks, results
):
    assert scored(exported, tasks, "s", wrong=6)["overall"]["rate"] == pytest.approx(0.85)
    assert modes(reported(results, tasks, tmp_path / "merged")) == {"implementation_error"}
    told = run(audit, "status", "--tasks-dir", tasks).output
    assert "85.0%" in told
    assert "implementation_error" in told
    scored(exported, tasks, "later", wrong=2)
    assert modes(reported(results, tasks, tmp_path / "again")) == set(OTHER)


def test_no_audit_changes_a_score_or_a_record(tmp_path, exported, tasks, results):
    records = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    before = reported(results, tasks, tmp_path / "before")
    scored(exported, tasks, "s", wrong=40)
    after = reported(results, tasks, tmp_path / "after")
    assert modes(before) != modes(after)
    assert list(figures(before)) == list(figures(after))
    assert records == {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}


def test_an_audit_of_other_rules_does_not_count(tmp_path, exported, tasks, results):
    scored(exported, tasks, "s", wrong=40)
    status = json.loads((tasks / "audit.json").read_text())
    status["rounds"][0]["score"]["ruleset"] = "1.0"
    (tasks / "audit.json").write_text(json.dumps(status))
    assert modes(reported(results, tasks, tmp_path / "out")) == set(OTHER)


def test_a_broken_status_file_is_named_before_it_decides_anything(tmp_path, tasks, results):
    (tasks / "audit.json").write_text("{")
    done = run(report, results, "--out", tmp_path / "out", "--tasks-dir", tasks)
    assert isinstance(done.exception, InvalidInputError)
    assert "audit.json" in done.exception.where


def test_an_audit_is_recorded_once_and_whole(exported, tasks):
    bundle, key = exported()
    sheet = answer(bundle, key, "ann", 0)
    text = sheet.read_text()
    sheet.write_text(text.replace("hallucinated_api", "", 1))
    done = run(audit, "score", key, sheet, "--record", "--tasks-dir", tasks)
    assert isinstance(done.exception, InvalidInputError)
    assert "missing answers" in done.exception.what
    assert "not answered by 'ann'" in done.output
    sheet.write_text(text)
    assert run(audit, "score", key, sheet, "--record", "--tasks-dir", tasks).exit_code == 0
    done = run(audit, "score", key, sheet, "--record", "--tasks-dir", tasks)
    assert isinstance(done.exception, InvalidInputError)
    assert "recorded already" in done.exception.what


def test_the_key_never_goes_into_the_bundle(tmp_path, results):
    out = tmp_path / "bundle"
    done = run(audit, "export", results, "--out", out, "--key", out / "key.json", "--seed", "s")
    assert isinstance(done.exception, UsageError)
    assert not out.exists()


def test_the_key_of_another_audit_is_not_written_over(tmp_path, exported, results):
    _, key = exported()
    before = key.read_bytes()
    done = run(audit, "export", results, "--out", tmp_path / "b", "--key", key, "--seed", "t")
    assert isinstance(done.exception, UsageError)
    assert key.read_bytes() == before
    assert not (tmp_path / "b").exists()


def test_a_bundle_is_never_without_its_key(tmp_path, results):
    out = tmp_path / "bundle"
    done = run(audit, "export", results, "--out", out, "--key", tmp_path / "no/k", "--seed", "s")
    assert isinstance(done.exception, StateError)
    assert not out.exists()


def test_three_reviewers_who_reach_90_of_100_together_are_not_rounded_below(
    tmp_path, exported, tasks
):
    bundle, key = exported()
    # Of 40 items 12 are not agreed on by one reviewer of three: 36 of 40.
    sheets = [answer(bundle, key, f"r{n}", wrong=12 if n == 0 else 0) for n in range(3)]
    done = run(audit, "score", key, *sheets, "--record", "--tasks-dir", tasks, "--json")
    assert json.loads(done.output)["overall"]["rate"] == 0.9
    assert "reported apart" in run(audit, "status", "--tasks-dir", tasks).output


def test_nothing_to_audit_is_said(tmp_path, write_run):
    write_run(tmp_path / "results", "acme/zeta t 1", "partial_fix_only")
    done = run(
        audit, "export", tmp_path / "results", "--out", tmp_path / "b", "--key", tmp_path / "k",
        "--seed", "s",
    )  # fmt: skip
    assert isinstance(done.exception, InvalidInputError)
    assert "no verdict of Level 4" in done.exception.what


@pytest.mark.parametrize("content", ["", "{}", "[]", None])
def test_what_is_no_key_is_refused(tmp_path, content):
    key = tmp_path / "key.json"
    if content is not None:
        key.write_text(content)
    done = run(audit, "score", key, tmp_path / "answers.csv")
    assert isinstance(done.exception, InvalidInputError)
    assert "key" in done.exception.what
