"""Where a callback may go: an http(s) URL of the parent's, its host on the parent's list (M-30 to M-34).

This list is not the guard of pages that a tool fetches: a parent's callback lives at a private address
as a rule, which that guard refuses. Content never names a target; only the environment does.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from messaging.sinks.errors import TransportError

_SCHEMES = {"http": 80, "https": 443}


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
