"""One simple command in POSIX shell quoting, taken apart without a shell (GRAMMAR 6).

Whatever a shell would still have to do makes it None: variables, substitutions, globs, braces, tildes,
comments, pipes, lists, redirections but a quoted here-document.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Word(NamedTuple):
    """A word after quote removal; `quoted` has a `q` for each character that was quoted, else `b`."""

    text: str
    quoted: str

    def behind(self, count: int) -> Word:
        """The word without its first characters."""
        return Word(self.text[count:], self.quoted[count:])

    @property
    def literal(self) -> bool:
        """Was all of it quoted?"""
        return "b" not in self.quoted and self.text != ""


class Command(NamedTuple):
    """Its words, and the here-document if there is one."""

    words: list[Word]
    document: str | None


_TOKEN: Final = re.compile(
    r"""(?P<blank>[ \t]++)
    |(?P<joined>\\\n)
    |'(?P<single>[^']*+)'
    |"(?P<double>[^"\\$`]*+(?>(?:\\[\s\S][^"\\$`]*+)*))"
    |\\(?P<escaped>[^\n])
    |<<[ \t]*+(?P<mark>["'])(?P<delimiter>[A-Za-z0-9_.-]+)(?P=mark)(?=[ \t\n])
    |(?P<bare>[^\s\x00-\x1f\x7f\\'"$`&|;<>(){}*?\[\]]++)
    |(?P<end>\n)""",
    re.VERBOSE,
)
_ESCAPED_IN_DOUBLE: Final = re.compile(r'\\(?:\n|([$`"\\]))')
_EXPANDED_AT_START: Final = frozenset("~#!=")


def _unescaped(double: str) -> str:
    return _ESCAPED_IN_DOUBLE.sub(lambda match: match[1] or "", double)


def _piece(match: re.Match[str]) -> tuple[str, str]:
    """A piece of a word and whether it was quoted."""
    kind = match.lastgroup
    assert kind is not None
    text = _unescaped(match[kind]) if kind == "double" else match[kind]
    return text, ("b" if kind == "bare" else "q") * len(text)


def _document(text: str, start: int, delimiter: str) -> str | None:
    """The here-document from `start` to its delimiter, behind which nothing may stand."""
    lines = text[start:].split("\n")
    if delimiter not in lines:
        return None
    end = lines.index(delimiter)
    return "\n".join(lines[:end]) if not "".join(lines[end + 1 :]).strip(" \t") else None


def _filled(text: str) -> str:
    """The text from its first word to the end of the last line that is not blank.

    Blanks behind the last word stay: a line of the delimiter and a blank ends no here-document.
    """
    text = text.lstrip(" \t\n")
    end = text.find("\n", len(text.rstrip(" \t\n")))
    return text if end < 0 else text[:end]


class _Reader:
    """Collects the words of a command."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.delimiter: str | None = None
        self._open: list[tuple[str, str]] = []

    def end_word(self) -> None:
        if self._open:
            self.words.append(
                Word("".join(text for text, _ in self._open), "".join(mask for _, mask in self._open))
            )
            self._open = []

    def add(self, match: re.Match[str]) -> bool:
        """Take a token; False if a shell would have to do something."""
        if match.lastgroup == "joined":  # POSIX 2.2.1: a line continuation is nothing, not a blank
            return True
        if match.lastgroup == "blank":
            self.end_word()
        elif match["delimiter"]:
            self.end_word()
            first, self.delimiter = self.delimiter is None, match["delimiter"]
            return first
        elif match["bare"] and not self._open and match["bare"][0] in _EXPANDED_AT_START:
            return False
        else:
            self._open.append(_piece(match))
        return True


def read_command(text: str, *, documents: bool) -> Command | None:
    """The one command that `text` is, blank lines around it aside; here-documents only if `documents`."""
    reader, pos, text = _Reader(), 0, _filled(text)
    while pos < len(text):
        match = _TOKEN.match(text, pos)
        if match is None:
            return None
        pos = match.end()
        if match["end"]:
            break
        if not reader.add(match):
            return None
    reader.end_word()
    if reader.delimiter is None:
        return Command(reader.words, None) if pos == len(text) else None
    document = _document(text, pos, reader.delimiter) if documents else None
    return None if document is None else Command(reader.words, document)
