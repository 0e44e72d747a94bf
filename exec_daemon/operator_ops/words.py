"""The words of an `argv`: each stands for exactly one argument of the program, whatever is put into it.

`{name}` is the place of an argument. Nothing is split, joined, quoted or expanded; there is no shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

PLACE: Final = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def places(words: Iterable[str]) -> Iterator[str]:
    """The names of the arguments that the words have places for, in order."""
    for word in words:
        yield from PLACE.findall(word)


def filled(words: Iterable[str], values: Mapping[str, str | None]) -> tuple[str, ...]:
    """The words with each place filled. A word with a place for what is None is left out as a whole."""
    kept = (word for word in words if all(values[name] is not None for name in places([word])))
    return tuple(PLACE.sub(lambda place: values[place[1]] or "", word) for word in kept)
