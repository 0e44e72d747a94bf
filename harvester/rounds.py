"""How often an agent has called by itself: the bound on rounds of GRAMMAR 5.4.

A round is a reply with calls. Rounds count from the last message of a person, timer or job; a DM of another
agent starts no new count, or two agents could keep each other going for ever. The count is read from the
thread's record before the reply, so it is the same whenever the reply is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Final

from harvester.connector import Connector
from messaging import AuthorKind, Message, MessageKind

_RESTARTS: Final = frozenset({MessageKind.ENVELOPE, MessageKind.WORK_ORDER})
_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds before a reply, counted up to the bound; `since` is the id of what started the count."""

    count: int
    since: str


class KnownReplies:
    """Which replies have calls, by their ids; the newest only. May be shared between threads."""

    def __init__(self, most: int = 10_000) -> None:
        self._calls: dict[str, bool] = {}
        self._most = most
        self._lock = Lock()

    def calls(self, reply: str) -> bool | None:
        """Does it have calls? None for one that is not known."""
        return self._calls.get(reply)

    def note(self, reply: str, *, calls: bool) -> None:
        """Remember it; replies never change."""
        with self._lock:
            self._calls[reply] = calls
            if len(self._calls) > self._most:
                del self._calls[next(iter(self._calls))]


def rounds_before(reply: Message, threads: Connector, calls: Callable[[Message], bool], bound: int) -> Rounds:
    """Count the replies before `reply` for which `calls` is true, at most `bound`."""
    count, since = 0, "start"
    for message in _backwards(reply, threads):
        if message.author_kind is AuthorKind.HUMAN or message.kind in _RESTARTS:
            since = message.id
            break
        count += message.is_reply and count < bound and calls(message)
    return Rounds(count, since)


def _backwards(reply: Message, threads: Connector) -> Iterator[Message]:
    """The messages of the thread before `reply`, the latest first."""
    before = reply.seq
    while before > 1:
        stretch = list(_stretch(reply.thread, threads, max(0, before - 1 - _PAGE), before))
        if not stretch:
            return
        yield from reversed(stretch)
        before = stretch[0].seq


def _stretch(thread: str, threads: Connector, after: int, before: int) -> Iterator[Message]:
    """The messages between the two, in order; a page of large messages holds fewer than asked for."""
    while after < before - 1:
        page = threads.messages(thread, after, before - 1 - after)
        if not page:
            return
        yield from page
        after = page[-1].seq
