"""What the gateway costs, beside a bare aiohttp pass-through and mitmproxy's streaming mode.

Run it alone: `python benchmarks/gateway.py [--rounds 9] [--requests 10000]`; on a busy machine
below `chrt -r 10`, which puts its processes before all others. Exit code 0: every goal is met; 1:
one is not.

Provider, proxies and load are processes of their own on loopback. The provider streams 200 events
without delay, so that every microsecond of a proxy shows. All targets are asked request by request
(one at a time, when the one before has left nothing to do, in an order that is drawn anew each
time) and burst by burst (16 at a time). Added latency is a target's quantile less the provider's
own in the same round; what is reported is the median of the rounds.

mitmproxy is installed into a private environment of its own; where it cannot be had, its line is
left out.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from operator import sub, truediv
from pathlib import Path
from typing import Any

import aiohttp
import psutil
from aiohttp import web

from nanobench.agent.gateway.route import PLACEHOLDER_KEY, RouteOptions, Upstream
from nanobench.agent.gateway.server import Gateway

MOST_ADDED_P50, MOST_ADDED_P99 = 1.2, 1.5  # of the bare pass-through's
FEWEST_TIMES_MITMPROXY = 3.0
MOST_GROWTH = 1.05
CONCURRENCY = 16
PER_ROUND = 200  # requests to each target, one at a time
PAUSE = 0.001  # seconds before each, for what the one before leaves to do
BURST = 96  # requests to each target, 16 at a time
CELL = 100  # requests of one route; memory is compared from the 20th cell on
EVENTS = 200
MESSAGES = [{"role": "user", "content": "x" * 120} for _ in range(200)]  # 30 KB, as agents send
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}
BODY = json.dumps({"model": "m", "stream": True, "messages": MESSAGES, "tools": [TOOL]}).encode()
OF_THE_CONNECTION = {"host", "content-length", "transfer-encoding", "connection", "keep-alive"}
HEADERS = {"authorization": f"Bearer {PLACEHOLDER_KEY}", "content-type": "application/json"}


def events() -> list[bytes]:
    """A reply as providers stream it: one event a token, then finish, usage and the end."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def event(choices: list[Any], **more: Any) -> bytes:
        return b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n"

    def delta(content: str, finish: str | None = None) -> bytes:
        return event([{"index": 0, "delta": {"content": content}, "finish_reason": finish}])

    usage = {"prompt_tokens": 9000, "completion_tokens": EVENTS, "total_tokens": 9000 + EVENTS}
    return [
        *(delta(" token") for _ in range(EVENTS)),
        delta("", "stop"),
        event([], usage=usage),
        b"data: [DONE]\n\n",
    ]


async def serve_provider(port_known: Any) -> None:
    """The provider."""
    stream = events()

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        reply = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await reply.prepare(request)
        for event in stream:
            await reply.write(event)
        await reply.write_eof()
        return reply

    await serve(answer, port_known)


