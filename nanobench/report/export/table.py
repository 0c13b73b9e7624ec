"""The long format as CSV and as Parquet."""

import io
from typing import TYPE_CHECKING, Any

from nanobench.errors import UsageError
from nanobench.report.export.columns import COLUMNS, Kind, runs
from nanobench.report.pairing import Results
from nanobench.report.sheets import csv_text

if TYPE_CHECKING:
    from types import ModuleType


def csv_table(results: Results) -> str:
    """One line per run."""
    heads = [column.name for column in COLUMNS]
    return csv_text(heads, ([column.of(run) for column in COLUMNS] for run in runs(results)))


def parquet_table(results: Results) -> bytes:
    """One row per run; text as it stands in the records.

    Raises:
        UsageError: pyarrow, which is an extra, is not installed.
    """
    pyarrow = _pyarrow()
    kinds = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "real": pyarrow.float64(),
        "truth": pyarrow.bool_(),
    }
    found = list(runs(results))
    columns = {
        column.name: pyarrow.array(
            [_as(column.kind, column.of(run)) for run in found], type=kinds[column.kind]
        )
        for column in COLUMNS
    }
    stream = io.BytesIO()
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.table(columns), stream, compression="zstd")
    return stream.getvalue()


def _as(kind: Kind, value: Any) -> Any:
    return float(value) if kind == "real" and value is not None else value


def _pyarrow() -> "ModuleType":
    try:
        import pyarrow
    except ImportError:
        raise UsageError(
            "writing Parquet needs pyarrow",
            where="--format parquet",
            remedy="install it with `pip install 'nanobench[parquet]'`, or write --format csv",
        ) from None
    module: ModuleType = pyarrow
    return module
