"""Instants as text."""

from __future__ import annotations

from datetime import UTC, datetime


def iso(epoch_s: float) -> str:
    """Seconds since the epoch as UTC, ISO 8601 with milliseconds and `Z`."""
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
