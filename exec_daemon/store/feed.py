"""The change feed: who waits for news is woken after the commit that brings them, in this process only.

A subscription is taken *before* the first read, so that nothing falls between reading and waiting:

    with store.subscribe(thread_topic("ops")) as changes:
        while True:
            messages = await store.messages("ops", after=seen)
            ...
            await changes.wait(timeout_s=15)
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Protocol, Self

from messaging import Message

# News of any reply in any thread.
REPLIES: Final = "replies"


def thread_topic(thread_id: str) -> str:
    """News of messages in one thread."""
    return f"thread/{thread_id}"


def job_topic(job_id: str) -> str:
    """News of events of one job, its end included."""
    return f"job/{job_id}"


def message_topics(message: Message) -> tuple[str, ...]:
    """The topics that a new message is news of."""
    of_thread = thread_topic(message.thread)
    return (of_thread, REPLIES) if message.is_reply else (of_thread,)


class Subscription:
    """One waiter. Changes that come while nobody waits are kept as one."""

    def __init__(self, feed: Feed, topics: frozenset[str]) -> None:
        self._feed = feed
        self._topics = topics
        self._changed = asyncio.Event()

    def __enter__(self) -> Self:
        self._feed.add(self, self._topics)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._feed.remove(self, self._topics)

    def wake(self) -> None:
        """Something changed."""
        self._changed.set()

    async def wait(self, timeout_s: float) -> bool:
        """True as soon as something changed since the last `wait`, False after `timeout_s` seconds."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True


class Feed:
    """Subscriptions by topic. Lives on the event loop; a topic without subscribers costs nothing."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[Subscription]] = defaultdict(set)

    def subscribe(self, *topics: str) -> Subscription:
        """A subscription to these topics, to be entered with `with`."""
        return Subscription(self, frozenset(topics))

    def publish(self, topics: Iterable[str]) -> None:
        """Wakes each subscriber of `topics`."""
        for topic in topics:
            for subscription in self._waiting.get(topic, ()):
                subscription.wake()

    def add(self, subscription: Subscription, topics: Iterable[str]) -> None:
        """From now on the subscription is woken."""
        for topic in topics:
            self._waiting[topic].add(subscription)

    def remove(self, subscription: Subscription, topics: Iterable[str]) -> None:
        """From now on the subscription is forgotten."""
        for topic in topics:
            self._waiting[topic].discard(subscription)
            if not self._waiting[topic]:
                del self._waiting[topic]


class ChangeFeed(Protocol):
    """The part of the port that tells of changes."""

    def subscribe(self, *topics: str) -> Subscription:
        """News of `REPLIES`, `thread_topic(id)` or `job_topic(id)`; enter it before the first read."""
        ...
