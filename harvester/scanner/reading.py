"""Which lines of a reply have to be read at all: those around what can matter."""

from __future__ import annotations

import re
from typing import Final

from harvester.scanner.inside import run_line
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import Line, line_from, lines_end
from harvester.scanner.reply import Reply
from harvester.scanner.skipping import Triggers, fresh_start, may_matter
from harvester.scanner.watches import Watch

# What cannot be skipped waits unread while it is short, or one paragraph: read, that takes more room.
_MOST_UNREAD_CHARS: Final = 1 << 12
_MOST_OF_A_PARAGRAPH: Final = 1 << 16
# What may end a paragraph before it, or not be one.
_NO_TEXT: Final = re.compile(r"\n(?:[ \t>#`~=_*+<\r\n-]|[0-9]{1,9}[.)]|[|:][ \t|:-]*+\r?\n)")
# Whatever a longer beginning of a line turns out to be may wait for its end.
_MOST_BEGINNING_CHARS: Final = 1 << 8
# A line in brackets, as a directive is, and a blank one.
_ALONE: Final = re.compile(r"(\[[^\r\n]*+(?<=\]))\n[ \t]*+\n")


class Reading:
    """Hands lines to the reply; awake from something that can matter until no block is open behind it."""

    __slots__ = ("_again", "_half", "_held", "_ledger", "_reply", "at", "awake", "eager", "waiting")

    def __init__(self, ledger: Ledger) -> None:
        self.awake = False
        self.eager = False  # the next characters may decide something, though no line ends
        self.waiting: list[str] = []  # not read: nothing can come of it, but it may be around what can
        self.at = 0  # the offset in the reply of what is to be read next
        self._ledger = ledger
        self._reply = Reply(ledger)
        self._half = False  # what was read ends with a CR, which may be half of a CRLF
        self._again = 0  # how much has been fed when it is worth letting go again
        self._held: list[str] = []  # behind that, from a line on that has a sign and is not complete

    def begin_reasoning(self, end: int | None) -> None:
        """The reply begins in reasoning, up to `end` if that is known."""
        self.awake = True
        self._reply.begin_reasoning(0, None, until=end)

    @property
    def watch(self) -> Watch | None:
        """What a piece must hold to be read; the others wait. None if each is."""
        return None if self._held or self._half or self.eager else self._open_watch()

    def _open_watch(self) -> Watch | None:
        return self._reply.watch if self.awake else may_matter

    def take(self, text: str) -> None:
        """The next piece. Of what is complete now those lines are read that have to be.

        Nothing is decided within a line.
        """
        if self._half:
            text = self._second_half(text)
        watch = self.watch
        if watch and not watch(text):
            self.waiting.append(text)
        else:
            self._take(text)

    def _take(self, text: str) -> None:
        end = lines_end(text)
        if end:
            self._held.append(text[:end])
            lines = "".join(self._held)
            self._held.clear()
            self._lines(lines)
            self.eager = self.awake and self._reply.in_paragraph
        if end < len(text):
            self._half = False
            self._held.append(text[end:])
            if end or self.eager:
                self._begin()

    def _begin(self) -> None:
        """All that came of a line is held. It may say that the paragraph before it is over."""
        beginning, watch = "".join(self._held), self._open_watch()
        if watch and not watch("\n" + beginning):
            self.waiting.append(beginning)
            self._held.clear()
            self.eager = False
        elif self.eager:
            certain = len(beginning) > _MOST_BEGINNING_CHARS
            self.eager = self._reply.foresee(Line(beginning, self.at)) and not certain

    def _second_half(self, text: str) -> str:
        """What comes behind a CR at the end of what was read, without the LF that belongs to it."""
        self._half = False
        if not text.startswith("\n"):
            return text
        self.at += 1
        return text[1:]

    def _lines(self, text: str) -> None:
        if self.awake:
            whole = "".join((*self.waiting, text))
            pos = self._read(whole, 0, 0)
            if pos < len(whole):
                self._go(whole, pos, Triggers(whole, pos))
            else:
                self._rest(whole, pos)
        elif triggers := Triggers(text):
            whole = "".join((*self.waiting, text))
            self._go(whole, 0, triggers if whole is text else Triggers(whole, len(whole) - len(text)))
        else:
            self.waiting.append(text)

    def finish(self, end: int) -> None:
        """The last line has perhaps no end; the reply ends at `end`."""
        if (self.awake or self._held) and not self._half:
            self._take("\n")
        self._reply.finish(end)

    def let_go(self, fed: int) -> None:
        """Keep no more of what waits than can be around what comes behind the first `fed` code points.

        Asked when more comes, so that a plain reply that comes whole is not read at all. Where much had to
        stay, a part of that more may come before it is looked through once more.
        """
        if self._half or fed <= self._again:
            return
        text = "".join(self.waiting)
        pos = 0 if self.awake else self._skip(text, 0, len(text))
        if self.awake or self._is_too_long(text, pos):
            pos = self._read(text, pos, len(text))
        self._rest(text, pos)
        self._again = fed + (len(text) - pos) // 4

    def _is_too_long(self, text: str, pos: int) -> bool:
        """Does it take less room when it is read?"""
        length = len(text) - pos
        return length > _MOST_UNREAD_CHARS and (
            length > _MOST_OF_A_PARAGRAPH or _NO_TEXT.search(text, pos) is not None
        )

    def _rest(self, text: str, pos: int) -> None:
        """What is not read of a text waits."""
        self.at += pos
        self.waiting[:] = [text[pos:]]
        self._half = not self._held and pos == len(text) and text.endswith("\r")

    def _go(self, text: str, pos: int, triggers: Triggers) -> None:
        """Read what has to be read of the text that begins at `at`, from `pos` on."""
        while (place := triggers.after(pos)) < len(text):
            pos = self._skip(text, pos, place)
            behind = self._run_alone(text, pos)
            if behind:
                pos = behind
            else:
                self.awake = True
                pos = self._read(text, pos, place)
        self._rest(text, pos)

    def _skip(self, text: str, pos: int, place: int) -> int:
        """From where structure has to be known for what stands at `place`."""
        start = fresh_start(text, pos, place) if self._reply.skippable else pos
        if start > pos:
            self._reply.forget()
        return start

    def _run_alone(self, text: str, pos: int) -> int:
        """Behind the directive at `pos` that is a paragraph by itself; 0 if there is none.

        Most directives are: no structure has to be read for them where none is open.
        """
        match = _ALONE.match(text, pos)
        alone = match and self._reply.empty and run_line(match[1], self.at + pos, self._ledger)
        return match.end() if match and alone else 0

    def _read(self, text: str, pos: int, place: int) -> int:
        """Read lines until `place` is behind and no block is open; where that is."""
        while read := line_from(text, pos, self.at):
            line, pos = read
            self._reply.line(line)
            if pos > place and self._reply.idle:
                self.awake = False
                break
            pos = self._reply.leap(text, pos, self.at)
        return pos
