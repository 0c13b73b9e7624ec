"""What the agent did with its tools, as its report tells (SPEC O3)."""

import posixpath
from collections import Counter
from collections.abc import Sequence

from nanobench.model.report import AgentReport, ToolCall
from nanobench.model.signals import ToolSignals

_MAX_NAME = 100  # a name is the model's own text


def tool_signals(
    report: AgentReport | None, workspace: str, required_files: Sequence[str]
) -> ToolSignals:
    """Count the calls and list the files read.

    Nanocoder leaves calls of unknown tools and a subagent's calls out of its report, and
    resolves relative paths against a directory that `cd` in its shell moves: paths stand
    here as the model wrote them, relative to `workspace` where they lie in it.
    """
    if report is None:
        return ToolSignals()
    calls = report.tool_calls
    read = dict.fromkeys(path for call in calls if (path := _path_read(call, workspace)))
    return ToolSignals(
        calls=dict(Counter(call.name[:_MAX_NAME] for call in calls)),
        failed=dict(Counter(call.name[:_MAX_NAME] for call in calls if call.error is not None)),
        unparsed_arguments=sum(isinstance(call.arguments, str) for call in calls),
        files_read=tuple(read),
        required_files_read=tuple(path for path in required_files if path in read),
    )


def relative_path(path: str, workspace: str) -> str | None:
    """`path` normalised and relative to the workspace; null if it does not lie below it."""
    if "\0" in path:
        return None
    normal = posixpath.normpath(path)
    if normal.startswith("/"):
        root = posixpath.normpath(workspace).rstrip("/") + "/"
        if not normal.startswith(root):
            return None
        normal = normal.removeprefix(root)
    if normal == "." or normal == ".." or normal.startswith("../"):
        return None
    return normal


def _path_read(call: ToolCall, workspace: str) -> str | None:
    if call.name != "read_file" or call.error is not None:
        return None
    arguments = call.arguments
    if not isinstance(arguments, dict) or arguments.get("metadata_only") is True:
        return None
    path = arguments.get("path")
    return relative_path(path, workspace) if isinstance(path, str) and path else None
