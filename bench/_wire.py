"""A client that costs next to nothing: one request as bytes, sent again and again over kept connections."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Self

_HEAD_END: Final = b"\r\n\r\n"
_READ_BYTES: Final = 65_536
# Asked before anything is measured.
WARMING: Final = 20


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a server on this machine, over TLS whose certificate is not looked at."""

    port: int
    path: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "POST"

    def encode(self) -> bytes:
        """As it is on the wire."""
        fields = {"host": f"127.0.0.1:{self.port}", "content-type": "application/json", **self.headers}
        lines = [
            f"{self.method} {self.path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in fields.items()),
        ]
        head = "\r\n".join([*lines, f"content-length: {len(self.body)}"])
        return head.encode() + _HEAD_END + self.body


@cache
def tls() -> ssl.SSLContext:
    """What all clients use; servers are on this machine and were started by us. Handshakes are whole ones."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Connection:
    """A kept connection."""

    def __init__(self, port: int) -> None:
        plain = socket.create_connection(("127.0.0.1", port), timeout=30)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = tls().wrap_socket(plain)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> bytes:
        """The whole answer; AssertionError unless it is 200."""
        self._socket.sendall(request)
        answer = self._socket.recv(_READ_BYTES)
        while (missing := _missing(answer)) > 0:
            answer += self._socket.recv(max(missing, _READ_BYTES))
        assert answer.startswith(b"HTTP/1.1 200"), answer[:400]
        return answer


def _missing(answer: bytes) -> int:
    head, found, body = answer.partition(_HEAD_END)
    if not found:
        return 1
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return int(lengths[0].partition(b":")[2]) - len(body)


def times_ms(request: Request, count: int) -> list[float]:
    """How long each of `count` calls took, one after the other on one connection, in order of length."""
    wire, took = request.encode(), []
    with Connection(request.port) as connection:
        for _ in range(WARMING):
            connection.ask(wire)
        for _ in range(count):
            began_s = time.perf_counter()
            connection.ask(wire)
            took.append((time.perf_counter() - began_s) * 1000)
    return sorted(took)


def in_turns_ms(requests: Sequence[Request], count: int) -> list[list[float]]:
    """The same for several requests to one server: each call of one is followed by one of the next."""
    took: list[list[float]] = [[] for _ in requests]
    with Connection(requests[0].port) as connection:
        for number in range(WARMING + count):
            for request, times in zip(requests, took, strict=True):
                wire = request.encode()
                began_s = time.perf_counter()
                connection.ask(wire)
                if number >= WARMING:
                    times.append((time.perf_counter() - began_s) * 1000)
    return [sorted(times) for times in took]


def on_a_new_connection(request: Request) -> None:
    """One call, with the handshake before it."""
    with Connection(request.port) as connection:
        connection.ask(request.encode())


@dataclass(frozen=True, slots=True)
class Load:
    """What many clients at once got: calls a second, and the time that 99 of 100 were under."""

    per_s: float
    p99_ms: float


def under_load(request: Request, clients: int, seconds: float) -> Load:
    """By `wrk` where it is installed, else by threads of our own, which are slower."""
    return (
        _by_wrk(request, clients, seconds) if shutil.which("wrk") else _by_threads(request, clients, seconds)
    )


# wrk counts in microseconds; what is not 2xx must not count as an answer.
_LUA: Final = """
wrk.method = "POST"
wrk.body = [==[{body}]==]
{headers}
done = function(summary, latency, requests)
  io.write(string.format("RESULT %f %f %d\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(99) / 1000, summary.errors.status + summary.errors.read + summary.errors.timeout))
end
"""


def _by_wrk(request: Request, clients: int, seconds: float) -> Load:
    fields = {"content-type": "application/json", **request.headers}
    headers = "\n".join(f'wrk.headers["{name}"] = "{value}"' for name, value in fields.items())
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "request.lua"
        script.write_text(_LUA.format(body=request.body.decode(), headers=headers))
        url = f"https://127.0.0.1:{request.port}{request.path}"
        words = ["wrk", "-t1", f"-c{clients}", f"-d{max(1, round(seconds))}s", "-s", str(script), url]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    per_s, p99_ms, wrong = next(line for line in said.splitlines() if line.startswith("RESULT")).split()[1:]
    assert int(wrong) == 0, said
    return Load(float(per_s), float(p99_ms))


def _by_threads(request: Request, clients: int, seconds: float) -> Load:
    wire, took, until_s = request.encode(), list[float](), time.perf_counter() + seconds

    def ask() -> None:
        with contextlib.suppress(OSError), Connection(request.port) as connection:
            while (began_s := time.perf_counter()) < until_s:
                connection.ask(wire)
                took.append(time.perf_counter() - began_s)

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took.sort()
    return Load(len(took) / seconds, took[len(took) * 99 // 100] * 1000)
