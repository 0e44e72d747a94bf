"""The head of one request as the front door looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.types import Scope

from messaging.quick import quickly_made

# In a request's scope, once somebody has asked for it.
HEAD: Final = "inband.head"

# A second one could be read by us and the first one by whoever looked before us (a proxy).
SINGLE: Final = frozenset(
    "host origin authorization idempotency-key content-type content-length content-encoding "
    "transfer-encoding last-event-id x-signature".split()
)


@quickly_made
@dataclass(frozen=True, slots=True)
class Head:
    """Method, path and header fields of one request. `repeated` is a field of `SINGLE` that stands twice."""

    method: str
    path: str
    raw_path: bytes
    query: bytes
    fields: Mapping[str, str]
    repeated: str | None = None

    @property
    def has_body(self) -> bool:
        """Is there content behind the head?"""
        return "transfer-encoding" in self.fields or self.fields.get("content-length", "0") != "0"


def head_of(scope: Scope) -> Head:
    """The head of an ASGI request, taken apart once."""
    if HEAD not in scope:
        scope[HEAD] = _taken_apart(scope)
    head: Head = scope[HEAD]
    return head


def _taken_apart(scope: Scope) -> Head:
    fields: dict[str, str] = {}
    repeated = None
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1")
        if name in fields and name in SINGLE:
            repeated = name
        fields[name] = raw_value.decode("latin-1")
    return Head(
        scope["method"], scope["path"], scope.get("raw_path") or b"", scope["query_string"], fields, repeated
    )
