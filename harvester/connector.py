"""Where replies come from and results go: the port, the daemon's own threads behind it, and a double.

A connector adapts one place where threads live. What it must keep: replies come in one order that never
changes, and posting with the same key again does nothing (so that a crash between any two steps repeats
nothing). Results go to the thread that the reply is in, never elsewhere (O-17, O-84).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Condition
from typing import Protocol

from harvester.client import DaemonClient, Replies
from messaging import AuthorKind, Message, MessageKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message of the system author. `key` makes it happen once; it answers the reply `in_reply_to`."""

    thread: str
    body: str
    in_reply_to: str
    key: str
    kind: MessageKind = MessageKind.RESULT


class Connector(Protocol):
    """The port. Methods may raise `ClientError`; after `Unavailable` the same may be asked again."""

    def replies(self, after: int, wait_s: float) -> Replies:
        """Replies behind position `after`, in order; waits up to `wait_s` seconds for the first."""
        ...

    def messages(self, thread: str, after: int, limit: int) -> Sequence[Message]:
        """The messages of a thread with a sequence number above `after`, in order."""
        ...

    def post(self, outgoing: Outgoing) -> Message:
        """Append, or give back what was appended with this key before."""
        ...

    def cursor(self) -> int:
        """The position up to which every reply has been dealt with."""
        ...

    def set_cursor(self, position: int) -> None:
        """Remember that position."""
        ...


class DaemonThreads:
    """The threads of our own daemon. `name` tells the cursors of several watchers apart."""

    def __init__(self, client: DaemonClient, name: str = "watcher") -> None:
        self._client = client
        self._name = name

    def replies(self, after: int, wait_s: float) -> Replies:
        """A long poll."""
        return self._client.replies(after, wait_s)

    def messages(self, thread: str, after: int, limit: int) -> Sequence[Message]:
        """A page of the thread."""
        return self._client.messages(thread, after, limit)

    def post(self, outgoing: Outgoing) -> Message:
        """The key travels as `Idempotency-Key`."""
        return self._client.post_message(
            outgoing.thread,
            outgoing.body,
            kind=outgoing.kind,
            in_reply_to=outgoing.in_reply_to,
            key=outgoing.key,
        ).message

    def cursor(self) -> int:
        """Stored by the daemon."""
        return self._client.cursor(self._name)

    def set_cursor(self, position: int) -> None:
        """Stored by the daemon."""
        self._client.set_cursor(self._name, position)


@dataclass(slots=True)
class MemoryThreads:
    """Threads in memory, for tests and for a gateway that keeps its own record. Safe between threads."""

    position: int = 0
    log: list[Message] = field(default_factory=list)
    _keys: dict[tuple[str, str], Message] = field(default_factory=dict)
    _changed: Condition = field(default_factory=Condition)

    def append(
        self,
        thread: str,
        body: str,
        *,
        author: str = "heron",
        author_kind: AuthorKind = AuthorKind.AGENT,
        kind: MessageKind = MessageKind.TEXT,
        in_reply_to: str | None = None,
    ) -> Message:
        """Record a message; by default a reply of the agent heron."""
        with self._changed:
            number = len(self.log) + 1
            message = Message(
                id=f"msg_{number}",
                thread=thread,
                seq=1 + sum(one.thread == thread for one in self.log),
                position=number,
                author=author,
                author_kind=author_kind,
                kind=kind,
                body=body,
                created_at="2026-01-01T00:00:00.000Z",
                in_reply_to=in_reply_to,
            )
            self.log.append(message)
            self._changed.notify_all()
            return message

    def replies(self, after: int, wait_s: float) -> Replies:
        """Wakes as soon as a reply is appended."""
        with self._changed:
            self._changed.wait_for(lambda: self._behind(after), wait_s)
            return Replies(tuple(self._behind(after)), len(self.log))

    def _behind(self, after: int) -> list[Message]:
        return [one for one in self.log if one.position > after and one.is_reply]

    def messages(self, thread: str, after: int, limit: int) -> Sequence[Message]:
        """A page of the thread."""
        return [one for one in self.log if one.thread == thread and one.seq > after][:limit]

    def post(self, outgoing: Outgoing) -> Message:
        """As the daemon does it: keys are unique in their thread."""
        with self._changed:
            key = (outgoing.thread, outgoing.key)
            if key not in self._keys:
                self._keys[key] = self.append(
                    outgoing.thread,
                    outgoing.body,
                    author="system",
                    author_kind=AuthorKind.SYSTEM,
                    kind=outgoing.kind,
                    in_reply_to=outgoing.in_reply_to,
                )
            return self._keys[key]

    def cursor(self) -> int:
        """Starts at 0."""
        return self.position

    def set_cursor(self, position: int) -> None:
        """Kept in `position`."""
        self.position = position
