"""Names: of the files in an IPC directory, of groups, and of the places inside a container."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

# T-36: thirteen digits until the year 2286, so that the order of names is the order of arrival.
_FILE: Final = re.compile(r"[0-9]{13}-[0-9a-f]{6}\.json")
# T-54: a group's folder becomes a path, so it can be neither a dot nor hold a slash.
_FOLDER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
# `global` is everybody's memory, and the host keeps what failed under `errors` (T-39).
RESERVED_FOLDERS: Final = frozenset({"global", "errors"})

CLOSE: Final = "_close"
INPUT, MESSAGES, TASKS = "input", "messages", "tasks"
CURRENT_TASKS, AVAILABLE_GROUPS = "current_tasks.json", "available_groups.json"

# T-80: the same inside every container.
PATHS: Final = {
    "group": "/workspace/group",
    "global": "/workspace/global",
    "project": "/workspace/project",
    "extra": "/workspace/extra",
    "ipc": "/workspace/ipc",
    "state": "/home/agent/.talon",
    "mcp": "/workspace/group/.mcp.json",
}


def is_file_name(name: str) -> bool:
    """Is it a name as `FileNames` makes them?"""
    return _FILE.fullmatch(name) is not None


def is_folder(name: str) -> bool:
    """May a group's folder have this name?"""
    return _FOLDER.fullmatch(name) is not None and name not in RESERVED_FOLDERS


class FileNames:
    """Makes names that sort in the order in which they were made (T-36).

    `now_ms` is the wall clock in milliseconds; when it stands still or goes back, the last instant counts
    on. `chance(n)` gives n hexadecimal digits.
    """

    def __init__(self, now_ms: Callable[[], int], chance: Callable[[int], str]) -> None:
        self._now_ms = now_ms
        self._chance = chance
        self._last_ms = 0

    def next(self) -> str:
        """A name that no other call of this object gives."""
        return f"{self.stamp()}.json"

    def stamp(self) -> str:
        """The name without its ending."""
        self._last_ms = max(self._now_ms(), self._last_ms + 1)
        return f"{self._last_ms:013d}-{self._chance(6)}"
