"""GFM tables, as far as GRAMMAR 2 needs them: is this line a delimiter row of as many cells as that one?"""

from __future__ import annotations

import re

from tests.oracle.shapes import DELIMITERS

_PIPE = re.compile(r"(?<!\\)\|[ \t\v\f]*")


def cells(row: str) -> int:
    """How many cells a row has; a pipe behind a backslash parts nothing, outer pipes are optional."""
    row = row.strip(" \t\v\f")
    lead = _PIPE.match(row)
    parts = _PIPE.split(row[lead.end() :] if lead else row)
    return len(parts) - (not parts[-1])


def starts_table(header: str, delimiters: str) -> bool:
    return DELIMITERS.match(delimiters) is not None and cells(header) == cells(delimiters)
