"""Fresh reports of the real Nanocoder for the contract check (SPEC H5)."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nanobench.agent.nanocoder import AgentRequest, run_nanocoder
from nanobench.agent.phrases import error_text
from nanobench.agent.report_file import first_object, read_bounded
from nanobench.agent.scripted.script import Act, Say, Script, ToolCall
from nanobench.agent.scripted.server import ScriptedServer
from nanobench.environment.plain import Plain
from nanobench.environment.room import Place, Room
from nanobench.environment.toolchain import Toolchain
from nanobench.errors import ContractError
from nanobench.files import make_directory
from nanobench.model.plan import AgentSettings, Limits, ModelRef

_MODEL = ModelRef(provider="contract", model="contract")
_LIMITS = Limits(agent_seconds=120.0, max_turns=10)
_MAX_BYTES = 1 << 20
_FILE, _BEFORE, _AFTER = "greeting.txt", "hello", "good morning"

_EDIT = Act(
    (
        ToolCall("read_file", {"path": _FILE}),
        ToolCall("string_replace", {"path": _FILE, "old_str": _BEFORE, "new_str": _AFTER}),
        ToolCall("string_replace", {"path": _FILE, "old_str": "not there", "new_str": "x"}),
        ToolCall("execute_bash", {"command": "exit 7"}),
    )
)
SCRIPTS: Mapping[str, Script] = {
    "success": Script((_EDIT, Say("done"))),
    "error": Script((_EDIT, Say(""))),  # an empty reply ends Nanocoder with an error report
}
"""Conversations that between them bring up every field that a run in yolo mode can have."""


def fresh_reports(version: str, toolchain: Toolchain) -> dict[str, Any]:
    """Run the real Nanocoder once per script; the report of each, by the script's name.

    Raises:
        ContractError: a run printed no JSON object at all.
        EnvironmentSetupError: that version cannot be installed.
    """
    with ScriptedServer() as server, tempfile.TemporaryDirectory(prefix="nanobench-") as place:
        return {
            name: _fresh_report(name, server, version, toolchain, Path(place).resolve() / name)
            for name in SCRIPTS
        }


def _fresh_report(
    name: str, server: ScriptedServer, version: str, toolchain: Toolchain, place: Path
) -> Any:
    workspace, run_dir = make_directory(place / "ws"), make_directory(place / "run")
    (workspace / _FILE).write_text(f"{_BEFORE}\n")
    # nothing hostile runs here: supervised processes on the host will do
    room = Room(Plain(), Place(workspace, run_dir, path=(toolchain.bin(),)))
    request = AgentRequest(
        prompt="Change the greeting.",
        model=_MODEL,
        provider={
            "name": _MODEL.provider,
            "baseUrl": server.register(name, SCRIPTS[name]),
            "apiKey": "none",
            "models": [_MODEL.model],
        },
        settings=AgentSettings(nanocoder=version),
        limits=_LIMITS,
    )
    run = run_nanocoder(room, request, toolchain, run_dir)
    _, stdout = read_bounded(run.report_path, _MAX_BYTES)
    found = first_object(stdout.decode("utf-8", "replace"))
    if found is None:
        _, stderr = read_bounded(run.stderr_path, _MAX_BYTES)
        said = error_text(stderr.decode("utf-8", "replace"))[:500]
        raise ContractError(
            f"Nanocoder {version} printed no report in the run {name!r} "
            f"(exit code {run.exit_code})",
            where=said or "nothing on stderr",
            remedy="see whether its `run --plain --json` changed, and pin another version",
        )
    return found[0]
