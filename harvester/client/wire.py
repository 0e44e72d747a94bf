"""One HTTPS request to the daemon: sent, sent again where that is safe, and every failure given its type.

Safe means that a repetition cannot happen twice: reads, and writes that carry an idempotency key. Anything
else is sent once; only when no connection came about can it not have arrived.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from harvester.client.failures import below_http, no_object, refusal
from harvester.client.retry import RetryPolicy
from harvester.client.tls import ClientCertificate, context
from harvester.errors import ProtocolError, Unauthenticated, Unavailable
from messaging.ipc.socket_address import MOST_PATH_BYTES, short_address

# What stands before the path of a unix socket in the place of a URL.
UNIX = "unix:"
# The daemon is on this machine or in the same rack; a connection that takes longer is none.
CONNECT_S = 5.0
# Answers that say "later": RATE_LIMITED, BUSY and UNAVAILABLE.
_LATER = frozenset({429, 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked. `repeatable`: sending it twice does what sending it once does."""

    method: str
    path: str
    repeatable: bool
    body: Mapping[str, Any] | None = None
    query: Mapping[str, str | float] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    read_s: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON object, the status that it came with, and how long to wait before asking again."""

    status: int
    body: dict[str, Any]
    retry_after_s: float | None = None

    @property
    def later(self) -> bool:
        """May the same request get another answer? A replayed one is stored and stays as it is."""
        return self.status in _LATER and not self.body.get("replayed")


class Wire:
    """Connections to one daemon, kept alive and shared between threads. Close it after use."""

    def __init__(
        self,
        base_url: str,
        token: str | None,
        ca_file: str | Path,
        *,
        timeout_s: float,
        retry: RetryPolicy,
        certificate: ClientCertificate | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.url = base_url.rstrip("/")
        self.retry = retry
        self._ca_file = str(ca_file)
        self._shown = str(certificate.file) if certificate else ""
        self._timeout_s = timeout_s
        self._open = ExitStack()  # what the transport needs as long as it lives
        # trust_env off: a proxy variable must not carry the token elsewhere. Redirects stay unfollowed
        # for the same reason.
        self._http = httpx2.Client(
            base_url="http://localhost" if is_unix(self.url) else self.url,
            headers={} if token is None else {"Authorization": f"Bearer {_header_safe(token, self.url)}"},
            transport=transport or _transport(self.url, ca_file, certificate, self._open),
            trust_env=False,
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()
        self._open.close()

    def ask(self, request: Request, retry: RetryPolicy | None = None) -> Answer:
        """The answer, whatever its status; raises `Unavailable`, `BadCertificate` or `ProtocolError`."""
        delays = (retry or self.retry).delays()
        while True:
            try:
                answer = self._read(self._send(request))
            except Unavailable as failure:
                unsent = isinstance(failure.__cause__, httpx2.ConnectError)
                if not ((request.repeatable or unsent) and delays.again()):
                    raise
                continue
            if not (answer.later and request.repeatable and delays.again(answer.retry_after_s)):
                return answer

    def want(self, request: Request) -> Answer:
        """A successful answer; raises `Refused` or `Unauthenticated` for any other."""
        answer = self.ask(request)
        if answer.status >= 400:
            raise refusal(answer.body, self.url)
        return answer

    def get(
        self, path: str, query: Mapping[str, str | float] | None = None, *, read_s: float | None = None
    ) -> dict[str, Any]:
        """The body of a successful GET; raises as `want`."""
        request = Request(method="GET", path=path, repeatable=True, query=query or {}, read_s=read_s)
        return self.want(request).body

    def post(self, path: str, body: Mapping[str, Any], *, repeatable: bool = False) -> dict[str, Any]:
        """The body of a successful POST; raises as `want`."""
        return self.want(Request(method="POST", path=path, repeatable=repeatable, body=body)).body

    @contextmanager
    def reading(self, path: str) -> Iterator[None]:
        """Whatever does not read as the API promises becomes `ProtocolError`."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError) as broken:
            problem = f"{self.url}{path} answered what this version does not understand ({broken!r})"
            raise ProtocolError(problem, url=self.url) from broken

    def open(self, request: Request) -> httpx2.Response:
        """The open response of a stream, to be closed by the caller; raises as `want`, never repeats."""
        response = self._send(request, stream=True)
        if response.status_code < 400:
            return response
        with closing(response):
            response.read()
            raise refusal(self._read(response).body, self.url)

    def typed(self, failure: httpx2.RequestError) -> Exception:
        """Our exception for a failure below HTTP."""
        return below_http(failure, url=self.url, ca_file=self._ca_file, shown=self._shown)

    def _send(self, request: Request, *, stream: bool = False) -> httpx2.Response:
        try:
            return self._http.send(self._build(request), stream=stream)
        except httpx2.RequestError as failure:
            raise self.typed(failure) from failure

    def _build(self, request: Request) -> httpx2.Request:
        return self._http.build_request(
            request.method,
            request.path,
            params={name: _written(value) for name, value in request.query.items()} or None,
            headers=dict(request.headers),
            json=request.body,
            timeout=httpx2.Timeout(request.read_s or self._timeout_s, connect=CONNECT_S),
        )

    def _read(self, response: httpx2.Response) -> Answer:
        try:
            body = json.loads(response.content)
        except ValueError:
            body = None
        if not isinstance(body, dict) or 300 <= response.status_code < 400:
            raise no_object(response.status_code, self.url)
        return Answer(response.status_code, body, _retry_after_s(response))


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was not left out."""
    return {key: value for key, value in values.items() if value is not None}


def is_unix(url: str) -> bool:
    """Is it the path of a unix socket and no address of a network?"""
    return url.startswith(UNIX)


def _transport(
    url: str, ca_file: str | Path, certificate: ClientCertificate | None, keep: ExitStack
) -> httpx2.HTTPTransport:
    if is_unix(url):
        return httpx2.HTTPTransport(uds=_address(url.removeprefix(UNIX), keep), trust_env=False)
    return httpx2.HTTPTransport(verify=context(ca_file, url, certificate), trust_env=False)


def _address(path: str, keep: ExitStack) -> str:
    """A path that fits is looked up with each connection: a daemon's folder may be made anew with it."""
    if len(os.fsencode(path)) > MOST_PATH_BYTES:
        with suppress(OSError):  # there is no such folder: whoever connects is told so
            return keep.enter_context(short_address(Path(path)))
    return path


def _written(value: str | float) -> str | float:
    """A number of seconds in digits: a very small one has an exponent otherwise, which no number may have."""
    return f"{value:.3f}" if isinstance(value, float) else value


def _header_safe(token: str, url: str) -> str:
    """Anything else would come back in the HTTP library's complaint, token and all."""
    if not token or not all("!" <= character <= "~" for character in token):
        raise Unauthenticated("the token is empty or damaged; make another: box token create", url=url)
    return token


def _retry_after_s(response: httpx2.Response) -> float | None:
    """RFC 9110 section 10.2.3, in seconds; the form with a date is not ours and reads as absent."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None
