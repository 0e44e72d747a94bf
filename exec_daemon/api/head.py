"""The head of one request as the front door looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    # What was found out about it by its text alone, by who asked.
    known: dict[str, object] = field(default_factory=dict, repr=False, compare=False)

    @property
    def has_body(self) -> bool:
        """Is there content behind the head?"""
        return "transfer-encoding" in self.fields or self.fields.get("content-length", "0") != "0"

    def with_length(self, length: str) -> Head:
        """The same with a body of another length: nothing that is `known` depends on how long it is.

        It may depend on whether there is one, so this is for one body in the place of another.
        """
        fields = {**self.fields, "content-length": length}
        return Head(self.method, self.path, self.raw_path, self.query, fields, self.repeated, self.known)


class Heads:
    """The heads of one connection.

    Who keeps one open sends the same fields with each request, but for the length of the body: what was found
    out about them holds again.
    """

    __slots__ = ("_head", "_length", "_rest")

    def __init__(self) -> None:
        self._head: Head | None = None
        self._length: bytes | None = None
        self._rest: tuple[object, ...] = ()

    def of(self, scope: Scope) -> Head:
        """The head of the connection's next request."""
        length, headers = None, []
        for one in scope["headers"]:
            if one[0] == b"content-length" and length is None:
                length = one[1]
            else:
                headers.append(one)
        rest = (scope["method"], scope["raw_path"], scope["query_string"], length in (None, b"0"), headers)
        if self._head is None or rest != self._rest or (length is None) != (self._length is None):
            self._head = _taken_apart(scope)
        elif length is not None and length != self._length:
            self._head = self._head.with_length(length.decode("latin-1"))
        self._length, self._rest = length, rest
        return self._head


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
