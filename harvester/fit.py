"""Texts of any length into a message of limited length: fair shares, and a cut in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harvester.inert import inert
from messaging import fence_mark, fenced

_FENCE_CHARS: Final = len(fenced("", fence_mark("any")))
# Less than this shows nothing worth its fence.
_LEAST_CHARS: Final = _FENCE_CHARS + 12


def shares(wants: Sequence[int], total: int) -> list[int]:
    """`total` dealt out: nobody gets more than wanted, and what small ones leave goes to the large ones."""
    given = [0] * len(wants)
    for rank, index in enumerate(sorted(range(len(wants)), key=wants.__getitem__)):
        given[index] = min(wants[index], max(0, total) // (len(wants) - rank))
        total -= given[index]
    return given


def wanted(text: str) -> int:
    """How many characters `block` needs to show all of `text`."""
    return len(inert(text)) + _FENCE_CHARS if text else 0


def block(text: str, most_chars: int, reference: str = "", subject: str = "") -> str:
    """`text`, inert and fenced, at most `most_chars`; the note of a cut ends with `reference`.

    The fence bears the mark of `subject`.
    """
    if most_chars < min(wanted(text), _LEAST_CHARS) or not text:
        return ""
    return fenced(_fitted(text, most_chars - _FENCE_CHARS, reference), fence_mark(subject))


def _fitted(text: str, room: int, reference: str) -> str:
    shown, keep = inert(text), room
    while len(shown) > room and keep > 0:
        shown = _cut(text, keep, reference)
        keep -= max(1, len(shown) - room)
    return shown if len(shown) <= room else inert(text[: room // _GROWTH])


# One character becomes at most this many when it is escaped.
_GROWTH: Final = len("\\u005b")


def _cut(text: str, keep: int, reference: str) -> str:
    """About `keep` characters of `text`: two thirds from its beginning, one from its end."""
    head, tail = _head(text, keep * 2 // 3), _tail(text, keep // 3)
    left_out = len(text) - len(head) - len(tail)
    note = f"… {left_out:,} characters left out{reference} …"
    return "\n".join(part for part in (inert(head), note, inert(tail)) if part)


def _head(text: str, chars: int) -> str:
    """Whole lines where that costs less than half."""
    head = text[:chars]
    end = head.rfind("\n")
    return head[:end] if end > chars // 2 else head


def _tail(text: str, chars: int) -> str:
    tail = text[len(text) - chars :]
    start = tail.find("\n")
    return tail[start + 1 :] if 0 <= start < chars // 2 else tail
