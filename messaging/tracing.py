"""Spans of traces, if somebody wants them; without that all of this does nothing and costs next to nothing.

Who puts the program together calls `trace_with` once. Elsewhere a stretch of work is
`with span("inband.call", {"inband.op": op}) as note:`, and `note("inband.job_id", job_id)` adds what is known
later. A span within another is its child; `traceparent()` goes into the request to another process (W3C Trace
Context, level 1), which gives it to its own first span as `parent`. Attributes are names and ids, never
arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol, TypeAlias

Attributes: TypeAlias = Mapping[str, str | None]
Note: TypeAlias = Callable[[str, str | None], None]

HEADER: Final = "traceparent"


class Spans(Protocol):
    """Where spans go."""

    def span(self, name: str, attributes: Attributes, parent: str | None) -> AbstractContextManager[Note]:
        """A span around what the context holds; an exception that leaves it marks it as failed."""
        ...

    def traceparent(self) -> str | None:
        """The present span for the header `traceparent`; None outside of any."""
        ...


def _nothing(_name: str, _value: str | None) -> None:
    pass


_NOWHERE: Final = nullcontext(_nothing)


class NoSpans:
    """Spans go nowhere."""

    def span(self, name: str, attributes: Attributes, parent: str | None) -> AbstractContextManager[Note]:
        return _NOWHERE

    def traceparent(self) -> str | None:
        return None


_active: Spans = NoSpans()


def trace_with(spans: Spans) -> None:
    """From now on spans of this process go there."""
    global _active  # noqa: PLW0603 - one process has one place for its spans, as it has one log
    _active = spans


def span(name: str, attributes: Attributes, parent: str | None = None) -> AbstractContextManager[Note]:
    """A span around what the context holds. `parent` is the header of a request that another process sent."""
    return _active.span(name, attributes, parent)


def traceparent() -> str | None:
    """The header for a request that is made within the present span."""
    return _active.traceparent()
