"""The scanner as its users see it: text in, events out (GRAMMAR 7)."""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable
from typing import Final

from harvester.errors import ScannerClosed
from harvester.events import Event, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import lines_from
from harvester.scanner.passage import utf8_bytes
from harvester.scanner.reading import Reading
from harvester.scanner.reply import Reply
from harvester.scanner.skipping import half_sign, may_matter
from harvester.scanner.tags import REASONING_END
from harvester.scanner.watches import Watch, half_line, in_paragraph

_BOM: Final = "\ufeff"
_DEFAULT: Final = ScanPolicy()
_Utf8: Final = getincrementaldecoder("utf-8")
# So many pieces without the end of a line are looked at all the same: they take more room than their text.
_MOST_TOKENS: Final = 64
# Where the half of a sign begins that ends a piece: it is looked at once more, with the next piece.
_HALVES: Final[dict[Watch, Callable[[str], int]]] = {may_matter: half_sign, in_paragraph: half_line}
_MOST_UTF8_BYTES: Final = 4  # of a character
# How much more may come before what came is counted, and let go where it cannot be around what comes.
_MOST_UNCOUNTED_CHARS: Final = 1 << 12


def within_bytes(text: str, room: int) -> str:
    """As much of `text` as fits in that many bytes of UTF-8."""
    if utf8_bytes(text) <= room:
        return text
    kept = text.encode("utf-8", "surrogatepass")[: room + 1]
    while room and kept[room] & 0xC0 == 0x80:  # in the middle of a character
        room -= 1
    return kept[:room].decode("utf-8", "surrogatepass")


