"""Gemma's notation of arguments: `{city:<|"|>Paris<|"|>,days:[1,2],wind:{max:null}}`.

No recursion: the open objects and lists stand on a stack. Numbers are read as JSON has them, words
as JSON or Python: the first templates of the model wrote `None`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from harvester.dialects.tools import word_or_json
from messaging.strict_json import MAX_LEVELS

QUOTE: Final = '<|"|>'

_QUOTED: Final = rf"{re.escape(QUOTE)}(?>(?:(?!{re.escape(QUOTE)})(?s:.))*){re.escape(QUOTE)}"
# A quoted string, a mark of the structure, or a bare word up to the next of those.
_TOKEN: Final = re.compile(
    rf"\s*(?:({_QUOTED})|([{{}}\[\],:])|((?>(?:(?!{re.escape(QUOTE)})[^{{}}\[\],:])*)))"
)
_BARE_VALUE: Final = re.compile(rf"\s*((?>(?:(?!{re.escape(QUOTE)})[^{{}}\[\],])*))")


class NotationError(ValueError):
    """The text is none of this notation. Never leaves the package."""


class _Tokens:
    """The text, token by token. The end of the text is an empty word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def next(self) -> tuple[str, str]:
        """Kind (`string`, `mark`, `word`) and text of the next token."""
        found = _TOKEN.match(self._text, self.at)
        assert found is not None
        self.at = found.end()
        string, mark, word = found.groups()
        if string is not None:
            return "string", string[len(QUOTE) : -len(QUOTE)]
        return ("mark", mark) if mark else ("word", word.strip())

    def bare(self, start: int) -> str:
        """The bare value from `start` on, in which colons mean nothing."""
        found = _BARE_VALUE.match(self._text, start)
        assert found is not None
        self.at = found.end()
        return found[1].strip()


def parse_notation(text: str) -> dict[str, Any]:
    """The object that `text` is, from its opening to its closing brace; raises `NotationError`."""
    tokens = _Tokens(text)
    tokens.next()
    root: dict[str, Any] = {}
    stack: list[dict[str, Any] | list[Any]] = [root]
    fresh = True
    while stack:
        fresh = _step(tokens, stack, fresh=fresh)
        if len(stack) > MAX_LEVELS:
            raise NotationError
    return root


def _step(tokens: _Tokens, stack: list[dict[str, Any] | list[Any]], *, fresh: bool) -> bool:
    """Take in one member, or the end of the innermost object or list; true if one was just opened."""
    inner = stack[-1]
    closing = "}" if isinstance(inner, dict) else "]"
    start = tokens.at
    token = tokens.next()
    if token == ("mark", closing):
        stack.pop()
        return False
    if not fresh:
        if token != ("mark", ","):
            raise NotationError
        start = tokens.at
        token = tokens.next()
    key = ""
    if isinstance(inner, dict):
        key = _key(tokens, token, inner)
        start = tokens.at
        token = tokens.next()
    value = _value(tokens, token, start)
    if isinstance(inner, dict):
        inner[key] = value
    else:
        inner.append(value)
    if isinstance(value, dict | list):
        stack.append(value)
        return True
    return False


def _key(tokens: _Tokens, token: tuple[str, str], inner: dict[str, Any]) -> str:
    kind, key = token
    if kind == "mark" or key in inner or tokens.next() != ("mark", ":"):
        raise NotationError
    return key


def _value(tokens: _Tokens, token: tuple[str, str], start: int) -> Any:
    kind, text = token
    if kind == "string":
        return text
    if kind == "word":
        return word_or_json(tokens.bare(start))
    if text not in ("{", "["):
        raise NotationError
    return {} if text == "{" else []
