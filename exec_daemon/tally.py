"""Counts of what happens with every call: plain numbers, in Prometheus' shape when somebody scrapes them.

Its own counters take a lock each and look for their labels each time. These live on the event loop.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector


class Counts(Collector):
    """How often what was counted by these labels."""

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self._family = name, meaning, labels
        self._by: defaultdict[tuple[str, ...], int] = defaultdict(int)

    def one(self, *by: str) -> None:
        """Once more."""
        self._by[by] += 1

    def collect(self) -> Iterator[Metric]:
        """As Prometheus wants it."""
        name, meaning, labels = self._family
        family = CounterMetricFamily(name, meaning, labels=labels)
        for by, count in list(self._by.items()):
            family.add_metric(by, count)
        yield family


class Times(Collector):
    """How long what one label names took; `bounds_s` are upper bounds of the columns, the last is without."""

    def __init__(self, name: str, meaning: str, label: str, bounds_s: tuple[float, ...]) -> None:
        self._family = name, meaning, label
        self._bounds_s = bounds_s
        self._columns: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(bounds_s) + 1))
        self._sums_s: defaultdict[str, float] = defaultdict(float)

    def took(self, by: str, seconds: float) -> None:
        """Once more, and so long."""
        self._columns[by][bisect_left(self._bounds_s, seconds)] += 1
        self._sums_s[by] += seconds

    def collect(self) -> Iterator[Metric]:
        """As Prometheus wants it: each column counts those before it too."""
        name, meaning, label = self._family
        family = HistogramMetricFamily(name, meaning, labels=(label,))
        bounds = (*map(str, self._bounds_s), "+Inf")
        for by, columns in list(self._columns.items()):
            family.add_metric((by,), list(zip(bounds, accumulate(columns), strict=True)), self._sums_s[by])
        yield family
