"""Nanocoder's own report, read leniently: what the model wrote in it can be anything."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Lenient(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)


class ToolCall(_Lenient):
    """A tool call; `arguments` is a raw string when the model's JSON was invalid."""

    name: str
    arguments: Any = None
    result: str | None = None
    error: str | None = None


class ReportUsage(_Lenient):
    """Tokens of the last request of each turn: a lower bound."""

    input_tokens: int | None = Field(default=None, alias="inputTokens")
    output_tokens: int | None = Field(default=None, alias="outputTokens")


class AgentReport(_Lenient):
    """The JSON object that `nanocoder --plain --json run` prints."""

    kind: Literal["success", "error", "tool-approval-required"]
    exit_code: int = Field(alias="exitCode")
    final_text: str = Field(default="", alias="finalText")
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = Field(default=(), alias="toolCalls")
    files_changed: tuple[str, ...] = Field(default=(), alias="filesChanged")
    usage: ReportUsage | None = None
    message: str | None = None
    tool_names: tuple[str, ...] = Field(default=(), alias="toolNames")