async def serve_bare(upstream: str, port_known: Any) -> None:
    """The bare pass-through: read the request, send it with its headers, write what comes."""

    def passed(headers: Mapping[str, str]) -> dict[str, str]:
        return {k: v for k, v in headers.items() if k.lower() not in OF_THE_CONNECTION}

    timeout = aiohttp.ClientTimeout(total=None)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:

        async def answer(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            headers = passed(request.headers)
            async with session.post(upstream + request.path, data=body, headers=headers) as got:
                reply = web.StreamResponse(status=got.status, headers=passed(got.headers))
                await reply.prepare(request)
                async for chunk in got.content.iter_any():
                    await reply.write(chunk)
                await reply.write_eof()
                return reply

        await serve(answer, port_known)


async def serve(answer: Any, port_known: Any) -> None:
    """Serve until the process is ended."""
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port_known(f"http://127.0.0.1:{runner.addresses[0][1]}")
    await asyncio.Event().wait()


def serve_gateway(upstream: str, port_known: Any) -> None:
    """The gateway; every line on stdin ends the route and begins a new one, as cells do."""
    described = Upstream(f"{upstream}/v1", "key", {}, "openai_chat", None, "benchmark")
    with Gateway() as gateway:
        port_known(gateway.open("0", described, RouteOptions()).removesuffix("/v1"))
        for number, _ in enumerate(sys.stdin, start=1):
            gateway.close(str(number - 1))
            port_known(gateway.open(str(number), described, RouteOptions()).removesuffix("/v1"))


class Process:
    """A server in a process of its own, which prints its address."""

    def __init__(self, stack: ExitStack, role: str, upstream: str = "") -> None:
        argv = [sys.executable, __file__, "--serve", role, "--upstream", upstream]
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        stack.callback(self._process.wait)
        stack.callback(self._process.kill)
        self.url = self._told()

    def renew(self) -> None:
        """A new route."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.url = self._told()

    def rss(self) -> int:
        """Bytes of resident memory."""
        return int(psutil.Process(self._process.pid).memory_info().rss)

    def _told(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def mitmproxy(upstream: str, directory: Path) -> Iterator[str | None]:
    """mitmproxy's address, in streaming reverse mode; null where it cannot be had."""
    home = directory / "mitmproxy"
    install = (["venv", str(home)], ["pip", "install", "--python", str(home), "mitmproxy"])
    for arguments in install:
        done = subprocess.run(
            [sys.executable, "-m", "uv", *arguments, "--quiet"], capture_output=True, text=True
        )
        if done.returncode:
            print(f"mitmproxy cannot be had, its line is left out: {done.stderr.strip()[-200:]}")
            yield None
            return
    port = free_port()
    argv = [str(home / "bin/mitmdump"), "-q", "--mode", f"reverse:{upstream}", "-p", str(port)]
    argv += ["--set", "stream_large_bodies=1", "--set", f"confdir={directory}"]
    process = subprocess.Popen(argv)
    try:
        yield f"http://127.0.0.1:{port}" if wait_for(port) else None
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_for(port: int) -> bool:
    """Wait until somebody listens there."""
    import socket

    for _ in range(300):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        time.sleep(0.1)
    print("mitmproxy does not listen, its line is left out")
    return False


async def ask(session: aiohttp.ClientSession, url: str) -> float:
    """Seconds of one request, to the last byte of a complete reply."""
    started = time.perf_counter()
    tail = b""
    async with session.post(f"{url}/v1/chat/completions", data=BODY, headers=HEADERS) as reply:
        async for chunk in reply.content.iter_any():
            tail = chunk
    assert tail.endswith(b"[DONE]\n\n"), tail
    return time.perf_counter() - started


async def burst(session: aiohttp.ClientSession, url: str, requests: int) -> float:
    """Requests a second, 16 at a time."""
    left = iter(range(requests))

    async def worker() -> None:
        for _ in left:
            await ask(session, url)

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
    return requests / (time.perf_counter() - started)


@dataclass
class Measured:
    """Of one target: latencies one at a time, by round, and rates 16 at a time."""

    latencies: list[list[float]] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def quantiles(self, percent: int) -> list[float]:
        """A percentile of the latencies, by round."""
        return [
            statistics.quantiles(of_one, n=100, method="inclusive")[percent - 1]
            for of_one in self.latencies
        ]


async def measure(targets: dict[str, str], rounds: int) -> dict[str, Measured]:
    """What each target takes, after a round to warm up."""
    measured = {name: Measured() for name in targets}
    order = random.Random(0)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for number in range(rounds + 1):
            latencies = defaultdict(list)
            for _ in range(PER_ROUND):
                for name in order.sample(list(targets), len(targets)):
                    await asyncio.sleep(PAUSE)
                    latencies[name].append(await ask(session, targets[name]))
            for name, url in targets.items():
                rate = await burst(session, url, BURST)
                if number:
                    measured[name].latencies.append(latencies[name])
                    measured[name].rates.append(rate)
    return measured


async def grow(gateway: Process, requests: int) -> list[int]:
    """Resident memory after each cell."""
    sizes = []
    async with aiohttp.ClientSession() as session:
        for _ in range(requests // CELL):
            gateway.renew()
            await burst(session, gateway.url, CELL)
            sizes.append(gateway.rss())
    return sizes


def check(name: str, value: float, goal: float, *, least: bool = False) -> bool:
    """Print a figure beside its goal."""
    met = value >= goal if least else value <= goal
    print(
        f"{name:52} {value:6.2f}  goal {'>=' if least else '<='} {goal:<5} {'ok' if met else 'NO'}"
    )
    return met


def report(measured: dict[str, Measured]) -> bool:
    """Print the figures of latency and rate; whether they meet the goals."""
    print(f"{'':12} {'p50 ms':>8} {'p99 ms':>8} {'added p50':>10} {'added p99':>10} {'req/s':>8}")
    added: dict[str, list[float]] = {}
    for name, of_one in measured.items():
        rounds = {percent: of_one.quantiles(percent) for percent in (50, 99)}
        added[name] = [
            statistics.median(map(sub, values, measured["direct"].quantiles(percent)))
            for percent, values in rounds.items()
        ]
        told = "".join(f"{1000 * statistics.median(values):9.2f}" for values in rounds.values())
        more = "".join(f"{1000 * value:11.2f}" for value in added[name])
        print(f"{name:12}{told}{more} {statistics.median(of_one.rates):8.0f}")
    times = list(map(truediv, added["gateway"], added["bare"]))
    met = [
        check("added p50, times the bare pass-through", times[0], MOST_ADDED_P50),
        check("added p99, times the bare pass-through", times[1], MOST_ADDED_P99),
    ]
    if "mitmproxy" in measured:
        rates = map(truediv, measured["gateway"].rates, measured["mitmproxy"].rates)
        name = "requests a second, times mitmproxy's (16 at a time)"
        met.append(check(name, statistics.median(rates), FEWEST_TIMES_MITMPROXY, least=True))
    return all(met)


def main() -> int:
    """Measure, or serve one of the roles."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--serve", choices=("provider", "bare", "gateway"))
    parser.add_argument("--upstream", default="")
    options = parser.parse_args()

    def known(url: str) -> None:
        print(url, flush=True)

    if options.serve == "gateway":
        serve_gateway(options.upstream, known)
        return 0
    if options.serve:
        work = serve_provider(known)
        asyncio.run(work if options.serve == "provider" else serve_bare(options.upstream, known))
        return 0
    with ExitStack() as stack:
        provider = Process(stack, "provider")
        bare = Process(stack, "bare", provider.url)
        gateway = Process(stack, "gateway", provider.url)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mitm = stack.enter_context(mitmproxy(provider.url, directory))
        targets = {"direct": provider.url, "bare": bare.url, "gateway": gateway.url}
        targets |= {"mitmproxy": mitm} if mitm else {}
        met = report(asyncio.run(measure(targets, options.rounds)))
        sizes = asyncio.run(grow(gateway, options.requests))
        warm = sizes[min(20, len(sizes) - 1)]
        print(f"memory: {warm >> 20} MiB warm, {sizes[-1] >> 20} MiB after {options.requests}")
        grown = check(
            "memory at the end, times that of a warm gateway", sizes[-1] / warm, MOST_GROWTH
        )
    return 0 if met and grown else 1


if __name__ == "__main__":
    sys.exit(main())
