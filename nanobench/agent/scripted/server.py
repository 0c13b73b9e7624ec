"""The scripted provider: an OpenAI-compatible server on loopback that plays scripts."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from nanobench.agent.exchange import Exchange
from nanobench.agent.loopback import MOST_BODY, LoopbackServer
from nanobench.agent.scripted import stream
from nanobench.agent.scripted.script import Cut, Fault, Say, Script

_NO_TOOLS = Say("My turns are used up; I stop here.")


@dataclass
class _Session:
    script: Script
    exchanges: list[Exchange] = field(default_factory=list)


@dataclass(frozen=True)
class _Request:
    """What the server needs of a request's body."""

    model: str
    messages: list[Any]
    tools: tuple[str, ...]
    temperature: float | None
    streams: bool

    @classmethod
    def parse(cls, body: bytes) -> "_Request":
        """Read a body; ValueError says what is wrong with it."""
        try:
            document = json.loads(body)
        except RecursionError:
            raise ValueError("it nests too deep") from None
        if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
            raise ValueError("'messages' must be a list")
        temperature = document.get("temperature")
        return cls(
            model=str(document.get("model", "")),
            messages=document["messages"],
            tools=tuple(_tool_names(document.get("tools"))),
            temperature=temperature if isinstance(temperature, (int, float)) else None,
            streams=document.get("stream") is True,
        )


def _tool_names(tools: Any) -> list[str]:
    listed = tools if isinstance(tools, list) else []
    functions = [tool.get("function") for tool in listed if isinstance(tool, dict)]
    return [str(f["name"]) for f in functions if isinstance(f, dict) and "name" in f]


class ScriptedServer:
    """A context manager; between enter and exit it serves any number of cells at once.

    Each cell registers a script under a key of its own, which is part of its base URL.

    Raises:
        InfrastructureError: no port on loopback can be had.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}  # single dict operations only: no lock needed
        self._server = LoopbackServer("scripted provider", self._application)

    def register(self, key: str, script: Script) -> str:
        """Play `script` to whoever asks under `key`; returns the base URL."""
        self._sessions[key] = _Session(script)
        return f"{self._server.url}/{key}/v1"

    def exchanges(self, key: str) -> tuple[Exchange, ...]:
        """What was asked and answered under a registered key so far."""
        return tuple(self._sessions[key].exchanges)

    def release(self, key: str) -> None:
        """Forget a key and its exchanges; requests under it get 404 from now on."""
        self._sessions.pop(key, None)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.stop()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=MOST_BODY)
        app.router.add_post("/{key}/v1/chat/completions", self._chat)
        app.router.add_get("/{key}/v1/models", self._models)
        return app

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["key"] not in self._sessions:
            return _failed(_unknown_key())
        model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "nanobench"}
        return web.json_response({"object": "list", "data": [model]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        session = self._sessions.get(request.match_info["key"])
        if session is None:
            return _failed(_unknown_key())
        try:
            asked = _Request.parse(await request.read())
        except ConnectionError:  # the agent was ended in the middle of its request
            return web.Response(status=400)
        except ValueError as error:
            fault = Fault(400, f"not a chat request: {error}", "invalid_request")
            session.exchanges.append(_exchange(fault, None))
            return _failed(fault)
        turn = stream.turn_of(asked.messages)
        step = session.script.step(turn)
        if isinstance(step, Fault):
            session.exchanges.append(_exchange(step, asked))
            return _failed(step)
        if isinstance(step, Cut):
            session.exchanges.append(_exchange(step, asked))
            return await _break_off(request, step, asked.model)
        if not asked.tools:
            step = _NO_TOOLS if not isinstance(step, Say) else step
        reply = stream.Reply(asked.model, turn, step, stream.input_tokens(asked.messages))
        session.exchanges.append(_exchange(reply, asked))
        if not asked.streams:
            return web.json_response(reply.completion())
        return await _send(request, reply)


async def _send(request: web.Request, reply: stream.Reply) -> web.StreamResponse:
    response = await _open_stream(request)
    with suppress(ConnectionError):  # the agent was ended in the middle of a reply
        for event in reply.events():
            await response.write(event)
        await response.write_eof()
    return response


async def _break_off(request: web.Request, step: Cut, model: str) -> web.StreamResponse:
    response = await _open_stream(request)
    with suppress(ConnectionError):
        await response.write(stream.cut_event(step, model))
    if request.transport is not None:
        request.transport.close()  # sends what is written, but no end of the body
    return response


async def _open_stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    await response.prepare(request)
    return response


def _failed(fault: Fault) -> web.Response:
    return web.json_response(
        stream.error_document(fault), status=fault.status, headers=dict(fault.headers)
    )


def _unknown_key() -> Fault:
    return Fault(404, "no such run", "unknown_model", code="model_not_found")


def _exchange(reply: stream.Reply | Fault | Cut, asked: _Request | None) -> Exchange:
    """The log line of one request, written before the reply so that no reader is too early."""
    good = reply if isinstance(reply, stream.Reply) else None
    fault = reply if isinstance(reply, Fault) else None
    broken = fault.error_class if fault else "stream_cut"
    return Exchange(
        status=fault.status if fault else 200,
        error_class=None if good else broken,
        input_tokens=good.input_tokens if good else None,
        output_tokens=good.output_tokens if good else None,
        finish_reason=good.finish_reason if good else None,
        temperature=asked.temperature if asked else None,
        tools=asked.tools if asked else None,
    )
