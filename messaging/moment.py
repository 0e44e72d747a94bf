"""How a moment is written wherever it crosses a boundary: one shape, so that moments compare as texts."""

from __future__ import annotations

from datetime import UTC, datetime


def iso(moment: datetime) -> str:
    """`2026-12-01T09:00:00.000Z`: UTC, ISO 8601, milliseconds (M-03). `moment` has a time zone."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
