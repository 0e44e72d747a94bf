"""The facts at the head of an envelope: which job this is, when, where, and how often it was tried (O-63)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from prompt_envelope.errors import EnvelopeError
from prompt_envelope.hints import plain

# Ids are of at most 128 characters (O 7.1) and are needed whole; a name may be cut.
_ID_BYTES: Final = 128
_NAME_BYTES: Final = 80


def _clipped(text: str, most_bytes: int) -> str:
    """`text` as one plain line of at most so many bytes of UTF-8; what was cut off shows as `…`."""
    line = plain(text, most_bytes).encode("utf-8", "replace")
    if len(line) <= most_bytes:
        return line.decode()
    return line[: most_bytes - len("…".encode())].decode("utf-8", "ignore") + "…"


def _moment(moment: datetime) -> str:
    """`2026-12-01T07:00:00+01:00 Europe/Berlin`: the offset for programs, the zone's name for readers."""
    zone = getattr(moment.tzinfo, "key", None) or moment.tzname() or ""
    return f"{moment.isoformat(timespec='seconds')} {_clipped(zone, _NAME_BYTES)}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeContext:
    """What an envelope says about its occasion. None means: there is none, or it is not known.

    Moments have a time zone. `attempt` counts from 1 to `attempts`; `worker` is the name of a tmux session.
    Names come from users and are not trusted. Raises `EnvelopeError` for a moment without a zone and for
    an impossible attempt.
    """

    now: datetime
    due: datetime | None = None
    job: str | None = None
    timer: str | None = None
    thread: str | None = None
    deadline: datetime | None = None
    attempt: int = 1
    attempts: int = 1
    worker: str | None = None

    def __post_init__(self) -> None:
        for name in ("now", "due", "deadline"):
            moment = getattr(self, name)
            if moment is not None and moment.utcoffset() is None:
                raise EnvelopeError(f"{name} needs a time zone")
        if not 1 <= self.attempt <= self.attempts:
            raise EnvelopeError(f"attempt {self.attempt} of {self.attempts} is impossible")

    def lines(self) -> Iterator[str]:
        """The header, a line for each fact."""
        for name, text, most in (
            ("job", self.job, _ID_BYTES),
            ("timer", self.timer, _NAME_BYTES),
            ("thread", self.thread, _ID_BYTES),
        ):
            if text is not None:
                yield f"{name}: {_clipped(text, most)}"
        for name, moment in (("due", self.due), ("now", self.now), ("deadline", self.deadline)):
            if moment is not None:
                yield f"{name}: {_moment(moment)}"
        yield f"attempt: {self.attempt}/{self.attempts}"
        session = None if self.worker is None else _clipped(shlex.quote(self.worker), _NAME_BYTES)
        yield f"worker: {'none' if session is None else f'tmux attach -t {session}'}"
