"""Fetching a URL that somebody else named, through the guard of M-48.

    guard = Guard(exceptions=frozenset({"wiki.corp:443"}))
    checked = await guard.check(url)            # raises `UrlBlocked`
    page = await fetch(checked, guard)          # raises `UrlBlocked`, `FetchFailed`

The address that was checked is the one that is connected to: a name that answers differently the second
time leads nowhere else. Each redirect is checked like the first URL.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx2

from messaging.errors import MessagingError
from messaging.url_guard import Target, UrlBlocked, check_addresses, check_url

# M-48. A page that moves further is lost, or leads us in a circle.
MOST_REDIRECTS: Final = 5
# The text of a long article is a tenth of this; what is larger is no page.
MOST_PAGE_BYTES: Final = 5 * 1024 * 1024
# All of it: name, connection, redirects and body. A person who waits gives up earlier.
FETCH_TIME_LIMIT_S: Final = 20.0

_HEADERS: Final = {"user-agent": "inband-fetch", "accept": "text/html, text/plain;q=0.9, */*;q=0.1"}

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class FetchFailed(MessagingError):
    """The URL may be fetched, but could not be."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A target, and the one address of it that may be connected to."""

    target: Target
    address: str


@dataclass(frozen=True, slots=True)
class Page:
    """What was fetched. `url` is where the last redirect led."""

    url: str
    content_type: str
    content: bytes


async def resolve(host: str, port: int) -> list[str]:
    """All addresses of `host`, as the system resolves it; raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """`exceptions` are `host:port` of private pages that the parent allows; content never adds to them.

    `tls` says which authorities are believed, the usual ones by default.
    """

    exceptions: frozenset[str] = frozenset()
    resolve: Resolve = field(default=resolve)
    tls: ssl.SSLContext | None = None

    async def check(self, url: str) -> Checked:
        """Raises `UrlBlocked`, also for a host that nobody knows: an unknown address is not judged good."""
        target = check_url(url)
        try:
            addresses = await self.resolve(target.host, target.port)
        except OSError:
            raise UrlBlocked(f"the host {target.host} cannot be resolved") from None
        if target.authority in self.exceptions and addresses:
            return Checked(target, addresses[0])
        return Checked(target, check_addresses(target, addresses))


async def fetch(
    checked: Checked,
    guard: Guard,
    *,
    most_bytes: int = MOST_PAGE_BYTES,
    time_limit_s: float = FETCH_TIME_LIMIT_S,
) -> Page:
    """GETs the page; follows up to five redirects. Raises `UrlBlocked` and `FetchFailed`."""
    try:
        async with asyncio.timeout(time_limit_s), _client(guard, time_limit_s) as client:
            for _ in range(MOST_REDIRECTS + 1):
                page, location = await _get(client, checked, most_bytes)
                if location is None:
                    return page
                checked = await guard.check(urljoin(checked.target.url, location))
    except TimeoutError:
        raise FetchFailed(f"{checked.target.host} gave no page within {time_limit_s:g} s") from None
    except httpx2.HTTPError as failure:
        raise FetchFailed(f"{checked.target.host}: {type(failure).__name__}") from None
    raise FetchFailed(f"more than {MOST_REDIRECTS} redirects")


def _client(guard: Guard, time_limit_s: float) -> httpx2.AsyncClient:
    """No proxy from the environment: it would connect to an address that it resolved itself."""
    return httpx2.AsyncClient(
        follow_redirects=False,
        trust_env=False,
        timeout=time_limit_s,
        headers=_HEADERS,
        verify=True if guard.tls is None else guard.tls,
    )


async def _get(client: httpx2.AsyncClient, checked: Checked, most_bytes: int) -> tuple[Page, str | None]:
    """The page, or an empty one and where it has moved to."""
    target = checked.target
    asked = client.stream(
        "GET",
        _pinned(checked),
        headers={"host": urlsplit(target.url).netloc},
        extensions={"sni_hostname": target.host},
    )
    async with asked as answer:
        if answer.has_redirect_location:
            return Page(target.url, "", b""), answer.headers["location"]
        if answer.status_code != 200:
            raise FetchFailed(f"{target.host} answered HTTP {answer.status_code}")
        content = await _content(answer, most_bytes)
        return Page(target.url, answer.headers.get("content-type", ""), content), None


def _pinned(checked: Checked) -> str:
    """The URL with the checked address in the place of the name, so that nothing is resolved again."""
    parts, address = urlsplit(checked.target.url), checked.address
    shown = f"[{address}]" if ":" in address else address
    return urlunsplit((parts.scheme, f"{shown}:{checked.target.port}", parts.path, parts.query, ""))


async def _content(answer: httpx2.Response, most_bytes: int) -> bytes:
    content = bytearray()
    async for block in answer.aiter_bytes():
        content += block
        if len(content) > most_bytes:
            raise FetchFailed(f"the page has more than {most_bytes} bytes")
    return bytes(content)
