"""JSON out: one way to write it, for HTTP and for `--list-ops`, so that both are equal in bytes (O-51)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from messaging import CallError, ErrorCode
from messaging.json_out import compact

_as_it_is: Final = compact()
_ascii: Final = compact(ascii_only=True)
# What each answer has beside its length and type.
_ALWAYS: Final = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


def dump(value: Any, *, ascii_only: bool = False) -> bytes:
    """Compact JSON in UTF-8, keys in the order that whoever made the value chose: readers see the same one.

    A lone surrogate, which UTF-8 cannot hold, becomes `?`.
    """
    text = _ascii(value) if ascii_only else _as_it_is(value)
    return text.encode("utf-8", "replace")


class Written(Response):
    """A response that no cache keeps, of a body that is written already."""

    def __init__(self, body: bytes, status: int = 200, media_type: str = "application/json") -> None:
        self.body = body
        self.status_code = status
        self.background = None
        length, kind = str(len(body)).encode(), media_type.encode("latin-1")
        self.raw_headers = [(b"content-length", length), (b"content-type", kind), *_ALWAYS]


def answer(
    body: Any,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Response:
    """A response that no cache keeps."""
    made = Written(dump(body), status, media_type)
    for name, value in (headers or {}).items():
        made.headers[name] = value
    return made


def error_headers(error: CallError) -> dict[str, str]:
    """`Retry-After` (RFC 9110 10.2.3, whole seconds), `WWW-Authenticate` (RFC 6750 section 3), `Location`."""
    if error.code is ErrorCode.UNAUTHENTICATED:
        return {"www-authenticate": 'Bearer realm="inband"'}
    if error.code is ErrorCode.APPROVAL_PENDING:
        return {"location": f"/jobs/{error.details['job_id']}"}
    wait_s = error.details.get("retry_after_s")
    return {} if wait_s is None else {"retry-after": str(math.ceil(wait_s))}
