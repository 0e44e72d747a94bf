"""Usage per agent over days: a plot of stacked bars, as numbers that a template draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 640
HEIGHT: Final = 180
_GAP: Final = 4
# As many as can be told apart; what uses least is one colour together.
COLOURS: Final = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """One agent's part of one day, in the units of the plot. `colour` counts from 0."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """`days` are dates with the place of their label; `most` is what the full height stands for."""

    bars: tuple[Bar, ...]
    days: tuple[tuple[str, float], ...]
    legend: tuple[str, ...]
    most: int


def plot(days: Sequence[tuple[str, Mapping[str, int]]]) -> Plot:
    """`days` are dates, oldest first, each with the tokens by agent."""
    totals: dict[str, int] = {}
    for _, used in days:
        for agent, tokens in used.items():
            totals[agent] = totals.get(agent, 0) + tokens
    legend = sorted(totals, key=lambda agent: (-totals[agent], agent))
    most = max((sum(used.values()) for _, used in days), default=0)
    step = WIDTH / max(1, len(days))
    bars = [
        Bar(at * step + _GAP / 2, y, step - _GAP, height, min(colour, COLOURS - 1), label)
        for at, (day, used) in enumerate(days)
        for y, height, colour, label in _stacked(day, used, legend, HEIGHT / max(1, most))
    ]
    labels = tuple((day, at * step + step / 2) for at, (day, _) in enumerate(days))
    return Plot(tuple(bars), labels, tuple(legend), most)


def _stacked(
    day: str, used: Mapping[str, int], legend: Sequence[str], unit: float
) -> Iterator[tuple[float, float, int, str]]:
    """From the bottom up: top, height, colour and label of each part."""
    top = float(HEIGHT)
    for colour, agent in enumerate(legend):
        tokens = used.get(agent, 0)
        if tokens:
            top -= tokens * unit
            yield top, tokens * unit, colour, f"{day} {agent}: {tokens:,} tokens"
