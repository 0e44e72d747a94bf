"""Instants as text."""

from __future__ import annotations

from datetime import UTC, datetime

from messaging import moment


def iso(epoch_s: float) -> str:
    """Seconds since the epoch as UTC, ISO 8601 with milliseconds and `Z`."""
    return moment.iso(datetime.fromtimestamp(epoch_s, UTC))
