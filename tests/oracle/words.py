"""POSIX shell quoting, as far as one plain command needs it; anything else a shell would do refuses."""

from __future__ import annotations

from dataclasses import dataclass

# Unquoted, each of these makes a shell do something: expand, redirect, join, match names.
_ACTIVE = frozenset("|&;<>()$`*?[]{}\n")
_ACTIVE_AT_START = frozenset("~#!=")
_ESCAPED_IN_DOUBLE = '$`"\\\n'


class ShellError(ValueError):
    """A shell would have to do more than cut this into words."""


@dataclass
class Word:
    """One word; `bare` is the part of it that stood outside of quotes, `quoted` the part inside."""

    text: str = ""
    quoted: str = ""
    bare: str = ""


def split(command: str) -> list[Word]:
    """The words of a command."""
    found: list[Word] = []
    word: Word | None = None
    at = 0
    while at < len(command):
        char = command[at]
        if char in " \t":
            word, at = None, at + 1
        elif command.startswith("\\\n", at):
            at += 2
        elif char in _ACTIVE or char.isspace() or char < " " or char == "\x7f" or _starts_badly(char, word):
            raise ShellError(char)
        else:
            if word is None:
                word = Word()
                found.append(word)
            at = _part(command, at, word)
    return found


def _starts_badly(char: str, word: Word | None) -> bool:
    return word is None and char in _ACTIVE_AT_START


def _part(command: str, at: int, word: Word) -> int:
    """Add the quoted, escaped or plain part that begins at `at` to the word."""
    char = command[at]
    if char in "'\"":
        inner, at = _single(command, at) if char == "'" else _double(command, at)
        word.text += inner
        word.quoted += inner
        return at
    if char == "\\":
        at += 1
        if at == len(command):
            raise ShellError("trailing backslash")
        word.text += command[at]
        word.quoted += command[at]
        return at + 1
    word.text += char
    word.bare += char
    return at + 1


def _single(command: str, at: int) -> tuple[str, int]:
    end = command.find("'", at + 1)
    if end < 0:
        raise ShellError("open quote")
    return command[at + 1 : end], end + 1


def _double(command: str, at: int) -> tuple[str, int]:
    found, at = "", at + 1
    while at < len(command) and command[at] != '"':
        if command[at] in "$`":
            raise ShellError(command[at])
        if command[at] == "\\" and command[at + 1 : at + 2] in tuple(_ESCAPED_IN_DOUBLE):
            found += command[at + 1].replace("\n", "")
            at += 2
        else:
            found += command[at]
            at += 1
    if at == len(command):
        raise ShellError("open quote")
    return found, at + 1
