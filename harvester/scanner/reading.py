"""Which lines of a reply have to be read at all: those around what can matter."""

from __future__ import annotations

import re
from typing import Final

from harvester.scanner.lines import lines_from
from harvester.scanner.reply import Reply
from harvester.scanner.skipping import Triggers, can_matter, fresh_start

# How much text that cannot matter may wait when more of it comes. Behind the last piece nothing is read, so a
# plain reply that comes whole costs no more than looking for what can matter, whatever its size.
_MOST_WAITING_CHARS: Final = 1 << 14
# A line in brackets, as a directive is, and a blank one.
_ALONE: Final = re.compile(r"(\[[^\r\n]*+(?<=\]))\n[ \t]*+\n")


class Reading:
    """Hands lines to the reply; awake from something that can matter until no block is open behind it."""

    def __init__(self, reply: Reply) -> None:
        self.awake = False
        self.at = 0  # the offset in the reply of what is to be read next
        self._reply = reply
        self._waiting: list[str] = []
        self._waiting_chars = 0

    def take(self, text: str) -> None:
        """The next lines, all complete."""
        if self.awake or can_matter(text):
            self._waiting.append(text)
            self._go("".join(self._waiting))
        else:
            self._wait(text)

    def finish(self, text: str) -> None:
        """The last lines, the very last one perhaps without an end."""
        if self.awake or can_matter(text):
            self.take(text + "\n")

    def _wait(self, text: str) -> None:
        if self._waiting_chars > _MOST_WAITING_CHARS:
            waiting = "".join(self._waiting)
            self._read(waiting, self._skip(waiting, 0, len(waiting)), len(waiting))
            self._rest(waiting, len(waiting))
        self._waiting.append(text)
        self._waiting_chars += len(text)

    def _rest(self, text: str, pos: int) -> None:
        """What is not read of a text waits."""
        self.at += pos
        self._waiting = [text[pos:]]
        self._waiting_chars = len(text) - pos

    def _go(self, text: str) -> None:
        """Read what has to be read of the text that begins at `at`."""
        triggers, pos, place = Triggers(text), 0, 0
        while pos < len(text):
            if not self.awake:
                place = triggers.after(pos)
                if place == len(text):
                    break
                pos = self._skip(text, pos, place)
                if behind := self._run_alone(text, pos):
                    pos = behind
                    continue
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
        match = _ALONE.match(text, pos) if self._reply.empty else None
        return match.end() if match and self._reply.run_alone(match[1], self.at + pos) else 0

    def _read(self, text: str, pos: int, place: int) -> int:
        """Read lines until `place` is behind and no block is open; where that is."""
        for line, end in lines_from(text, pos, self.at):
            self._reply.line(line)
            if end > place and self._reply.idle:
                self.awake = False
                return end
        return len(text)
