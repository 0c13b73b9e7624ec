"""The prompt of each mode (SPEC X2)."""

from collections.abc import Sequence

from nanobench.model.plan import Mode

HINT_HEADING = "Key files to focus on:"


def build_prompt(statement: str, required_files: Sequence[str], mode: Mode) -> str:
    """The statement; in hinted mode followed by a blank line, a heading, and a path a line.

    Surrounding blank lines of the statement are dropped, so that the hints always stand
    one blank line below it.
    """
    text = statement.strip("\r\n")
    if mode == "navigation":
        return text
    return "\n".join([text, "", HINT_HEADING, *required_files])
