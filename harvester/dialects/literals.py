"""Python calls with literal keyword arguments: `[f(a=1), g(b=['x', None])]`.

Read without Python's own parser, which recurses and warns, and without recursion: open containers stand on a
stack. A tuple is a list; names other than True, False and None (and JSON's) are no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from harvester.dialects.jsoncalls import Named
from messaging.strict_json import MAX_LEVELS, StrictJsonError, loads

_STRING: Final = (
    r"'''(?>(?:[^\\']|\\(?s:.)|'(?!''))*)'''"
    r'|"""(?>(?:[^\\"]|\\(?s:.)|"(?!""))*)"""'
    r"|'(?>(?:[^\\'\n]|\\(?s:.))*)'"
    r'|"(?>(?:[^\\"\n]|\\(?s:.))*)"'
)
_TOKEN: Final = re.compile(
    rf"\s*+(?:(?P<string>{_STRING})"
    r"|(?P<number>[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?)"
    r"|(?P<name>[^\W\d][\w.-]*+)"
    r"|(?P<mark>[\[\](){},:=])"
    r"|(?P<end>\Z))"
)
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<char>[\\'\"abfnrtv\n])|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"
    r"|(?P<octal>[0-7]{1,3}))"
)
_CHARS: Final = dict(
    zip("\\'\"abfnrtv\n", ("\\", "'", '"', "\a", "\b", "\f", "\n", "\r", "\t", "\v", ""), strict=True)
)
_WORDS: Final = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}


class LiteralError(ValueError):
    """The text is no list of such calls. Never leaves the package."""


class _Token(NamedTuple):
    kind: str
    text: str


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while True:
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            raise LiteralError
        position = found.end()
        yield _Token(found.lastgroup, found[found.lastgroup])


def _unescaped(found: re.Match[str]) -> str:
    if found["char"]:
        return _CHARS[found["char"]]
    base = 8 if found["octal"] else 16
    code = int(found["octal"] or found["x"] or found["u"] or found["U"], base)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError
    return chr(code)


def _string(written: str) -> str:
    edge = 3 if written[:3] in ("'''", '"""') and len(written) >= 6 else 1
    return _ESCAPE.sub(_unescaped, written[edge:-edge])


def _number(written: str) -> Any:
    try:
        return loads(written)
    except StrictJsonError:
        raise LiteralError from None


def _scalar(token: _Token) -> Any:
    if token.kind == "string":
        return _string(token.text)
    if token.kind == "number":
        return _number(token.text)
    if token.kind == "name" and token.text in _WORDS:
        return _WORDS[token.text]
    raise LiteralError


class _Open:
    """A container that is being filled."""

    def __init__(self, mark: str) -> None:
        self.closing = _CLOSING[mark]
        self.value: dict[str, Any] | list[Any] = {} if mark == "{" else []
        self.key = ""  # of the member that comes, in an object

    def add(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        else:
            self.value[self.key] = value


def _value(token: _Token, tokens: Iterator[_Token]) -> Any:
    """The literal that begins with `token`."""
    if token.text not in _CLOSING or token.kind != "mark":
        return _scalar(token)
    stack = [_Open(token.text)]
    comma = True  # may a member come?
    while True:
        inner = stack[-1]
        token = next(tokens)
        if token == ("mark", inner.closing):
            stack.pop()
            if not stack:
                return inner.value
            stack[-1].add(inner.value)
            comma = False
        elif token == ("mark", ",") and not comma:
            comma = True
        elif not comma:
            raise LiteralError
        else:
            token = _keyed(token, inner, tokens)
            if token.kind == "mark" and token.text in _CLOSING:
                stack.append(_Open(token.text))
            else:
                inner.add(_scalar(token))
                comma = False
        if len(stack) > MAX_LEVELS:
            raise LiteralError


def _keyed(token: _Token, inner: _Open, tokens: Iterator[_Token]) -> _Token:
    """In an object the key is taken off first."""
    if isinstance(inner.value, list):
        return token
    if token.kind != "string" or next(tokens) != ("mark", ":"):
        raise LiteralError
    inner.key = _string(token.text)
    if inner.key in inner.value:
        raise LiteralError
    return next(tokens)


def _call(token: _Token, tokens: Iterator[_Token]) -> Named:
    if token.kind != "name" or next(tokens) != ("mark", "("):
        raise LiteralError
    arguments: dict[str, Any] = {}
    name, token = token.text, next(tokens)
    while token != ("mark", ")"):
        if token.kind != "name" or token.text in arguments or next(tokens) != ("mark", "="):
            raise LiteralError
        arguments[token.text] = _value(next(tokens), tokens)
        token = next(tokens)
        if token == ("mark", ","):
            token = next(tokens)
        elif token != ("mark", ")"):
            raise LiteralError
    return Named(name, arguments)


def parse_literal(text: str) -> Any:
    """The value that `text` is, a list or a dictionary perhaps; raises `LiteralError`."""
    tokens = _tokens(text)
    value = _value(next(tokens), tokens)
    if next(tokens).kind != "end":
        raise LiteralError
    return value


def parse_calls(text: str) -> tuple[Named, ...]:
    """The calls of `[f(…), g(…)]`; raises `LiteralError`."""
    tokens = _tokens(text)
    if next(tokens) != ("mark", "["):
        raise LiteralError
    found: list[Named] = []
    token = next(tokens)
    while token != ("mark", "]"):
        found.append(_call(token, tokens))
        token = next(tokens)
        if token == ("mark", ","):
            token = next(tokens)
        elif token != ("mark", "]"):
            raise LiteralError
    if next(tokens).kind != "end":
        raise LiteralError
    return tuple(found)
