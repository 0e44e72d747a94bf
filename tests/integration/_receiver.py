"""An HTTP server in a thread that answers as it is told and keeps what it was asked."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

from tests.serving import Serving, Silent


@dataclass(frozen=True, slots=True)
class Asked:
    """One request; header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes


class Answer:
    """How a request is met. `status` 0: the connection is reset, -1: nothing comes for `wait_s`."""

    def __init__(self, status: int = 202, *, wait_s: float = 0.0, **headers: str) -> None:
        self.status = status
        self.wait_s = wait_s
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Receiver(Serving):
    """Meets the n-th request with `answer(n, request)`."""

    def __init__(self, answer: Callable[[int, Asked], Answer] = lambda _n, _asked: Answer()) -> None:
        self.requests: list[Asked] = []
        self._answer = answer
        receiver = self

        class Meet(Silent, BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                receiver._meet(self)

        super().__init__(Meet)

    @property
    def url(self) -> str:
        return f"http://{self.authority}/callback/job-1"

    def _meet(self, connection: BaseHTTPRequestHandler) -> None:
        length = int(connection.headers.get("content-length", "0"))
        headers = {name.lower(): value for name, value in connection.headers.items()}
        asked = Asked(connection.path, headers, connection.rfile.read(length))
        self.requests.append(asked)
        answer = self._answer(len(self.requests), asked)
        time.sleep(answer.wait_s)
        if answer.status == 0:
            _reset(connection)
            return
        connection.send_response(answer.status)
        for name, value in {"Content-Length": "0", **answer.headers}.items():
            connection.send_header(name, value)
        connection.end_headers()


@contextmanager
def nobody() -> Iterator[str]:
    """A URL at which nobody listens, nor can for as long as this lasts."""
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/callback/job-1"


def _reset(connection: BaseHTTPRequestHandler) -> None:
    """RST instead of FIN: what a crashed process or a firewall does."""
    connection.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.connection.close()
    connection.close_connection = True
