"""Calls that have ended and are in the file, by identity and call id: what is sent twice is sent again soon.

The file knows all of them; a look there takes some 20 us, and here one. Lives on the event loop. Nothing but
retention takes an ended job away: it says so by `clear`.
"""

from __future__ import annotations

from typing import Final

from exec_daemon.store import once
from exec_daemon.store.json_text import dump
from messaging import JobState

# 4 Mi characters at most, which are kept as values too: of larger calls and results the file is asked.
MOST_CALLS: Final = 1024
MOST_CHARS_EACH: Final = 4096


class Lately:
    """The last `MOST_CALLS` that were added and are small."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], once.Entry] = {}

    def add(self, entry: once.Entry) -> None:
        """The job is durable as it stands; kept here if it has ended and stands for its call."""
        job = entry.job
        if job.state is JobState.RUNNING or not once.holds_call(job) or not _is_small(entry):
            return
        if len(self._entries) >= MOST_CALLS:
            del self._entries[next(iter(self._entries))]
        self._entries[job.identity, job.call_id] = entry

    def of_call(self, identity: str, call_id: str) -> once.Entry | None:
        """The job that stands for the call, if it is one of these."""
        return self._entries.get((identity, call_id))

    def clear(self) -> None:
        """Any of them may have gone."""
        self._entries.clear()


def _is_small(entry: once.Entry) -> bool:
    result = dump(entry.job.result) if entry.text is None else entry.text
    return len(dump(entry.job.args)) + len(result) <= MOST_CHARS_EACH
