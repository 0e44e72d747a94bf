"""Sessions: what was said, kept so that the next container can go on with it.

One file a session, one JSON object a line. A turn is written when it has ended, so that a crash leaves whole
turns behind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from inband_agent.model import Turn
from messaging.container import FileNames
from messaging.strict_json import StrictJsonError, load_object

# A session's id becomes a file's name, and comes from the host.
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class NoSessionError(Exception):
    """There is no session of this id; going on with another one would hide that it is lost."""


class Transcript:
    """One session. `folder` is None for one that leaves nothing behind (T-19)."""

    def __init__(self, session: str, folder: Path | None, turns: Sequence[Turn] = ()) -> None:
        self.session = session
        self.turns = list(turns)
        self._folder = folder

    @classmethod
    def begin(cls, folder: Path | None, names: FileNames) -> Transcript:
        """A new session."""
        return cls(names.stamp(), folder)

    @classmethod
    def resume(cls, session: str, folder: Path, *, keep: bool) -> Transcript:
        """The session of this id; raises `NoSessionError`. `keep`: what is said from now on is kept too."""
        if not _ID.fullmatch(session):
            raise NoSessionError(f"{session[:64]!r} is no id of a session")
        try:
            lines = (folder / f"{session}.jsonl").read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise NoSessionError(f"there is no session {session}") from None
        return cls(session, folder if keep else None, [turn for line in lines if (turn := _turn(line))])

    def add(self, *turns: Turn) -> None:
        """Remember a turn of the user and the answer."""
        self.turns += turns
        if self._folder is None:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / f"{self.session}.jsonl").open("a", encoding="utf-8") as file:
            file.write("".join(f"{_line(turn)}\n" for turn in turns))


def _line(turn: Turn) -> str:
    return json.dumps({"role": turn.role, "content": turn.content})


def _turn(line: str) -> Turn | None:
    """A line that was torn off by a crash is passed over."""
    try:
        document = load_object(line)
        return Turn(str(document["role"]), str(document["content"]))
    except (StrictJsonError, KeyError):
        return None
