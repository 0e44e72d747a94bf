"""tmux: sessions, windows and panes, and the text of one pane.

Only a server that runs is asked: the socket must exist, since a client that is told a name instead makes
the socket's directory.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from exec_daemon.box.ports import BoxContext
from exec_daemon.box.programs import Deadline, Output, run
from exec_daemon.box.reading import Reading, absent
from exec_daemon.box.times import iso

# O 7.1: the last 200 lines of a worker's pane.
PANE_LINES: Final = 200
# A pane id, or session:window.pane as a store may have it; `=` is tmux's mark for an exact name.
_TARGET: Final = re.compile(
    r"%\d{1,9}|=?[A-Za-z0-9_][A-Za-z0-9_-]{0,127}(?::\d{1,6}(?:\.\d{1,6})?)?", re.ASCII
)


def _when(text: str) -> str | None:
    return iso(int(text)) if text.isdecimal() else None


def _flag(text: str) -> bool:
    return text == "1"


# Column, tmux's name for it, and how its text is read.
_COLUMNS: Final[tuple[tuple[str, str, Callable[[str], Any]], ...]] = (
    ("session", "session_name", str),
    ("window", "window_index", int),
    ("window_name", "window_name", str),
    ("pane", "pane_id", str),
    ("pid", "pane_pid", int),
    ("command", "pane_current_command", str),
    ("cwd", "pane_current_path", str),
    ("active", "pane_active", _flag),
    ("dead", "pane_dead", _flag),
    ("last_activity", "window_activity", _when),
)


def _socket(context: BoxContext) -> Path:
    folder = os.environ.get("TMUX_TMPDIR") or "/tmp"  # noqa: S108 - where tmux(1) has it
    return context.tmux_socket or Path(folder, f"tmux-{os.getuid()}", "default")


def _ask(context: BoxContext, *words: str) -> Output | None:
    """Ask the running server; None when there is none."""
    socket = _socket(context)
    return run(("tmux", "-S", str(socket), *words), Deadline(context.limit_s)) if socket.is_socket() else None


def tmux(context: BoxContext) -> Reading:
    """Every pane of every session."""
    # A directory's name may hold any separator that we could choose beforehand, so it is chosen now.
    separator = uuid.uuid4().hex
    row_format = separator.join(f"#{{{name}}}" for _, name, _ in _COLUMNS) + separator
    output = _ask(context, "list-panes", "-a", "-F", row_format)
    if output is None or not output.ok:
        return absent("no tmux server runs for this user")
    panes = list(_rows(output.text, separator))
    sessions = sorted({pane["session"] for pane in panes})
    return Reading({"sessions": sessions, "panes": panes})


def _rows(text: str, separator: str) -> Iterator[dict[str, Any]]:
    fields = text.split(separator)
    width = len(_COLUMNS)
    for start in range(0, len(fields) - width, width):
        row = fields[start : start + width]
        row[0] = row[0].removeprefix("\n")
        yield {name: read(field) for (name, _, read), field in zip(_COLUMNS, row, strict=True)}


def pane_text(context: BoxContext, target: str) -> str | None:
    """The last lines of a pane without attributes; None when there is no such pane."""
    if not _TARGET.fullmatch(target):
        return None
    output = _ask(context, "capture-pane", "-p", "-J", "-S", f"-{PANE_LINES}", "-t", target)
    return output.text if output is not None and output.ok else None
