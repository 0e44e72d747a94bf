"""Which URLs that somebody else named may be fetched (M-48). Pure; `messaging.guarded_fetch` does the I/O.

A page that names an address of our own network could read what only we can reach. So the scheme and the
form of the host are judged first, and then every address that the host resolves to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, urlsplit

from messaging.errors import MessagingError

_PORTS: Final = {"http": 80, "https": 443}

BLOCKED_V4: Final = tuple(
    ip_network(text)
    for text in """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    """.split()
)
# The only range of IPv6 that is given out for hosts. ::1, ::, fe80::, fec0::, fc00::, ff00:: and
# IPv4-mapped addresses lie outside.
_UNICAST: Final = IPv6Network("2000::/3")
# RFC 6052: an IPv4 address in the last 32 bits, judged as that.
_NAT64: Final = IPv6Network("64:ff9b::/96")
# Inside the range: protocol assignments with Teredo among them, documentation, and 6to4, which can each
# hide an IPv4 address or lead nowhere.
BLOCKED_V6: Final = tuple(
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")
# `127.1`, `0x7f000001`, `2130706433`: numbers that a resolver takes for an address and a reader does not.
_NUMERIC: Final = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)\.?", re.IGNORECASE)


class UrlBlocked(MessagingError):
    """The URL may not be fetched; the code of the failed job is `blocked_url` (M-14)."""

    code: Final = "blocked_url"


@dataclass(frozen=True, slots=True)
class Target:
    """A URL whose form is good. `host` is in ASCII and lower case, without brackets."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """`host:port`, an IPv6 address in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def check_url(url: str) -> Target:
    """The target that `url` names, its addresses still to be judged; raises `UrlBlocked`."""
    parts = _parts(url)
    host = _ascii(parts.hostname or "")
    if not _is_address(host) and (_NUMERIC.fullmatch(host) or not _NAME.fullmatch(host)):
        raise UrlBlocked(f"the host {host[:100]} is neither a name nor an address")
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    return Target(url, parts.scheme, host, port)


def check_addresses(target: Target, addresses: Sequence[str]) -> str:
    """The address to connect to, if every one of `addresses` may be; raises `UrlBlocked`."""
    if not addresses:
        raise UrlBlocked(f"the host {target.host} has no address")
    for address in addresses:
        reason = why_blocked(address)
        if reason is not None:
            raise UrlBlocked(f"the host {target.host} is {address}, which is {reason}")
    return addresses[0]


def why_blocked(address: str) -> str | None:
    """Why nobody may fetch from `address`; None for a public one. What has no known form is blocked."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "no address"
    return _blocked_v6(parsed) if isinstance(parsed, IPv6Address) else _blocked_v4(parsed)


def _blocked_v4(address: IPv4Address) -> str | None:
    network = next((network for network in BLOCKED_V4 if address in network), None)
    return None if network is None else f"in {network}"


def _blocked_v6(address: IPv6Address) -> str | None:
    if address.scope_id is not None:
        return "of one link only"
    if address in _NAT64:
        return _blocked_v4(IPv4Address(int(address) & 0xFFFFFFFF))
    if address not in _UNICAST:
        return "no public address"
    network = next((network for network in BLOCKED_V6 if address in network), None)
    return None if network is None else f"in {network}"


def _parts(url: str) -> SplitResult:
    # Blanks, backslashes and control characters: parsers differ in what they take them for.
    if any(character <= " " or character in "\\\x7f" for character in url):
        raise UrlBlocked("a URL has no blanks, backslashes or control characters")
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for one that is no port
    except ValueError:
        raise UrlBlocked("this is no URL") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise UrlBlocked("only http:// and https:// URLs with a host may be fetched")
    if parts.username is not None or parts.password is not None:
        raise UrlBlocked("a URL with a user name or password is not fetched")
    return parts


def _ascii(host: str) -> str:
    try:
        return host.encode("ascii" if host.isascii() else "idna").decode().lower()
    except UnicodeError:
        raise UrlBlocked("the host is no name") from None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
