"""Untrusted text made harmless: it may name a directive, it can never be one (O-18).

Independent measures, since one of them may be undone by an agent that copies text: directive
openers are written with an escape in place of the bracket, and the whole stands in a fence that is
longer than any run of backticks inside and bears a mark that the text cannot know.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from patterns import vocabulary

# GRAMMAR 1 and 9; only the first character is matched, so that only that one is written otherwise.
_OPENER: Final = re.compile(
    "|".join(
        f"{re.escape(opener[0])}(?={re.escape(opener[1:])})"
        for opener in ("[TOOL", "[EXEC", "[DM", "[RESULT", *vocabulary().native_openers)
    )
)
_BACKTICKS: Final = re.compile("`+")


def neutralise(text: str) -> str:
    """`text` with the first character of each opener of a directive, a verdict or a native call escaped.

    A bracket becomes `\\u005b`. Inside a JSON string the escape still reads as the same character.
    """
    return _OPENER.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def fence_mark(subject: str) -> str:
    """`output-` and eight digits that follow from `subject`, such as the id of a job.

    Who wrote the text of the job does not know them: no text can say that it begins such a block (D102).
    """
    digits = sha256(subject.encode("utf-8", "replace")).hexdigest()[:8]
    return f"output-{digits}" if subject else "output"


def fenced(text: str, language: str = "") -> str:
    """`text`, neutralised, in a backtick fence that nothing inside can close. No trailing line break.

    `language` is a word that stands behind the opening fence, such as a `fence_mark`.
    """
    inside = neutralise(text)
    longest = max((len(run) for run in _BACKTICKS.findall(inside)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{inside}\n{fence}"


def one_line(text: str, most_chars: int = 200) -> str:
    """Untrusted text as one harmless line: blanks collapsed, openers neutralised, clipped with `…`."""
    flat = " ".join(text.split())
    return neutralise(flat if len(flat) <= most_chars else flat[: most_chars - 1] + "…")
