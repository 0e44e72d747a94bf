"""How names are spelled: an op's spellings and its family, and snake_case for arguments."""

from __future__ import annotations

import re

# GRAMMAR 1: an op is ASCII, begins with a letter and has at most 64 characters.
OP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,63}", re.ASCII)

_SEPARATORS = str.maketrans("_-", "..")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def spellings(op: str) -> tuple[str, str, str]:
    """`op` as written, case-folded, and with `_` and `-` as `.` and `functions.` dropped (GRAMMAR 5.1).

    Ops are ASCII: a letter that only folds to one (`ſend`) spells none.
    """
    folded = op.casefold() if op.isascii() else op
    return op, folded, folded.translate(_SEPARATORS).removeprefix("functions.")


def family(op: str) -> str:
    """The name of the op's family in the table of synonyms: `cron.*` for `cron.pause`."""
    return f"{op.partition('.')[0]}.*"


def snake_case(name: str) -> str:
    """camelCase and kebab-case read as snake_case (GRAMMAR 5.2): `inReplyTo`, `thread-ID`."""
    return _HUMP.sub("_", name).replace("-", "_").lower()
