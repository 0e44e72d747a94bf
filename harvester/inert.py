"""Untrusted text on its way into a thread: no secrets, no terminal codes, nothing that could run (O-18).

A result is posted by the system author and stands in a fence, so nothing in it is harvested. This is for
the agent that copies a part of it into its next reply: of the forms of GRAMMAR section 1, none may be left
in any stretch of lines, with or without the fence around them.
"""

from __future__ import annotations

import re
from typing import Any, Final

from messaging import neutralise, redact, strip_terminal

# F5 and F6 need a fence; F6 also lives in a line that starts with `curl ` (GRAMMAR 3 and 6). Of each three
# marks the last is escaped: no run of three is left, so the fence around it all stays a short one.
_FENCES: Final = (("```", "``\\u0060"), ("~~~", "~~\\u007e"))
_CURL: Final = re.compile(r"(?<!\w)c(?=url[ \t])")


def inert(text: str) -> str:
    """`text` with an escape in place of one character of whatever could begin a directive or a verdict."""
    text = neutralise(text)
    for fence, harmless in _FENCES:
        text = text.replace(fence, harmless)
    return _CURL.sub(r"\\u0063", text)


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
