"""What a read found, before it is made safe and small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Reading:
    """`data` is JSON; strings in it may be hostile. `notes` are for a reader; `truncated`: there was more."""

    data: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    truncated: bool = False


def absent(why: str, **more: Any) -> Reading:
    """The subsystem is not on this machine: an answer, not an error (O-45)."""
    return Reading({"available": False} | more, (why,))


def row(facts: Any) -> dict[str, Any]:
    """The fields of a frozen value, not copied."""
    return {each.name: getattr(facts, each.name) for each in fields(facts)}
