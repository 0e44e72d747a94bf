"""How a unix socket is addressed whose path is longer than the 107 bytes that `sun_path` holds (unix(7))."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# `sun_path` without the NUL at its end.
MOST_PATH_BYTES: Final = 107


@contextmanager
def short_address(path: Path) -> Iterator[str]:
    """The same file by way of its open directory, for `bind` or `connect`. Raises OSError."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
