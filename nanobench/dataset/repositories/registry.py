"""`tasks/registry.json`: reading it, and putting a score into it."""

from pathlib import Path

from nanobench.dataset.reading import read_document
from nanobench.files import write_atomic
from nanobench.model.registry import Registry, ScoredRepository, rank

REGISTRY_FILE = "registry.json"


def read_registry(path: Path) -> Registry:
    """The registry; empty if there is no file.

    Raises:
        InvalidInputError: the file is no registry, or is not ranked.
    """
    return read_document(Registry, path)[0] if path.exists() else Registry()


def put_score(path: Path, scored: ScoredRepository) -> Registry:
    """The registry with this score in the place of the repository's earlier one; written.

    Raises:
        InvalidInputError: the file is no registry.
        StateError: it cannot be written.
    """
    others = [e for e in read_registry(path).repositories if not is_same(e, scored.repo)]
    registry = Registry(repositories=tuple(sorted([*others, scored], key=rank)))
    write_atomic(path, registry.to_json())
    return registry


def entry_of(path: Path, repo: str) -> ScoredRepository | None:
    """What the registry has of a repository.

    Raises:
        InvalidInputError: the file is no registry.
    """
    return next((e for e in read_registry(path).repositories if is_same(e, repo)), None)


def known_domain(tasks_dir: Path, repo: str) -> str | None:
    """The domain that the registry gives a repository.

    Raises:
        InvalidInputError: the file is no registry.
    """
    entry = entry_of(tasks_dir / REGISTRY_FILE, repo)
    return entry.domain if entry else None


def is_same(entry: ScoredRepository, repo: str) -> bool:
    """Whether an entry is of this repository; GitHub tells names apart without their case."""
    return entry.repo.casefold() == repo.casefold()
