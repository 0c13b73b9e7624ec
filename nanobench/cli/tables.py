"""Plain tables for terminals and pipes."""

from collections.abc import Sequence


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows in columns as wide as their widest cell; the first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
