"""`nanobench schema`: the JSON Schemas of the documents, generated from the models."""

import importlib
from pathlib import Path
from typing import Any

import click

from nanobench.errors import GateError, InvalidInputError

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS = {
    "audit-bundle": "nanobench.model.audit:AuditBundle",
    "audit-key": "nanobench.model.audit:AuditKey",
    "audit-status": "nanobench.model.audit:AuditStatus",
    "baseline": "nanobench.model.baseline:Baseline",
    "comparison": "nanobench.report.comparison_document:Comparison",
    "gate": "nanobench.model.gate:GateResult",
    "history-entry": "nanobench.report.history:HistoryEntry",
    "matrix": "nanobench.report.matrix:Matrix",
    "plan": "nanobench.model.plan:Plan",
    "record": "nanobench.model.record:Record",
    "registry": "nanobench.model.registry:Registry",
    "report": "nanobench.report.document:Report",
    "task": "nanobench.model.task:Task",
    "verdict": "nanobench.model.verdict:Verdict",
}
"""The documents that pass between jobs and people; each has `schemas/<name>.schema.json`."""


@click.group()
def schema() -> None:
    """Export or check the JSON Schemas."""


@schema.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write; `schemas/` of the checkout by default.",
)
def export(out: Path | None) -> None:
    """Write one schema file per document.

    Exit codes: 0 written, 3 not a checkout and no --out, 4 the directory cannot be used.
    """
    from nanobench.files import make_directory, write_atomic

    directory = make_directory(out or checkout_schemas())
    for name, text in schema_files().items():
        write_atomic(directory / name, text)
        click.echo(directory / name)


@schema.command()
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="What to check; `schemas/` of the checkout by default.",
)
def check(directory: Path | None) -> None:
    """Fail, naming the files, if a schema file is not what the models say.

    Exit codes: 0 the same, 1 a file differs or is missing, 3 not a checkout and no --dir.
    """
    place = directory or checkout_schemas()
    wrong = [name for name, text in schema_files().items() if _read(place / name) != text]
    if wrong:
        raise GateError(
            f"schema files differ from the models: {', '.join(wrong)}",
            where=str(place),
            remedy="run `nanobench schema export` and commit the result",
        )
    click.echo(f"{len(DOCUMENTS)} schemas are up to date")


def schema_files() -> dict[str, str]:
    """File name to content of every schema, in canonical JSON."""
    from nanobench.model.base import canonical_json

    return {
        f"{name}.schema.json": canonical_json(document_schema(where))
        for name, where in DOCUMENTS.items()
    }


def document_schema(where: str) -> dict[str, Any]:
    """The schema of what a document accepts; `where` is `module:Class`."""
    module, _, name = where.partition(":")
    model = getattr(importlib.import_module(module), name)
    generated: dict[str, Any] = model.model_json_schema(by_alias=True)
    return {"$schema": DIALECT, "title": name, **generated}


def checkout_schemas() -> Path:
    """`schemas/` of the checkout that this package is run from.

    Raises:
        InvalidInputError: the package is installed apart from a checkout.
    """
    import nanobench

    root = Path(nanobench.__file__).resolve().parents[1]
    if not (root / "pyproject.toml").is_file():
        raise InvalidInputError(
            "the schema files belong to a checkout, and this is an installed package",
            where=str(root),
            remedy="run the command in a checkout, or name a directory",
        )
    return root / "schemas"


def _read(path: Path) -> str | None:
    """The file as text with its line ends kept; None if it is missing or no text."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None
