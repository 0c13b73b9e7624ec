"""The registry file: read strictly, written canonically; and the one of this dataset."""

from pathlib import Path

import pytest

from nanobench.dataset.repositories.registry import (
    REGISTRY_FILE,
    entry_of,
    known_domain,
    put_score,
    read_registry,
)
from nanobench.errors import InvalidInputError
from nanobench.model.registry import Registry, rank

OURS = Path(__file__).parents[4] / "tasks" / REGISTRY_FILE


def test_the_registry_of_this_dataset_is_canonical() -> None:
    registry = read_registry(OURS)
    assert registry.to_json() == OURS.read_text()
    assert all(entry.novelty.reason for entry in registry.repositories)


def test_a_score_takes_its_place_by_rank_and_replaces_the_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / REGISTRY_FILE
    entries = read_registry(OURS).repositories
    for entry in reversed(entries):
        put_score(path, entry)
    assert path.read_bytes() == OURS.read_bytes()
    renamed = entries[0].model_copy(update={"repo": entries[0].repo.upper(), "domain": "other"})
    registry = put_score(path, renamed)
    assert len(registry.repositories) == len(entries)
    assert list(registry.repositories) == sorted(registry.repositories, key=rank)
    assert known_domain(tmp_path, entries[0].repo) == "other"


def test_without_a_file_there_is_an_empty_registry(tmp_path: Path) -> None:
    assert read_registry(tmp_path / REGISTRY_FILE) == Registry()
    assert entry_of(tmp_path / REGISTRY_FILE, "a/b") is None
    assert known_domain(tmp_path, "a/b") is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"repositories": [{}]}', '{"schema_version": "2.0"}']
)
def test_what_is_no_registry_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / REGISTRY_FILE
    path.write_text(text)
    with pytest.raises(InvalidInputError):
        read_registry(path)
