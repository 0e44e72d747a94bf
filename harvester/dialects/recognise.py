"""`auto`: which dialect a reply is written in, by the signs of the table's rows."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.hermes import THINK
from harvester.dialects.table import DIALECTS
from harvester.dialects.tagged import Tags
from harvester.dialects.writer import Edges

# A reply that calls nothing: text, and reasoning as most models write it.
PLAIN: Final = Dialect(name="plain", tags=Tags(calls={}, thoughts=(THINK,)), edges=Edges(start="\n"))


@cache
def _signs() -> tuple[tuple[Dialect, re.Pattern[str]], ...]:
    return tuple((dialect, re.compile("|".join(dialect.signs))) for dialect in DIALECTS.values())


def recognise(text: str, generation_prompt: str | None = None) -> Dialect:
    """The dialect whose sign comes first in `text`, or else in the prompt; `PLAIN` if none does."""
    found = _first(text)
    return _first(generation_prompt) if found is PLAIN and generation_prompt else found


def _first(text: str) -> Dialect:
    first: tuple[int, Dialect] | None = None
    for dialect, pattern in _signs():
        found = pattern.search(text)
        if found and (first is None or found.start() < first[0]):
            first = found.start(), dialect
    return PLAIN if first is None else first[1]
