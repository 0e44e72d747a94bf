"""What the daemon counts for `GET /metrics`, in the text format of Prometheus.

A label takes few values: ops of the registry, codes of the error table, rows of the API. What a client made
up is counted under one word, so that nobody can fill the memory with names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from messaging import ERRORS, Result

# From a read that answers from /proc to a program that may take its 20 s (O-32).
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_OTHER: Final = "other"
_OK: Final = "OK"
# GRAMMAR 1 and 9.
_FORMS: Final = frozenset(("F1", "F2", "F3", "F4", "F5", "F6", "native"))
_OUTCOMES: Final = frozenset((_OK, "not_called", *map(str, ERRORS)))
_MOST_LOOKED_FOR: Final = 1024
# Harvesters know some thirty.
_MOST_REASONS: Final = 64


class Metrics:
    """Counters of one daemon; all start at 0 with it. Cheap: a count costs about a microsecond."""

    def __init__(self, ops: frozenset[str]) -> None:
        self._ops = ops
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._calls = self._counter("inband_calls", "Calls answered, by op and code.", "op", "code")
        self._requests = self._counter("inband_requests", "Requests answered.", "method", "path", "status")
        self._directives = self._counter(
            "inband_directives", "Directives that harvesters found.", "form", "outcome"
        )
        self._skipped = self._counter(
            "inband_skipped", "Places that look like directives and do not run.", "reason"
        )
        self._seconds = Histogram(
            "inband_call_seconds",
            "Time from a call's begin to its end.",
            ("op",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        # A counter takes longer to look for what it counts by than to count.
        self._calls_of = lru_cache(_MOST_LOOKED_FOR)(self._calls.labels)
        self._requests_of = lru_cache(_MOST_LOOKED_FOR)(self._requests.labels)
        self._seconds_of = lru_cache(_MOST_LOOKED_FOR)(self._seconds.labels)
        self._gauges: dict[str, Gauge] = {}
        self._reasons: set[str] = set()

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(name, meaning, labels, registry=self.registry)

    def called(self, result: Result) -> None:
        """One call was answered."""
        op = result.op if result.op in self._ops else _OTHER
        self._calls_of(op, _OK if result.error is None else str(result.error.code)).inc()
        if result.job_id and not result.replayed:
            self._seconds_of(op).observe(result.duration_ms / 1000)

    def requested(self, method: str, row: str | None, status: int) -> None:
        """One request was answered; `row` is the path of its row, None where there is none."""
        self._requests_of(method if row else _OTHER, row or _OTHER, str(status)).inc()

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