class Scanner:
    """Finds directives in one reply that comes in pieces; any pieces give the events of the whole."""

    __slots__ = (
        "_calm", "_closed", "_counted", "_decoder", "_fed", "_free", "_ledger", "_lost",
        "_matters", "_most_tokens", "_policy", "_reading", "_room", "_tokens", "_wait", "_wide",
    )  # fmt: skip

    def __init__(self, policy: ScanPolicy | None = None) -> None:
        self._policy = policy or _DEFAULT
        self._ledger = Ledger(self._policy)
        self._reading = Reading(self._ledger)
        self._tokens: list[str] = []  # handed in and not looked at yet
        self._most_tokens = _MOST_TOKENS
        self._wait = self._reading.waiting.append  # what cannot matter is not read
        self._fed = 0  # code points looked at
        self._lost = 0  # those of them that are behind the limit
        self._room = self._policy.max_reply_bytes
        self._counted = 0  # code points that `_room` knows of
        self._wide: list[str] = []  # behind them, what takes more bytes than code points
        self._free = 0  # up to here nothing has to be counted, nor let go
        self._calm = 0  # and up to here nothing has to be read but what may matter
        self._matters: Watch = may_matter  # where something is open, only its end does
        self._closed = False
        self._decoder: IncrementalDecoder | None = None
        if self._policy.reasoning_open:
            self.begin_behind(None)

    def feed(self, text: str) -> list[Event]:
        """The next piece; the events that are decided now. Raises `ScannerClosed` after `close()`."""
        tokens = self._tokens
        tokens.append(text)
        # Nothing is decided within a line, and its end is not printable: most tokens need no more than this.
        if text.isprintable() and len(tokens) < self._most_tokens:
            return []
        return self._look()

    def feed_bytes(self, data: bytes) -> list[Event]:
        """As `feed`, for UTF-8 that may be cut anywhere; what is no UTF-8 becomes U+FFFD."""
        if self._decoder is None:
            self._decoder = _Utf8("replace")
        return self.feed(self._decoder.decode(data))

    def close(self) -> list[Event]:
        """The reply ends; the last events. Raises `ScannerClosed` after `close()`."""
        if self._decoder:
            self._tokens.append(self._decoder.decode(b"", final=True))
        events = self._take("".join(self._tokens))
        self._closed, self._most_tokens, self._calm = True, 0, -1
        end = self._fed - self._lost
        self._reading.finish(end)
        if self._lost:
            self._ledger.skip(SkipReason.LIMIT_REPLY, (end, self._fed))
        return events + self._ledger.take()

    def begin_behind(self, end: int | None) -> None:
        """Before the first piece: it begins in reasoning, up to `end` if that is known (`orphan_end`)."""
        self._reading.begin_reasoning(end)

    def _look(self) -> list[Event]:
        """At what was handed in since the last time. Most of it only waits: nothing can come of it."""
        tokens = self._tokens
        text = "".join(tokens)
        tokens.clear()
        fed = self._fed + len(text)
        if fed > self._calm:
            return self._take(text)
        self._most_tokens = _MOST_TOKENS
        if self._matters(text):
            half_of = _HALVES.get(self._matters)
            half = half_of(text) if half_of else 0
            if not half:
                return self._take(text)
            tokens.append(text[half:])
            fed -= len(text) - half
            text = text[:half]
            if self._matters is in_paragraph:
                self._most_tokens = 0  # the next character tells
        self._fed = fed
        if not text.isascii():
            self._wide.append(text)
        self._wait(text)
        return []

    def _take(self, text: str) -> list[Event]:
        """Read a piece, as far as it has to be read."""
        if self._closed:
            raise ScannerClosed("this scanner is closed; a reply has one scanner")
        self._fed += len(text)
        if self._fed > self._free:
            text = self._admit(text)
        self._wide.append(text)
        if text:
            self._reading.take(text)
        self._most_tokens = 0 if self._reading.eager else _MOST_TOKENS
        watch = self._reading.watch
        self._matters, self._calm = (watch, self._free) if watch else (may_matter, 0)
        return self._ledger.take() if self._ledger.events else []

    def _admit(self, text: str) -> str:
        """What the limit leaves of a piece (GRAMMAR 5.4), without a byte order mark at the very start.

        What came before is counted now: most replies end before their size matters.
        """
        before = self._fed - len(text)
        self._count(before)
        if not before and text.startswith(_BOM):
            self._room -= utf8_bytes(_BOM)
            self._reading.at, self._counted, text = 1, 1, text[1:]
        if len(text) * _MOST_UTF8_BYTES > self._room:
            text = self._cut(text)
        self._free = min(self._fed + _MOST_UNCOUNTED_CHARS, before + self._room // _MOST_UTF8_BYTES)
        self._reading.let_go(before)
        return text

    def _count(self, fed: int) -> None:
        """The limit knows of the first `fed` code points from here on."""
        wide = "".join(self._wide)
        self._wide.clear()
        self._room -= fed - self._counted + utf8_bytes(wide) - len(wide)
        self._counted = fed

    def _cut(self, text: str) -> str:
        """Nothing more is taken behind the limit, though a byte or two may be left."""
        kept = "" if self._lost else within_bytes(text, max(0, self._room))
        self._lost += len(text) - len(kept)
        return kept


def orphan_end(text: str, policy: ScanPolicy) -> int | None:
    """Where the reasoning ends whose opening tag was pre-filled, None if there is no such (GRAMMAR 2).

    That is behind the last closing tag that counts where an opening one would, with no opening tag before it.
    """
    text = within_bytes(text, policy.max_reply_bytes)
    if policy.reasoning_open or REASONING_END.search(text) is None:
        return None
    ledger = Ledger(policy)
    ledger.orphans = []
    reply = Reply(ledger)
    for line, _ in lines_from(text + "\n", int(text.startswith(_BOM)), 0):
        reply.line(line)
        if reply.first_tag is not None:
            break
    reply.finish(len(text))
    if ledger.lost:
        return len(text)
    first = len(text) if reply.first_tag is None else reply.first_tag
    return max((end for end in ledger.orphans if end <= first), default=None)


def scan_reply(text: str, policy: ScanPolicy | None = None) -> list[Event]:
    """All events of a whole reply: the check for an orphan closing tag, one feed and a close (GRAMMAR 7)."""
    policy = policy or _DEFAULT
    scanner = Scanner(policy)
    end = orphan_end(text, policy)
    if end is not None:
        scanner.begin_behind(end)
    return scanner.feed(text) + scanner.close()
