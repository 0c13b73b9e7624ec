"""The prompt of each mode (SPEC X2)."""

from collections.abc import Sequence

from nanobench.model.plan import Mode

HINT_HEADING = "Key files to focus on:"
ATTACHMENTS_HEADING = "Attached files:"


def build_prompt(
    statement: str, required_files: Sequence[str], mode: Mode, attachments: Sequence[str] = ()
) -> str:
    """The statement; in hinted mode followed by a blank line, a heading, and a path a line.

    Attached files, which belong to the statement, stand between in the same form. Surrounding
    blank lines of the statement are dropped, so that what follows always stands one blank line
    below it.
    """
    lines = [statement.strip("\r\n")]
    if attachments:
        lines += ["", ATTACHMENTS_HEADING, *attachments]
    if mode == "hinted":
        lines += ["", HINT_HEADING, *required_files]
    return "\n".join(lines)
