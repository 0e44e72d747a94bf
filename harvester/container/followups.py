"""Follow-ups: what the host says to an agent, each once, and again only if no turn has answered it.

    stage ─▶ ledger ─▶ publish ─▶ the agent takes it ─▶ a frame names it

A crash between any two of them loses and repeats nothing: what is in the ledger is published if its staged
file is still there, and has been published if it is not.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from messaging.container import FileNames, FollowUp
from messaging.container.names import CLOSE, INPUT
from messaging.ipc import Folder

# A lane that nobody empties does not fill the disk; a person who writes so much waits for an answer first.
MOST_UNANSWERED: Final = 1000
# Twelve bytes a character at most, as JSON writes those outside of the Basic Multilingual Plane.
MOST_CHARS: Final = 80_000


@dataclass(frozen=True, slots=True)
class FollowUps:
    """The only writer of `input/`."""

    layout: Layout
    ledger: Ledger
    names: FileNames
    most: int = MOST_UNANSWERED

    def tell(self, lane: str, text: str, key: str) -> str | None:
        """Give the agent this; the same key again does nothing. The file's name, None for a full lane."""
        known, text = self.ledger.follow_up(lane, key), fitting(text)
        with self._input(lane) as folder:
            if known is None:
                if len(self.ledger.unanswered(lane)) >= self.most:
                    return None
                name = self.names.next()
                folder.stage(name, _document(text), durable=True)
                self.ledger.add_follow_up(lane, key, name, text)
            else:
                name = known.name
            if known is None or known.state == "staged":
                self._publish(folder, lane, name)
        return name

    def recover(self, lane: str) -> None:
        """After a crash: publish what was decided and is still staged."""
        with self._input(lane) as folder:
            for one in self.ledger.unanswered(lane):
                if one.state == "staged":
                    self._publish(folder, lane, one.name)

    def _publish(self, folder: Folder, lane: str, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # it has been
            folder.publish(name, durable=True)
        self.ledger.mark(lane, [name], "sent")

    def close(self, lane: str) -> None:
        """Ask the agent to end its session."""
        with self._input(lane) as folder:
            folder.write(CLOSE, b"")

    def clear_close(self, lane: str) -> None:
        """A sentinel that nobody has seen ends no other session."""
        with self._input(lane) as folder, contextlib.suppress(FileNotFoundError):
            folder.clear(CLOSE)

    def answered(self, lane: str, names: Iterable[str]) -> None:
        """A turn has ended that these went into (T-10)."""
        self.ledger.mark(lane, list(names), "answered")

    def restore(self, lane: str, *, reported: bool) -> list[str]:
        """After a run: what was taken and is in no turn lies in its place again; the names of all that wait.

        An agent that reports nothing leaves it unknown: what it has taken counts as answered.
        """
        with self._input(lane) as folder:
            waiting = self.ledger.unanswered(lane)
            taken = [one for one in waiting if one.state == "sent" and not folder.has(one.name)]
            if not reported:
                self.answered(lane, [one.name for one in taken])
                taken_names = {one.name for one in taken}
                return [one.name for one in waiting if one.name not in taken_names]
            for one in taken:
                folder.write(one.name, _document(one.text), durable=True)
        return [one.name for one in waiting]

    @contextlib.contextmanager
    def _input(self, lane: str) -> Iterator[Folder]:
        with Folder.at(self.layout.ipc(lane)) as ipc, ipc.child(INPUT, create=True) as folder:
            yield folder


def fitting(text: str) -> str:
    """Both sides read files of so many bytes and no more; the thread has the whole."""
    if len(text) <= MOST_CHARS:
        return text
    half = MOST_CHARS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are left out …]\n{text[-half:]}"


def _document(text: str) -> bytes:
    return json.dumps(FollowUp(text=text).to_json()).encode()
