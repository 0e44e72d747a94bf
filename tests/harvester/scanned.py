"""What the tests of the scanner share: the case files, and scans in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from harvester.events import Directive, Event, Verdict
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner, orphan_end
from messaging.normalise import normalise

_CASES = Path(__file__).parents[1] / "cases"


class Case(NamedTuple):
    """A reply and what it makes. `verdict` is "" where the case says nothing about it."""

    id: str
    text: str
    expect: list[dict[str, Any]]
    verdict: str | None


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def cases(name: str) -> list[Case]:
    """The cases of a file of `tests/cases`."""
    return [
        Case(row["id"], row["text"], row["expect"], row.get("verdict", "")) for row in _rows(_CASES / name)
    ]


def replies() -> list[Case]:
    """The replies of `tests/cases/replies`, whole as agents wrote them."""
    folder = _CASES / "replies"
    return [
        Case(
            row["id"], (folder / f"{row['id']}.md").read_text(encoding="utf-8"), row["expect"], row["verdict"]
        )
        for row in _rows(folder / "expected.jsonl")
    ]


def scan(text: str, pieces: Iterable[str], policy: ScanPolicy | None = None) -> list[Event]:
    """As `scan_reply`, but `text` comes in `pieces`."""
    policy = policy or ScanPolicy()
    scanner = Scanner(policy)
    end = orphan_end(text, policy)
    if end is not None:
        scanner.begin_behind(end)
    events = [event for piece in pieces for event in scanner.feed(piece)]
    return events + scanner.close()


def calls(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Op and arguments of each directive, as they will be called."""
    normal = [normalise(event.op, event.args) for event in events if isinstance(event, Directive)]
    return [{"op": op, "args": args} for op, args in normal]


def verdict(events: Iterable[Event]) -> str | None:
    """The word of the verdict that counts."""
    return next((event.word for event in reversed(list(events)) if isinstance(event, Verdict)), None)
