"""What the daemon counts for `GET /metrics`, in the text format of Prometheus.

A label takes few values: ops of the registry, codes of the error table, rows of the API. What a client made
up is counted under one word, so that nobody can fill the memory with names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, generate_latest

from exec_daemon.tally import Counts, Times
from messaging import ERRORS, Result

# From a read that answers from /proc to a program that may take its 20 s (O-32).
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_OTHER: Final = "other"
_OK: Final = "OK"
# GRAMMAR 1 and 9.
_FORMS: Final = frozenset(("F1", "F2", "F3", "F4", "F5", "F6", "native"))
_OUTCOMES: Final = frozenset((_OK, "not_called", *map(str, ERRORS)))
# Harvesters know some thirty.
_MOST_REASONS: Final = 64


class Metrics:
    """Counters of one daemon; all start at 0 with it. What each request counts is cheap (`tally`)."""

    def __init__(self, ops: frozenset[str]) -> None:
        self._ops = ops
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._calls = Counts("inband_calls", "Calls answered, by op and code.", "op", "code")
        self._requests = Counts("inband_requests", "Requests answered.", "method", "path", "status")
        self._seconds = Times("inband_call_seconds", "Time from a call's begin to its end.", "op", _SECONDS)
        for counted in (self._calls, self._requests, self._seconds):
            self.registry.register(counted)
        self._directives = self._counter(
            "inband_directives", "Directives that harvesters found.", "form", "outcome"
        )
        self._skipped = self._counter(
            "inband_skipped", "Places that look like directives and do not run.", "reason"
        )
        self._gauges: dict[str, Gauge] = {}
        self._reasons: set[str] = set()

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(name, meaning, labels, registry=self.registry)

    def called(self, result: Result) -> None:
        """One call was answered."""
        op = result.op if result.op in self._ops else _OTHER
        self._calls.one(op, _OK if result.error is None else str(result.error.code))
        if result.job_id and not result.replayed:
            self._seconds.took(op, result.duration_ms / 1000)

    def requested(self, method: str, row: str | None, status: int) -> None:
        """One request was answered; `row` is the path of its row, None where there is none."""
        self._requests.one(method if row else _OTHER, row or _OTHER, str(status))

    def harvested(self, form: str, outcome: str, count: int) -> None:
        """A harvester found so many directives of a form that ended so."""
        self._directives.labels(
            form if form in _FORMS else _OTHER, outcome if outcome in _OUTCOMES else _OTHER
        ).inc(count)

    def skipped(self, reason: str, count: int) -> None:
        """A harvester passed over so many places for this reason."""
        if len(self._reasons) < _MOST_REASONS:
            self._reasons.add(reason)
        self._skipped.labels(reason if reason in self._reasons else _OTHER).inc(count)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> bytes:
        """All counts, with `gauges`: what they mean and their present value, by name."""
        for name, (meaning, value) in gauges.items():
            if name not in self._gauges:
                self._gauges[name] = Gauge(name, meaning, registry=self.registry)
            self._gauges[name].set(value)
        return generate_latest(self.registry)
