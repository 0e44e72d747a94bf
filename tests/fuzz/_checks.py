"""What holds for any reply (GRAMMAR 7): it raises nothing, comes to an end, and pieces change nothing."""

from __future__ import annotations

import random
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import FrameType
from typing import Protocol

from harvester.events import Directive, Event, Skipped, Verdict
from harvester.parse import parse
from harvester.policy import ScanPolicy
from harvester.render import Answered, render
from harvester.scanner import Scanner
from messaging import Call, Result

# A small text takes a fraction of a millisecond. Of the process's own time: a busy machine is no hang.
DEADLINE_S = 2.0
# How often what comes behind the scanner is read too: it takes as long as all the rest.
_RARELY = 0.25
# The grammar's limits, and ones that small texts reach.
POLICIES = (
    ScanPolicy(),
    ScanPolicy(max_calls=2, max_containers=2, max_inline_tags=1),
    ScanPolicy(max_directive_bytes=24, max_paragraph_bytes=40),
    ScanPolicy(max_reply_bytes=48, allow_http=True),
    ScanPolicy(reasoning_open=True, bare_ops=frozenset({"x", "a"})),
)


class Scans(Protocol):
    """What is tested: a scanner, or one that a test has broken on purpose."""

    def feed(self, text: str) -> list[Event]: ...

    def feed_bytes(self, data: bytes) -> list[Event]: ...

    def close(self) -> list[Event]: ...


Make = Callable[[ScanPolicy], Scans]


class Hang(BaseException):
    """The deadline is over; no `except Exception` of what is tested can keep it."""


class Broken(Exception):
    """A rule that does not hold; the message says which and how."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A text on which something does not hold. `kind` is the same for the same thing on a smaller text."""

    kind: str
    detail: str
    text: str


def _hang(_number: int, _frame: FrameType | None) -> None:
    raise Hang


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `Hang` after so much of the process's own time."""
    before = signal.signal(signal.SIGVTALRM, _hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def fault(text: str, make: Make = Scanner, *, seconds: float = DEADLINE_S) -> Fault | None:
    """The first rule that does not hold for a text, if one does not."""
    try:
        with deadline(seconds):
            _check(text, make)
    except Hang:
        return Fault("hang", f"more than {seconds} s", text)
    except Broken as broken:
        kind, _, detail = str(broken).partition(": ")
        return Fault(kind, detail, text)
    except Exception as error:  # noqa: BLE001 - any at all is a find
        return Fault(f"raises {type(error).__name__}", str(error), text)
    return None


def _check(text: str, make: Make) -> None:
    # Chance that hangs on the text alone: what is found is found again, also while it is made smaller.
    chance = random.Random(zlib.crc32(text.encode("utf-8", "surrogatepass")))
    policy = POLICIES[0] if chance.random() < 0.6 else chance.choice(POLICIES)
    whole = _fed(make(policy), [text])
    _same("single characters", whole, _fed(make(policy), text))
    _same("four characters", whole, _fed(make(policy), _fours(text)))
    _same("random pieces", whole, _fed(make(policy), _pieces(text, chance)))
    _same_bytes(text, whole, make, policy, chance)
    _spans(whole, len(text))
    if chance.random() < _RARELY:
        parse(text, policy=policy)
        _posted(text, make)


def _fed(scanner: Scans, pieces: Iterable[str]) -> list[Event]:
    found: list[Event] = []
    for piece in pieces:
        found += scanner.feed(piece)
    return found + scanner.close()


def _fours(text: str) -> Iterator[str]:
    return (text[start : start + 4] for start in range(0, len(text), 4))


def _pieces(text: str, chance: random.Random) -> Iterator[str]:
    cuts = sorted(chance.randint(0, len(text)) for _ in range(chance.randint(1, 6)))
    return (text[start:end] for start, end in pairwise([0, *cuts, len(text)]))


def _same(how: str, whole: list[Event], pieces: list[Event]) -> None:
    if whole != pieces:
        raise Broken(f"{how} differ: {pieces} is not {whole}")


def _same_bytes(text: str, whole: list[Event], make: Make, policy: ScanPolicy, chance: random.Random) -> None:
    """Bytes that are no UTF-8 become U+FFFD wherever they are cut."""
    data = text.encode("utf-8", "surrogatepass")
    if data and chance.random() < 0.1:
        place = chance.randrange(len(data))
        data = data[:place] + bytes([chance.randrange(256)]) + data[place:]
    read = data.decode("utf-8", "replace")
    scanner, found, at = make(policy), list[Event](), 0
    while at < len(data):
        size = chance.randint(1, 5)
        found += scanner.feed_bytes(data[at : at + size])
        at += size
    _same("bytes", whole if read == text else _fed(make(policy), [read]), found + scanner.close())


def _spans(found: list[Event], length: int) -> None:
    """In the reply and in order; nothing that runs or is skipped lies in another such place."""
    spans = [event.span for event in found]
    if any(not 0 <= start <= end <= length for start, end in spans):
        raise Broken(f"a span out of bounds: {found}")
    if spans != sorted(spans, key=lambda span: span[0]):
        raise Broken(f"spans out of order: {found}")
    places = [event.span for event in found if isinstance(event, Directive | Skipped)]
    if any(end > start for (_, end), (start, _) in pairwise(places)):
        raise Broken(f"spans overlap: {found}")


def _posted(text: str, make: Make) -> None:
    """A result that holds the text is posted into the thread: nothing in it is a call or a verdict (O-18)."""
    answer = Answered(
        Call("job.get", {"id": text}), Result(op="job.get", job_id="job-1", data={"lines": text})
    )
    found = _fed(make(POLICIES[0]), [render([answer])])
    if any(isinstance(event, Directive | Verdict) for event in found):
        raise Broken(f"a posted result runs: {found}")
