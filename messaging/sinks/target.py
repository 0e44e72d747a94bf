"""Where events may go over a network: a callback's URL (M-30 to M-34), a broker's URL and subject (M-69).

A callback is an http(s) URL of the parent's, its host on the parent's list.

This list is not the guard of pages that a tool fetches: a parent's callback lives at a private address
as a rule, which that guard refuses. Content never names a target; only the environment does.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from messaging.sinks.errors import TransportError

_SCHEMES: Final = {"http": 80, "https": 443}
_BROKERS: Final = ("nats", "tls", "ws", "wss")
# A subject that is published to: words with dots between them, none of them a wildcard.
_SUBJECT: Final = re.compile(r"[\w$-]+(?:\.[\w$-]+)*", re.ASCII)
_STREAM: Final = re.compile(r"[\w-]{1,255}", re.ASCII)


def allowed_hosts(text: str) -> frozenset[str]:
    """The hosts of a comma list, trimmed and in lower case; empty for no list."""
    return frozenset(part.strip().lower() for part in text.split(",") if part.strip())


def check_target(url: str, hosts: frozenset[str], *, variable: str = "BOX_CALLBACK_URL") -> str:
    """`url`, if events may go there; raises `TransportError` that names `variable`.

    `hosts` holds `host` (any port) and `host:port` entries, compared exactly; empty allows every host.
    """
    parts = _parts(url, variable)
    if parts.username is not None or parts.password is not None:
        raise TransportError(variable, "a URL with a user name or password is not taken")
    host = parts.hostname or ""
    port = parts.port or _SCHEMES[parts.scheme]
    shown = f"[{host}]" if ":" in host else host
    if hosts and not hosts & {host, shown, f"{shown}:{port}"}:
        allowed = ", ".join(sorted(hosts))
        raise TransportError(variable, f"the host {shown}:{port} is not among the allowed ones: {allowed}")
    return url


def _parts(url: str, variable: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for one that is no port
    except ValueError:
        raise TransportError(variable, "this is no URL") from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise TransportError(variable, "only http:// and https:// URLs with a host are taken")
    if any(character <= " " or character in "\\\x7f" for character in url):
        raise TransportError(variable, "blanks, backslashes and control characters are not taken")
    return parts


def check_server(url: str, variable: str) -> str:
    """`url`, if a NATS client can connect to it; raises `TransportError`. `HOST:PORT` alone is one too."""
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        sound = parts.scheme in _BROKERS and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or any(character <= " " for character in url):
        raise TransportError(variable, "must be the URL of one server: nats://HOST:PORT")
    return url


def check_names(subject: str, subject_variable: str, stream: str, stream_variable: str) -> None:
    """Raises `TransportError` for names that the broker would take for something else."""
    if subject and not _SUBJECT.fullmatch(subject):
        raise TransportError(subject_variable, "must be words of A-Z a-z 0-9 _ - $ with dots between them")
    if not _STREAM.fullmatch(stream):
        raise TransportError(stream_variable, "must be of A-Z a-z 0-9 _ and -")
