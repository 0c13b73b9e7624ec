"""Records of older versions are read as what they say, newer ones refused by name.

`tests/fixtures/records/1.0` holds records as `nanobench demo` wrote them at two commits of this
repository: e2a899a counted the bytes of outputs, bc74226 their lines; neither had a gateway.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.model.migrations import (
    STEPS,
    NewerRecordError,
    UnreadableRecordError,
    upgrade,
)
from nanobench.model.record import RECORD_SCHEMA_VERSION, Record
from nanobench.scoring.judge import judge

FIXTURES = Path(__file__).parents[2] / "fixtures" / "records"
OLD = sorted(FIXTURES.glob("*/*.json"))


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def test_there_is_a_real_record_of_every_older_version() -> None:
    assert {path.parent.name for path in OLD} == set(STEPS)


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_real_older_record_is_read_and_keeps_all_it_said(path: Path) -> None:
    document = load(path)
    assert document["schema_version"] == path.parent.name
    before = copy.deepcopy(document)
    record = Record.model_validate(upgrade(document))
    assert document == before, "the input was changed"
    assert record.schema_version == RECORD_SCHEMA_VERSION
    now = json.loads(record.to_json())
    for part in ("cell", "attempt", "verdict", "agent_patch_sha256"):
        assert now[part] == before[part]
    assert now["timing"] == before["timing"] | {"install_seconds": None}
    assert judge(record.signals, record.verdict.ruleset) == record.verdict


@pytest.mark.parametrize(("name", "known"), [("bytes-counted", False), ("lines-counted", True)])
def test_bytes_never_pass_for_lines(name: str, known: bool) -> None:
    document = load(FIXTURES / "1.0" / f"{name}.json")
    old = document["completion"]["commands_run"]
    assert all(("output_bytes" in one) is not known for one in old)
    record = Record.model_validate(upgrade(document))
    lines = [command.output_lines for command in record.completion.commands_run]
    assert lines == ([one["output_lines"] for one in old] if known else [None] * len(old))


def test_a_run_from_before_the_gateway_had_none_and_a_later_one_keeps_its_own() -> None:
    document = load(FIXTURES / "1.0" / "lines-counted.json")
    assert upgrade(document)["provenance"]["settings"]["gateway"] == "off"
    document["provenance"]["settings"]["gateway"] = "on"
    assert upgrade(document)["provenance"]["settings"]["gateway"] == "on"


def test_a_record_of_this_version_is_left_as_it_is() -> None:
    document = {"schema_version": RECORD_SCHEMA_VERSION, "anything": [1]}
    assert upgrade(document) is document


@pytest.mark.parametrize("version", ["1.2", "1.10", "2.0", "10.0"])
def test_a_newer_record_is_refused_by_the_name_of_its_version(version: str) -> None:
    with pytest.raises(NewerRecordError, match=rf"schema {version}, .* up to 1\.1: read it with"):
        upgrade({"schema_version": version})


@pytest.mark.parametrize("version", ["0.9", "1.00", "1", "", "one", None, 1.1, "9" * 5000 + ".0"])
def test_a_version_that_never_was_is_not_taken_for_a_newer_one(version: object) -> None:
    with pytest.raises(UnreadableRecordError) as failure:
        upgrade({"schema_version": version})
    assert not isinstance(failure.value, NewerRecordError)


anything = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["completion", "commands_run", "provenance", "settings", "x"]), inner
        )
    ),
)


@settings(deadline=None, derandomize=True)
@given(anything)
def test_what_is_no_record_is_left_for_validation(document: Any) -> None:
    if isinstance(document, dict):
        document = {**document, "schema_version": "1.0"}
        assert upgrade(document)["schema_version"] == RECORD_SCHEMA_VERSION
    else:
        with pytest.raises(UnreadableRecordError):
            upgrade(document)
