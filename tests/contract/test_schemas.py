"""The schema files of the repository are what the models say, and are real schemas."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from nanobench.cli import schema as command
from nanobench.errors import GateError, InvalidInputError
from nanobench.model.plan import Cell, ModelRef, Plan, PlanTask
from nanobench.model.verdict import Verdict

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
NAMES = {f"{name}.schema.json" for name in command.DOCUMENTS}


def run(*arguments):
    return CliRunner().invoke(command.schema, arguments, catch_exceptions=True)


@pytest.fixture
def exported(tmp_path):
    directory = tmp_path / "made" / "schemas"
    result = run("export", "--out", str(directory))
    assert result.exit_code == 0, result.output
    return directory


def test_the_repositorys_schemas_are_up_to_date():
    result = run("check")
    assert result.exit_code == 0, result.exception


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_is_a_schema_of_the_2020_dialect(name):
    content = json.loads((SCHEMAS / name).read_text())
    assert content["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert content["title"]
    jsonschema.Draft202012Validator.check_schema(content)


def test_export_writes_every_document_and_check_accepts_it(exported):
    assert {path.name for path in exported.iterdir()} == NAMES
    assert run("check", "--dir", str(exported)).exit_code == 0


def test_export_gives_the_same_bytes_as_the_repository(exported):
    for path in exported.iterdir():
        assert path.read_bytes() == (SCHEMAS / path.name).read_bytes()


@pytest.mark.parametrize("damage", ["changed", "missing", "not text", "line ends"])
def test_check_names_the_file_that_drifted(exported, damage):
    path = exported / "task.schema.json"
    if damage == "changed":
        path.write_text(path.read_text().replace("base_commit", "commit"))
    elif damage == "missing":
        path.unlink()
    elif damage == "line ends":
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    else:
        path.write_bytes(b"\xff\xfe")
    failure = run("check", "--dir", str(exported)).exception
    assert isinstance(failure, GateError)
    assert failure.exit_code == 1
    assert "task.schema.json" in failure.what
    assert "plan.schema.json" not in failure.what


def test_outside_a_checkout_the_commands_say_so(tmp_path, monkeypatch):
    import nanobench

    monkeypatch.setattr(nanobench, "__file__", str(tmp_path / "nanobench" / "__init__.py"))
    for arguments in (["export"], ["check"]):
        failure = run(*arguments).exception
        assert isinstance(failure, InvalidInputError)
        assert failure.exit_code == 3
        assert "checkout" in failure.what


def accepted(name, document):
    content = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return jsonschema.Draft202012Validator(content).is_valid(document)


def test_a_plan_keeps_to_its_schema():
    cell = Cell(model=ModelRef.parse("p/m"), task_id="t", mode="hinted", run=1)
    task = PlanTask(task_id="t", origin="sample", sha256="0" * 64)
    plan = json.loads(Plan(tasks=(task,), cells=(cell,)).to_json())
    assert accepted("plan", plan)
    assert not accepted("plan", {**plan, "unknown": 1})
    assert not accepted("plan", {"tasks": []})


def test_a_verdict_keeps_to_its_schema():
    verdict = Verdict(ruleset="1.1", outcome="graded", score=0.0, label="Zero Signal", solved=False)
    document = json.loads(verdict.to_json())
    assert accepted("verdict", document)
    assert not accepted("verdict", {**document, "category": "bad_luck"})


def test_a_task_is_described_by_the_names_of_its_file():
    content = json.loads((SCHEMAS / "task.schema.json").read_text())
    assert "from" in content["$defs"]["StatementSource"]["properties"]
    assert {"task_id", "base_commit", "required_files"} <= set(content["required"])
