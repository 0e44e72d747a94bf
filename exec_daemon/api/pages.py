"""Pages of messages that fit into memory: bounded by what they hold, not only by how many they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from messaging import Message

# So many are read at once; each can have two mebibytes.
STEP: Final = 20
# A page ends with the step that passes this: many more ordinary messages than any limit allows.
_MOST_CHARS: Final = 4 * 1024 * 1024


async def paged(
    read: Callable[[int, int], Awaitable[list[Message]]],
    after: int,
    limit: int,
    place: Callable[[Message], int],
) -> list[Message]:
    """At most `limit` messages that `read(after, limit)` gives, at least one where there is one.

    A page that ends early is no sign of the end: a client reads on behind the last message, as it would.
    """
    found: list[Message] = []
    chars = 0
    while len(found) < limit and chars < _MOST_CHARS:
        wanted = min(STEP, limit - len(found))
        step = await read(after, wanted)
        found += step
        if len(step) < wanted:
            break
        after, chars = place(step[-1]), chars + sum(len(one.body) for one in step)
    return found
