"""What stands where in the inside of a paragraph, heading or table row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from harvester.events import SkipReason
from harvester.scanner.calls import Written
from harvester.scanner.openers import Construct

# What stands here in a tag's place is closed by nothing.
LOST: Final = ""


class Hide(NamedTuple):
    """An inert stretch. `bounds`: an opener in it looks for its `{` no further than its end (GRAMMAR 1)."""

    start: int
    end: int
    reason: SkipReason
    bounds: bool = False


class Tag(NamedTuple):
    """A reasoning tag; `name` is None for a closing one, `LOST` where it is not known which tags count."""

    start: int
    end: int
    name: str | None


class Curl(NamedTuple):
    """A curl line with its continuations that is a call."""

    start: int
    end: int
    call: Written


@dataclass(slots=True)
class Layout:
    """What stands where. `codes` are the code spans in order; they are among `hides` too."""

    hides: list[Hide] = field(default_factory=list)
    codes: list[tuple[int, int]] = field(default_factory=list)
    constructs: dict[int, Construct] = field(default_factory=dict)
    links: set[int] = field(default_factory=set)
    tags: list[Tag] = field(default_factory=list)
    curls: list[Curl] = field(default_factory=list)

    def hide(self, start: int, end: int, reason: SkipReason, *, bounds: bool = False) -> int:
        """What stands there is inert; gives its end."""
        self.hides.append(Hide(start, end, reason, bounds))
        return end
