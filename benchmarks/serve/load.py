"""Load: wrk for as much as a server can take, and requests at a steady rate for more than it can."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from benchmarks.serve.servers import Server, pinned

__all__ = ["Figures", "Kind", "at_rate", "hammer", "quantile"]

_CORE = 1
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}
_SCRIPT = """
local bodies = {}
for line in io.lines("%s") do bodies[#bodies + 1] = line end
local at = 0
request = function()
  at = at %% #bodies + 1
  return wrk.format("POST", "%s", {["Content-Type"] = "%s"}, bodies[at])
end
"""


@dataclass(frozen=True)
class Kind:
    """How a server wants to be asked for suggestions."""

    path: str
    content: str

    def body(self, text: str) -> str:
        """A request for one text."""
        if self.content == "application/json":
            return json.dumps({"texts": [text], "k": 10})
        return urlencode({"text": text, "limit": 10})


@dataclass(frozen=True)
class Figures:
    """What came of it."""

    connections: int
    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    """CPU time that the server spent on a request."""
    per_core_second: float
    """Requests per second and core: the reciprocal of it."""
    failed: int

    def row(self) -> dict[str, Any]:
        """For a table or a file."""
        return {name: round(value, 2) for name, value in asdict(self).items()}


def hammer(server: Server, kind: Kind, texts: Sequence[str], connections: int, seconds: int) -> Figures:
    """As many requests of one text as the server answers, on so many connections."""
    with tempfile.TemporaryDirectory() as scratch:
        bodies, script = Path(scratch) / "bodies", Path(scratch) / "ask.lua"
        bodies.write_text("".join(f"{kind.body(text)}\n" for text in texts), encoding="utf-8")
        script.write_text(_SCRIPT % (bodies, kind.path, kind.content))
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout=60s", "-s", str(script)]
        before = server.cpu_seconds
        said = subprocess.run(pinned([*command, server.url], _CORE), capture_output=True, text=True, check=True).stdout
        spent = server.cpu_seconds - before
    answered = int(_found(r"(\d+) requests in", said))
    failed = sum(int(number) for number in re.findall(r"Non-2xx or 3xx responses: (\d+)", said))
    per_second = float(_found(r"Requests/sec:\s+([\d.]+)", said))
    cpu = spent / max(answered, 1)
    return Figures(connections, per_second, _latency(said, 50), _latency(said, 99), cpu * 1e6, 1 / cpu, failed)


def _found(pattern: str, said: str) -> str:
    match = re.search(pattern, said)
    if match is None:
        raise SystemExit(f"wrk said something else: {said}")
    return match[1]


def _latency(said: str, percent: int) -> float:
    match = re.search(rf"^\s+{percent}%\s+([\d.]+)(us|ms|s|m)$", said, re.M)
    return float(match[1]) * _UNITS[match[2]] if match else float("nan")


async def at_rate(
    server: Server, kind: Kind, texts: Sequence[str], rate: float, seconds: float
) -> dict[int, list[float]]:
    """Requests at a steady rate, whatever becomes of those before; milliseconds of the answers by their status."""
    found: dict[int, list[float]] = {}
    start, number, tasks = time.monotonic(), 0, []
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    while (due := start + number / rate) < start + seconds:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.ensure_future(_ask(server, kind, texts[number % len(texts)], free, found)))
        number += 1
    await asyncio.gather(*tasks)
    return found


async def _ask(server: Server, kind: Kind, text: str, free: list[Any], found: dict[int, list[float]]) -> None:
    place = urlsplit(server.url)
    connection = free.pop() if free else await asyncio.open_connection(place.hostname, place.port)
    reader, writer = connection
    body = kind.body(text).encode()
    head = (
        f"POST {kind.path} HTTP/1.1\r\nHost: a\r\nContent-Type: {kind.content}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    start = time.monotonic()
    writer.write(head.encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?i)content-length: (\d+)", answer)
    await reader.readexactly(int(length[1]) if length else 0)
    found.setdefault(int(answer.split()[1]), []).append((time.monotonic() - start) * 1e3)
    free.append(connection)


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
