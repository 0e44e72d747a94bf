"""The machine of most families: text, in which literal markers open reasoning and calls.

A family says which markers those are and how one call is read; everything else is here: what counts as
reasoning, what becomes of markup that is no call, and that a flood of markers costs linear time. Nothing is
read twice: an opener that turned out to be text is passed over, and what follows a call that broke is given
up to the marker that closes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from harvester.dialects.reading import Broken, NoOpener, Reading
from harvester.dialects.source import Markers, Steps, marks

# Reads the call or calls behind an opener; gets the positions of the opener and of what follows it, gives the
# position behind. Raises Broken or NoOpener.
CallReader: TypeAlias = Callable[[Reading, int, int], Steps[int]]


@dataclass(frozen=True, slots=True)
class Thought:
    """How reasoning is written. `edges` are the characters that the template puts at either end of it.

    `next` are markers of what may follow it; `prompted`: the generation prompt may have opened it.
    """

    open: str
    close: str
    edges: str = ""
    next: tuple[str, ...] = ()
    prompted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """An opener's row: how the call is read, and the markers up to which a broken one is given up."""

    read: CallReader
    closers: Markers


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """The markers of a family. `silent` ones mean nothing here and are no text.

    `stops` end the model's turn; a server that shows them leaves one behind at the end of the text.
    """

    calls: Mapping[str, Calls]
    thoughts: tuple[Thought, ...] = ()
    silent: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    markers: Markers = field(init=False)
    endings: Mapping[str, Markers] = field(init=False)

    def __post_init__(self) -> None:
        opened = (thought.open for thought in self.thoughts)
        object.__setattr__(self, "markers", marks(*self.calls, *opened, *self.silent, *self.stops))
        endings = {
            thought.close: marks(thought.close, *self.calls, *thought.next) for thought in self.thoughts
        }
        object.__setattr__(self, "endings", endings)

    def opened_by(self, prompt: str) -> Thought | None:
        """The reasoning that the generation prompt has opened and not closed."""
        places = [(prompt.rfind(thought.open), thought) for thought in self.thoughts]
        place, thought = max(places, key=lambda found: found[0], default=(-1, None))
        return thought if thought and place >= 0 and prompt.find(thought.close, place) < 0 else None


def read_tagged(tags: Tags, reading: Reading, prompt: str) -> Steps[None]:
    """Read a reply that goes on where `prompt` ends."""
    thought = tags.opened_by(prompt)
    if thought is not None:
        yield from _opened_again(thought, reading)
    while True:
        if thought is not None:
            yield from _think(tags, thought, reading)
            thought = None
        marker = yield from reading.source.pass_on(tags.markers, reading.writer.content)
        if marker is None:
            return
        if marker in tags.calls:
            yield from _call(tags.calls[marker], marker, reading, reading.writer.content)
        elif marker in tags.silent:
            reading.source.settle(reading.source.at + len(marker))
        elif marker in tags.stops:
            yield from _stop(marker, reading)
        else:
            thought = _opened(tags, marker, reading)


def _opened_again(thought: Thought, reading: Reading) -> Steps[None]:
    """A model may write the marker that the prompt ends with once more."""
    start = yield from reading.source.blanks(reading.source.at)
    if (yield from reading.source.marker_at(start, marks(thought.open))):
        reading.source.settle(start + len(thought.open))


def _opened(tags: Tags, marker: str, reading: Reading) -> Thought | None:
    """Reasoning comes before everything else; behind text the marker is a word that the text mentions."""
    source, start = reading.source, reading.source.at
    source.settle(start + len(marker))
    if reading.writer.has_content:
        reading.writer.content(source.base + source.at - len(marker), marker)
        return None
    return next(thought for thought in tags.thoughts if thought.open == marker)


def _stop(marker: str, reading: Reading) -> Steps[None]:
    """A stop token is nothing at the end of the reply; before that the text mentions it."""
    source, start = reading.source, reading.source.at
    end = yield from source.blanks(start + len(marker))
    if (yield from source.char(end)):
        reading.writer.content(source.base + start, marker)
        end = start + len(marker)
    source.settle(end)


def _think(tags: Tags, thought: Thought, reading: Reading) -> Steps[None]:
    """Reasoning goes to its closing marker. Only where that never comes does what may follow end it, too.

    A call that the model drafts while it thinks must not run; one behind which it never closes its thoughts
    is meant, and is the most frequent fault of the families that have the opening marker in their prompt.
    """
    source, writer = reading.source, reading.writer
    writer.think(thought.edges)
    ending, closes = tags.endings[thought.close], marks(thought.close)
    never = False
    while True:
        marker = yield from source.pass_on(ending, writer.reasoning)
        if marker is None:
            return
        if marker == thought.close:
            writer.thought()
            source.settle(source.at + len(marker))
            return
        if not never:
            never = (yield from source.find(closes, source.at)) is None
        if not never:
            ending = closes
        elif marker in thought.next or (
            yield from _call(tags.calls[marker], marker, reading, writer.reasoning)
        ):
            return


def _call(calls: Calls, marker: str, reading: Reading, say: Callable[[int, str], None]) -> Steps[bool]:
    """Read what an opener begins; false if it is no opener but a part of the text around it."""
    source, start = reading.source, reading.source.at
    try:
        end = yield from calls.read(reading, start, start + len(marker))
        end = yield from _closed_again(calls, reading, end)
    except NoOpener:
        say(source.base + start, marker)
        source.settle(start + len(marker))
        return False
    except Broken as broken:
        end = yield from _given_up(calls, broken, reading)
        reading.writer.drop(source.base + start, source.base + end)
    source.settle(end)
    return True


def _closed_again(calls: Calls, reading: Reading, end: int) -> Steps[int]:
    """A model may close a call twice; where nothing is open, the marker is no text either."""
    while True:
        behind = yield from reading.source.blanks(end)
        marker = yield from reading.source.marker_at(behind, calls.closers)
        if marker is None:
            return end
        end = behind + len(marker)


def _given_up(calls: Calls, broken: Broken, reading: Reading) -> Steps[int]:
    """The end of what a broken call takes with it."""
    found = None
    if broken.position is not None:
        found = yield from reading.source.find(calls.closers, broken.position)
    return found[0] + len(found[1]) if found else len(reading.source.text)
