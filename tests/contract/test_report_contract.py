"""The pinned contract against real reports, and its strictness against every mutation."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from nanobench.agent import contract as contracts
from nanobench.agent.contract import check_report, contract_schema, known_versions
from nanobench.agent.report_file import read_report
from nanobench.cli.contract import contract
from nanobench.errors import ContractError, InvalidInputError
from nanobench.model.plan import AgentSettings

PAYLOADS = Path(contracts.__file__).parents[2] / "schemas" / "nanocoder" / "payloads"
REAL = sorted(PAYLOADS.glob("*/*.json"))
ANY_TYPE: tuple[Any, ...] = (None, 1.5, "text", ["text"], {"a": 1}, True)

Path_ = tuple[str | int, ...]


def load(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((PAYLOADS / "1.30.0" / f"{name}.json").read_text())
    return document


def fields(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every field of the contract in a report; what a tool was called with is the model's."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            if key != "arguments":
                yield from fields(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from fields(item, (*path, index))


def place(document: Any, path: Path_) -> Any:
    for part in path[:-1]:
        document = document[part]
    return document


def named(path: Path_) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".")


CASES = [
    (name, path)
    for name in ("success", "unknown_model", "approval_bash_normal")
    for path in fields(load(name))
]


@pytest.mark.parametrize("path", REAL, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_reports_keep_to_the_contract_and_are_read_whole(path: Path) -> None:
    assert check_report(json.loads(path.read_text()), path.parent.name) == []
    assert read_report(path).state == "complete"


def test_every_version_with_a_contract_has_real_reports_of_every_kind() -> None:
    kinds = {(p.parent.name, json.loads(p.read_text())["kind"]) for p in REAL}
    assert kinds == {
        (version, kind)
        for version in known_versions()
        for kind in ("success", "error", "tool-approval-required")
    }


def test_the_pinned_version_has_a_contract() -> None:
    assert AgentSettings().nanocoder in known_versions()


@pytest.mark.parametrize("version", known_versions())
def test_the_contracts_are_valid_json_schema(version: str) -> None:
    Draft202012Validator.check_schema(contract_schema(version))


@pytest.mark.parametrize(("name", "path"), CASES, ids=lambda case: str(case))
def test_a_field_that_vanishes_is_named(name: str, path: Path_) -> None:
    document = copy.deepcopy(load(name))
    del place(document, path)[path[-1]]
    problems = check_report(document, "1.30.0")
    if path == ("usage",):  # absent when the provider reports none
        assert problems == []
    else:
        assert f"{named(path)}: missing" in problems


@pytest.mark.parametrize(("name", "path"), CASES, ids=lambda case: str(case))
def test_a_field_of_another_type_is_named(name: str, path: Path_) -> None:
    original = load(name)
    allowed: dict[str, tuple[type, ...]] = {
        "reasoning": (str, type(None)),
        "result": (str, type(None)),
        "error": (str, type(None)),
        "arguments": (dict, str, list, float, bool),
        "toolNames": (list,),
        "filesChanged": (list,),
    }
    old = place(original, path)[path[-1]]
    accepted = allowed.get(str(path[-1]), (type(old),))
    for value in ANY_TYPE:
        if type(value) in accepted:
            continue
        document = copy.deepcopy(original)
        place(document, path)[path[-1]] = value
        problems = check_report(document, "1.30.0")
        assert any(problem.startswith(f"{named(path)}: ") for problem in problems), value


@pytest.mark.parametrize(
    "path", [("new",), ("usage", "cachedTokens"), ("toolCalls", 1, "duration")], ids=str
)
def test_a_field_that_appears_is_named(path: Path_) -> None:
    document = load("success")
    place(document, path)[path[-1]] = 1
    assert check_report(document, "1.30.0") == [f"{named(path)}: not in the contract"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "partial"}, "kind: "),
        ({"exitCode": 1}, "exitCode: "),
        ({"message": "x"}, "message: does not belong"),
        ({"toolNames": ["x"]}, "toolNames: does not belong"),
        ({"filesChanged": ["a", "a"]}, "filesChanged: "),
        ({"kind": "error", "exitCode": 1}, "message: missing"),
        ({"kind": "tool-approval-required", "exitCode": 2}, "toolNames: missing"),
    ],
)
def test_kind_exit_code_and_their_fields_go_together(change: dict[str, Any], problem: str) -> None:
    problems = check_report({**load("success"), **change}, "1.30.0")
    assert any(line.startswith(problem) for line in problems)


def test_the_usage_block_does_not_belong_to_1_29_0() -> None:
    assert check_report(load("success"), "1.29.0") == ["usage: not in the contract"]


def test_another_document_is_named_as_a_whole() -> None:
    (problem,) = check_report([], "1.30.0")
    assert problem.startswith("report: ")


def test_an_unknown_version_lists_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"9\.9\.9") as caught:
        check_report({}, "9.9.9")
    assert "1.30.0" in str(caught.value)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(contract, ["check", *arguments])


def test_the_command_passes_a_good_payload() -> None:
    result = run("--payload", str(PAYLOADS / "1.30.0/success.json"))
    assert result.exception is None
    assert "1.30.0" in result.output


def test_the_command_fails_naming_the_field_with_exit_code_3(tmp_path: Path) -> None:
    document = load("success")
    document["toolCalls"][0]["result"] = 3
    (tmp_path / "p.json").write_text(json.dumps(document))
    result = run("--payload", str(tmp_path / "p.json"), "--json")
    assert isinstance(result.exception, ContractError)
    assert result.exception.exit_code == 3
    assert "toolCalls[0].result" in str(result.exception)
    (problems,) = json.loads(result.output)["problems"].values()
    assert problems[0].startswith("toolCalls[0].result: ")


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "\xff"])
def test_a_payload_that_is_no_json_is_a_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "p.json").write_text(content, encoding="latin-1")
    result = run("--payload", str(tmp_path / "p.json"))
    assert isinstance(result.exception, InvalidInputError)
    assert "not JSON" in str(result.exception)


def test_a_payload_that_does_not_exist_is_a_clear_error(tmp_path: Path) -> None:
    result = run("--payload", str(tmp_path / "missing.json"))
    assert isinstance(result.exception, InvalidInputError)
