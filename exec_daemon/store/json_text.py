"""JSON as a store keeps it: compact text that reads back as the same value, big integers included."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from messaging.json_out import compact

_write: Final = compact()


def dump(value: Any) -> str:
    """The text. Raises TypeError or ValueError for what is not JSON (NaN and infinities included)."""
    return _write(dict(value) if isinstance(value, Mapping) else value)


def load(text: str) -> Any:
    """The value; `text` came from `dump`."""
    return json.loads(text)


def kept(value: Any) -> Any:
    """The value as it comes back from a store: a copy of its own, tuples as lists."""
    return load(dump(value))
