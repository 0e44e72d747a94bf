"""What the head of any request must look like, asked before anybody asks who sends it.

A browser on this machine runs the pages of strangers, and they can send requests here: to a name that they
made resolve to us (DNS rebinding), or across sites with a form. Both end at `Host`, `Origin` and
`Content-Type`, which a page cannot choose freely. Nothing is believed of `Forwarded` or `X-Forwarded-*`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from exec_daemon.api.head import Head
from exec_daemon.settings import DaemonSettings
from messaging import ErrorCode

# What clients on this machine call it.
LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")
JSON: Final = ("application/json",)
JSON_LINES: Final = ("application/json", "application/x-ndjson", "application/jsonl")
# Paths that take another body than JSON.
TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "/rpc": JSON_LINES,
    "/sign-in": ("application/x-www-form-urlencoded",),
}
# Below it each body is signed, which no page of a stranger can do, and senders are not all ours.
SIGNED: Final = "/callback/"

_AUTHORITY: Final = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,255}))(?::[0-9]{1,5})?")
# Encoded slashes and control codes: what one program takes for a part of a name, the next takes for a path.
_UNCLEAR_PATH: Final = re.compile(rb"%(?:2f|5c|[01][0-9a-f]|7f)|[\x00-\x20\x7f-\xff\\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Allowed:
    """`names` are what clients may call this daemon, `origins` whose pages may ask beside our own."""

    names: frozenset[str]
    origins: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refusal:
    """How the request is turned away."""

    status: int
    message: str
    code: ErrorCode = ErrorCode.INVALID_REQUEST


def allowed(settings: DaemonSettings) -> Allowed:
    """What the settings say, and the names of this machine."""
    names = frozenset(name.lower() for name in (*LOCAL_NAMES, settings.host, *settings.names))
    return Allowed(names, frozenset(origin.lower() for origin in settings.origins))


def _repeated(head: Head, _: Allowed) -> Refusal | None:
    return Refusal(400, f"{head.repeated} stands twice; send it once.") if head.repeated else None


def _host(head: Head, allowed: Allowed) -> Refusal | None:
    """RFC 9112 3.2: one `Host`, and one that is ours."""
    written = head.fields.get("host", "").lower()
    name = _name_in(written)
    if name is None:
        return Refusal(400, "Send one Host field with the name or address of this daemon.")
    if name in allowed.names:
        return None
    text = f"This daemon is not called {written[:128]!r}. If it is, add that name to daemon.names."
    return Refusal(421, text)


@lru_cache(maxsize=256)
def _name_in(authority: str) -> str | None:
    parts = _AUTHORITY.fullmatch(authority)
    return None if parts is None else parts[1] or parts[2]


def _origin(head: Head, allowed: Allowed) -> Refusal | None:
    """Our own page's origin is the host that it was asked from; others have to be on the list."""
    origin = head.fields.get("origin")
    if origin is None:
        return _fetched_across_sites(head)
    if origin.lower() in {f"https://{head.fields['host'].lower()}", *allowed.origins}:
        return None
    text = f"Pages of {origin[:128]!r} may not ask this daemon. daemon.origins lists those that may."
    return Refusal(403, text, ErrorCode.FORBIDDEN)


def _fetched_across_sites(head: Head) -> Refusal | None:
    """Browsers that leave out `Origin` say it here (W3C Fetch Metadata). To follow a link is no harm."""
    by = head.fields.get("sec-fetch-site", "none")
    a_link = head.method == "GET" and head.fields.get("sec-fetch-mode") == "navigate"
    if by in ("none", "same-origin") or a_link:
        return None
    return Refusal(403, "Pages of other sites may not ask this daemon.", ErrorCode.FORBIDDEN)


def _path(head: Head, _: Allowed) -> Refusal | None:
    if not _UNCLEAR_PATH.search(head.raw_path) and "\ufffd" not in head.path:
        return None
    text = "Nothing has an encoded slash, a control code or bytes that are not UTF-8 in its path."
    return Refusal(404, text, ErrorCode.NOT_FOUND)


def _query(head: Head, _: Allowed) -> Refusal | None:
    if not head.query:
        return None
    names = [unquote(part.partition("=")[0]) for part in head.query.decode("latin-1").split("&") if part]
    twice = len(names) != len(set(names))
    return Refusal(400, "A parameter stands twice in the query; send it once.") if twice else None


def _content_type(head: Head, _: Allowed) -> Refusal | None:
    """A form of a strange page cannot send this type without being asked first, which we never answer."""
    if not head.has_body or head.path.startswith(SIGNED):
        return None
    takes = TAKES.get(head.path, JSON)
    if _type_in(head.fields.get("content-type", "")) in takes:
        return None
    text = f"Send the body as {takes[0]}: -H 'Content-Type: {takes[0]}', or curl --json in place of -d."
    return Refusal(415, text)


@lru_cache(maxsize=256)
def _type_in(written: str) -> str | None:
    """The type of a body in UTF-8; None for another charset."""
    essence, _, parameters = written.lower().partition(";")
    charset = parameters.strip().replace('"', "")
    return essence.strip() if charset in ("", "charset=utf-8") else None


def _content_encoding(head: Head, _: Allowed) -> Refusal | None:
    if head.fields.get("content-encoding", "identity").lower() == "identity":
        return None
    return Refusal(415, "Send the body as it is: no Content-Encoding is read.")


# Asked in this order; the first that objects decides.
RULES: Final[tuple[Callable[[Head, Allowed], Refusal | None], ...]] = (
    _repeated,
    _host,
    _origin,
    _path,
    _query,
    _content_encoding,
    _content_type,
)


# Under this a head knows what let it in: the rules look at nothing but the two.
_PASSED: Final = "gate"


def refusal(head: Head, allowed: Allowed) -> Refusal | None:
    """Why this request is turned away, whoever sends it; None when it may come in."""
    if head.known.get(_PASSED) is allowed:
        return None
    for rule in RULES:
        if (found := rule(head, allowed)) is not None:
            return found
    head.known[_PASSED] = allowed
    return None
