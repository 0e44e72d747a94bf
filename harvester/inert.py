"""Untrusted text on its way into a thread: no secrets, no terminal codes, nothing that could run (O-18).

A result is posted by the system author and stands in a fence, so nothing in it is harvested. This is for
the agent that copies a part of it into its next reply: of the forms of GRAMMAR section 1, none may be left
in any stretch of lines, with or without the fence around them.
"""

from __future__ import annotations

import re
from typing import Any, Final

from messaging import neutralise, redact, strip_terminal

# F5 and F6 need a fence; F6 also lives in a line that starts with `curl ` (GRAMMAR 3 and 6).
_FENCE: Final = re.compile(r"(?<!`)`(?=``)|(?<!~)~(?=~~)")
_CURL: Final = re.compile(r"(?<!\w)c(?=url[ \t])")


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def inert(text: str) -> str:
    """`text` with an escape in place of one character of whatever could begin a directive or a verdict."""
    return _CURL.sub(_escaped, _FENCE.sub(_escaped, neutralise(text)))


def clean(text: str) -> str:
    """`text` without secrets and terminal codes; a lone surrogate, which UTF-8 cannot carry, becomes `?`."""
    return redact(strip_terminal(text)).encode("utf-8", "replace").decode("utf-8")


def cleaned(value: Any) -> Any:
    """A JSON value with each string in it clean. Before formatting: a clipped secret is not recognised."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    return value


_NO_WORD: Final = re.compile(r"[^A-Za-z0-9_.:/@-]")


def word(text: str, most_chars: int) -> str:
    """A name or id as one word that means nothing to Markdown; other characters become `?`."""
    plain = _NO_WORD.sub("?", text)
    return plain if len(plain) <= most_chars else plain[: most_chars - 1] + "…"
