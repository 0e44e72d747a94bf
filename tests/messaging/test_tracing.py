"""Spans go where the program says, and nowhere otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from messaging import tracing
from messaging.tracing import Attributes, NoSpans, Note, span, trace_with, traceparent

HEADER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Kept:
    """Spans are kept in a list."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, Attributes, str | None]] = []
        self.noted: list[tuple[str, str | None]] = []

    @contextmanager
    def span(self, name: str, attributes: Attributes, parent: str | None) -> Iterator[Note]:
        self.begun.append((name, attributes, parent))
        yield lambda key, value: self.noted.append((key, value))

    def traceparent(self) -> str | None:
        return HEADER


@pytest.fixture
def kept() -> Iterator[Kept]:
    before, spans = tracing._active, Kept()
    trace_with(spans)
    yield spans
    trace_with(before)


def test_a_span_and_what_is_noted_in_it_go_where_the_program_says(kept: Kept) -> None:
    with span("inband.call", {"inband.op": "dm.send"}, HEADER) as note:
        note("inband.job_id", "job-1")
    assert kept.begun == [("inband.call", {"inband.op": "dm.send"}, HEADER)]
    assert kept.noted == [("inband.job_id", "job-1")]
    assert traceparent() == HEADER


def test_without_a_place_for_them_spans_do_nothing() -> None:
    spans = NoSpans()
    with spans.span("inband.call", {}, None) as note:
        note("inband.job_id", "job-1")
    assert spans.traceparent() is None
