"""logs: the last lines that a unit wrote, from the journal or from a log file of ours."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from exec_daemon.box.hygiene import clean_lines
from exec_daemon.box.ports import BoxContext
from exec_daemon.box.programs import Deadline, run
from exec_daemon.box.reading import Reading, absent

# O 7.1: the last 200 lines.
_LINES: Final = 200
TAIL_BYTES: Final = 256 * 1024
# No symbolic link is followed out of the directory, and a FIFO there does not make us wait.
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def logs(context: BoxContext, unit: str) -> Reading:
    """The journal's lines of `unit`, else those of our log file of that name."""
    for source, text in (
        ("journal", _journal(unit, Deadline(context.limit_s))),
        ("file", _file(context.log_dir, unit)),
    ):
        if text:
            lines = clean_lines(text, context.secrets, _LINES)
            return Reading({"unit": unit, "source": source, "lines": lines})
    return absent(f"neither the journal nor our log directory has lines of {unit}", unit=unit)


def _journal(unit: str, deadline: Deadline) -> str:
    argv = (
        "journalctl",
        f"--unit={unit}",
        f"--lines={_LINES}",
        "--output=short-iso",
        "--no-pager",
        "--quiet",
    )
    output = run(argv, deadline)
    return output.text if output is not None and output.ok else ""


def _file(directory: Path | None, unit: str) -> str:
    """The tail of `<unit>.log`, from the beginning of a line; `unit` has no slash in it."""
    return tail(directory / f"{unit.removesuffix('.log')}.log") if directory else ""


def tail(path: Path) -> str:
    """The end of a regular file, at most 256 KiB, from the beginning of a line; empty when there is none."""
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return ""
    try:
        status = os.fstat(descriptor)
        start = max(0, status.st_size - TAIL_BYTES)
        kept = os.pread(descriptor, TAIL_BYTES, start) if stat.S_ISREG(status.st_mode) else b""
    finally:
        os.close(descriptor)
    return (kept.partition(b"\n")[2] if start else kept).decode("utf-8", "replace")
