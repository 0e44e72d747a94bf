"""A web server on this machine whose pages a test chooses."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.serving import Serving, Silent


@dataclass(frozen=True, slots=True)
class Served:
    """One answer; `wait_s` comes before it."""

    content: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/html; charset=utf-8"})
    wait_s: float = 0.0


class Pages(Serving):
    """Answers a path with what `pages` has for it, else 404. `asked` keeps (path, host header)."""

    def __init__(
        self, pages: Mapping[str, Served | Callable[[], Served]], tls: ssl.SSLContext | None = None
    ) -> None:
        self.asked: list[tuple[str, str]] = []
        server = self

        class Meet(Silent, BaseHTTPRequestHandler):
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

        super().__init__(Meet, tls)

    @property
    def url(self) -> str:
        return f"http://{self.authority}"


def moved(to: str) -> Served:
    return Served(status=302, headers={"location": to})
