"""The gateway's server: one route per running cell, on loopback."""

import asyncio
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from nanobench.agent.exchange import Exchange
from nanobench.agent.gateway.forward import Forwarding, Route
from nanobench.agent.gateway.headers import secrets_of
from nanobench.agent.gateway.live import LiveTransport
from nanobench.agent.gateway.retrying import Allowance
from nanobench.agent.gateway.route import RouteOptions, Upstream
from nanobench.agent.loopback import MOST_BODY, LoopbackServer
from nanobench.agent.way_out import inner_url
from nanobench.errors import InvalidInputError

_PREFIX = "/v1"
_CLIMBS = re.compile(r"(?i)(?:^|/|\\|%2f|%5c)(?:\.|%2e){1,2}(?:$|/|\\|\?|%2f|%5c)")


class Gateway:
    """A context manager; between enter and exit it serves any number of cells at once.

    Raises:
        InfrastructureError: no port on loopback can be had.
    """

    def __init__(self) -> None:
        # Single dict operations only: no lock needed.
        self._routes: dict[str, Route] = {}
        self._sockets: dict[str, Callable[[], None]] = {}
        self._server = LoopbackServer("gateway", self._application)

    def open(
        self, key: str, upstream: Upstream, options: RouteOptions, socket: Path | None = None
    ) -> str:
        """Serve a provider under a key of this run; returns the base URL for the agent.

        With `socket` the gateway listens there too, and the URL is the one that holds where
        the agent's only way out leads to it (`way_out.forwarded`).

        Raises:
            InvalidInputError: the provider's certificate authority cannot be read.
            InfrastructureError: the socket cannot be made.
        """
        try:
            wire = LiveTransport(upstream, options.idle_seconds)
        except (OSError, ssl.SSLError) as error:
            raise InvalidInputError(
                f"the provider's caCertPath cannot be used: {error.strerror or error}",
                where=f"provider {upstream.provider!r}: {upstream.ca_cert_path}",
                remedy="name a file with certificates in PEM form",
            ) from None
        transport = options.through(wire)
        allowance = Allowance(options.retry.retries_per_run)
        if socket is not None:
            self._sockets[key] = self._server.listen_on(socket)
        self._routes[key] = Route(upstream, options, transport, allowance, secrets_of(upstream))
        return (inner_url(key) if socket else f"{self._server.url}/{key}") + _PREFIX

    def exchanges(self, key: str) -> tuple[Exchange, ...]:
        """The finished exchanges of an open route so far, in the order of their requests."""
        return _ordered(self._routes[key])

    def close(self, key: str) -> tuple[Exchange, ...]:
        """End a route, with what is still under way on it; returns all its exchanges.

        A route that is closed already has none.
        """
        route = self._routes.pop(key, None)
        if route is None:
            return ()
        stop_listening = self._sockets.pop(key, None)
        if stop_listening is not None:
            stop_listening()
        self._server.run(_end(route))
        return _ordered(route)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for key in tuple(self._routes):
            self.close(key)
        self._server.stop()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=MOST_BODY)
        app.router.add_route("*", "/{key}{path:/.*}", self._serve)
        return app

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        route = self._routes.get(key)
        path = request.raw_path.removeprefix(f"/{key}{_PREFIX}")
        if route is None or not path.startswith("/") or path == request.raw_path:
            return _not_found("no such route")
        if _CLIMBS.search(path):
            return _not_found("no such path")
        with _tracked(route):
            return await Forwarding(request, path, route).run()


@contextmanager
def _tracked(route: Route) -> Iterator[None]:
    """Let the route know the running task, so that closing it can end and await it."""
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - called within one
    route.tasks.add(task)
    try:
        yield
    finally:
        route.tasks.discard(task)


async def _end(route: Route) -> None:
    tasks = tuple(route.tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await route.transport.close()


def _ordered(route: Route) -> tuple[Exchange, ...]:
    return tuple(sorted(route.exchanges, key=attrgetter("index")))


def _not_found(message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "code": "model_not_found"}}, status=404)
