"""What may stand in `daemon.names` and `daemon.origins`."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45}")
# RFC 6454 6.2: a scheme, a host, and a port where it is not the scheme's own; nothing behind it.
_ORIGIN: Final = re.compile(r"https?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


def names_problem(names: list[str]) -> str | None:
    """What is wrong with one of them, None when nothing is."""
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    return None if wrong is None else f"{wrong!r} is no host name or address; write it without scheme or port"


def origins_problem(origins: list[str]) -> str | None:
    """What is wrong with one of them, None when nothing is."""
    wrong = next((origin for origin in origins if not _ORIGIN.fullmatch(origin)), None)
    return None if wrong is None else f"{wrong!r} is no origin; write https://HOST:PORT, without a path"
