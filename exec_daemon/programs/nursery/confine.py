"""What a spawner gives up before it runs anything: for itself, and for all that it will ever start."""

from __future__ import annotations

import os
from typing import Any


class Refused(Exception):
    """A layer that the profile asks for cannot be had."""


def confine(profile: dict[str, Any]) -> dict[str, str]:
    """Applies `profile`; the layers that hold now, each with what it does. Raises `Refused` or OSError."""
    os.umask(0o077)
    return {}
