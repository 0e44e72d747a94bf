"""A web server on this machine whose pages a test chooses."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Served:
    """One answer; `wait_s` comes before it."""

    content: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/html; charset=utf-8"})
    wait_s: float = 0.0


class Pages:
    """Answers a path with what `pages` has for it, else 404. `asked` keeps (path, host header)."""

    def __init__(
        self, pages: Mapping[str, Served | Callable[[], Served]], tls: ssl.SSLContext | None = None
    ) -> None:
        self.asked: list[tuple[str, str]] = []
        server = self

        class Meet(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, self.headers.get("host", "")))
                found = pages.get(self.path, Served(status=404))
                served = found if isinstance(found, Served) else found()
                time.sleep(served.wait_s)
                self.send_response(served.status)
                for name, value in {**served.headers, "content-length": str(len(served.content))}.items():
                    self.send_header(name, value)
                with suppress(ConnectionError):  # whoever asked may have left
                    self.end_headers()
                    self.wfile.write(served.content)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Meet)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def moved(to: str) -> Served:
    return Served(status=302, headers={"location": to})
