"""What a spawner is asked for a run, and what it answers: numbers in fixed places, then bytes.

JSON takes five times as long to write and to read, which is 40 us of each call. Standard library only: the
spawners run without site-packages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from struct import Struct
from typing import Final, NamedTuple

# Seconds; most bytes; how many arguments; bytes of all words; bytes of standard input. The rest is `third`.
_ORDER: Final = Struct("<dQ3I")
# errno; status; spent; which streams were cut; how long each was; how much of the first is shown. The rest is
# shown of the second.
_ANSWER: Final = Struct("<ii???QQI")
# In the place of a status, for what was stopped: those of waitpid(2) are never negative.
_STOPPED: Final = -1


class Order(NamedTuple):
    """As a spawner has it: nothing is interpreted. `path` may be that of an open file."""

    path: bytes
    folder: bytes
    argv: list[bytes]
    environment: dict[bytes, bytes]
    stdin: bytes
    third: bytes
    limit_s: float
    most_whole_bytes: int


def order(
    *,
    path: str,
    folder: str,
    argv: Sequence[str],
    environment: Mapping[str, str],
    stdin: bytes,
    third: bytes,
    limit_s: float,
    most_whole_bytes: int,
) -> bytes:
    """The packet. Raises ValueError for a word with a NUL in it: each ends with one, as for execve(2)."""
    words = (path, folder, *argv, *chain.from_iterable(environment.items()))
    joined = "\0".join(words)
    if joined.count("\0") != len(words) - 1:
        raise ValueError("a word with a NUL in it")
    content = joined.encode("utf-8", "surrogateescape")
    head = _ORDER.pack(limit_s, most_whole_bytes, len(argv), len(content), len(stdin))
    return b"".join((head, content, stdin, third))


def order_in(packet: bytes, riding: Sequence[int]) -> Order:
    """What the packet was made of. Without a path, the program is the first descriptor that rides along."""
    limit_s, most_whole_bytes, count, words_bytes, stdin_bytes = _ORDER.unpack_from(packet)
    stdin = _ORDER.size + words_bytes
    third = stdin + stdin_bytes
    path, folder, *words = packet[_ORDER.size : stdin].split(b"\0")
    variables = words[count:]
    return Order(
        path or b"/proc/self/fd/%d" % riding[0],
        folder,
        words[:count],
        dict(zip(variables[::2], variables[1::2], strict=True)),
        packet[stdin:third],
        packet[third:],
        limit_s,
        most_whole_bytes,
    )


class Printed(NamedTuple):
    """On one stream: `shown` is all of it, or its end where it was cut and the whole rides along."""

    size: int
    cut: bool
    shown: bytes


_NOTHING: Final = Printed(0, cut=False, shown=b"")


class Answer(NamedTuple):
    """`failed` is the errno of a program that has not run. `status` is None for one that was stopped.

    A spawner that is `spent` runs no other: something of this run is left.
    """

    failed: int = 0
    status: int | None = None
    spent: bool = False
    out: Printed = _NOTHING
    err: Printed = _NOTHING

    def pack(self) -> bytes:
        """The packet."""
        failed, status, spent, out, err = self
        code = _STOPPED if status is None else status
        head = _ANSWER.pack(failed, code, spent, out.cut, err.cut, out.size, err.size, len(out.shown))
        return b"".join((head, out.shown, err.shown))


def answer_in(packet: bytes) -> Answer:
    """What was packed."""
    failed, code, spent, out_cut, err_cut, out_size, err_size, shown = _ANSWER.unpack_from(packet)
    err = _ANSWER.size + shown
    return Answer(
        failed,
        None if code == _STOPPED else code,
        spent,
        Printed(out_size, out_cut, packet[_ANSWER.size : err]),
        Printed(err_size, err_cut, packet[err:]),
    )
