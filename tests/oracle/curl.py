"""F6: a `curl` of our own `/exec` (GRAMMAR 6), parsed and never run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.oracle import strict, words
from tests.oracle.calls import Call, call_object

_LINE = re.compile(r"(?:\$ )?curl ")
_URL = re.compile(r"https://(?:localhost|127\.0\.0\.1|\[::1\])(?::([0-9]{1,5}))?/exec", re.ASCII)
_HERE = re.compile(r"<<[ \t]*(['\"])([A-Za-z_][A-Za-z0-9_]*)\1(?=[ \t]|\Z)", re.ASCII)

LONGEST_BYTES = 64 * 1024  # GRAMMAR 4
BODY = ("-d", "--data", "--data-raw", "--data-binary", "--json")
FLAGS = ("-s", "-S", "-k", "-f", "-i", "-v")
LONG_FLAGS = ("--silent", "--show-error", "--insecure", "--fail", "--include", "--verbose")
VALUED = ("-X", "--request", "-H", "--header", "--max-time", "--cacert", "--cert", "--key")


@dataclass(frozen=True)
class Command:
    """A curl line with its continuations: where it ends, and its call if it is one."""

    end: int
    call: Call | None


@dataclass
class _Given:
    bodies: list[words.Word] = field(default_factory=list)
    options: list[str] = field(default_factory=list)  # by which each body was given
    urls: list[str] = field(default_factory=list)


def in_text(text: str, at: int) -> Command | None:
    """The curl line that begins at `at` in a paragraph, if one does."""
    if not _LINE.match(text, at):
        return None
    end = _line_end(text, at)
    while text[at:end].endswith("\\") and _odd_backslashes(text[at:end]) and end < len(text):
        end = _line_end(text, end + 1)
    return Command(end, command_call(text[at:end].rstrip(" \t")))


def in_fence(body: str) -> Call | None:
    """The call of a fence that holds one command and nothing else."""
    body = re.sub(r"(?:\n[ \t]*)+\Z", "", body.lstrip("\n \t"))
    if not _LINE.match(body):
        return None
    command, document = _here_document(body)
    return command_call(command, document)


def command_call(command: str, document: str | None = None) -> Call | None:
    """The call of one whole command; `document` is what its here-document holds."""
    try:
        given = _given(words.split(command.removeprefix("$ "))[1:])
    except words.ShellError:
        return None
    if given is None or len(given.urls) != 1 or not _ours(given.urls[0]) or len(given.bodies) != 1:
        return None
    body = given.bodies[0]
    reads_document = body.text == "@-" and given.options[0] in ("-d", "--data")
    if reads_document != (document is not None):
        return None
    if document is None and body.bare:
        return None
    told = body.text if document is None else document
    if len(told.encode("utf-8", "surrogatepass")) > LONGEST_BYTES:
        return None
    try:
        return call_object(strict.value(told))
    except strict.NotStrictError:
        return None


def _ours(url: str) -> bool:
    found = _URL.fullmatch(url)
    return found is not None and (found.group(1) is None or int(found.group(1)) < 65536)


def _given(args: list[words.Word]) -> _Given | None:
    """The URL and body among the arguments; None where an option is not on the list."""
    given = _Given()
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if not word.text.startswith("-") or word.text == "-":
            given.urls.append(word.text)
        elif not (_long(word, rest, given) if word.text.startswith("--") else _short(word, rest, given)):
            return None
    return given


def _long(word: words.Word, rest: list[words.Word], given: _Given) -> bool:
    name, joined, value = word.text.partition("=")
    if joined:
        given.bodies.append(words.Word(value, value, word.bare.partition("=")[2]))
        given.options.append(name)
        return name in BODY
    return name in LONG_FLAGS or _valued(name, rest, given)


def _valued(name: str, rest: list[words.Word], given: _Given) -> bool:
    """Take the value of an option from the next word."""
    if name not in BODY + VALUED or not rest:
        return False
    value = rest.pop(0)
    if name in BODY:
        given.bodies.append(value)
        given.options.append(name)
        return True
    return value.text == "POST" if name in ("-X", "--request") else not value.text.startswith("@")


def _short(word: words.Word, rest: list[words.Word], given: _Given) -> bool:
    """Short options joined to each other and to their value."""
    for index, letter in enumerate(word.text[1:], start=2):
        option = "-" + letter
        if option in FLAGS:
            continue
        value = word.text[index:]
        if value:
            rest.insert(0, words.Word(value, "", word.bare[index:]))
        return _valued(option, rest, given)
    return True


def _here_document(body: str) -> tuple[str, str | None]:
    """The command and its quoted here-document, which has to be all that follows the command."""
    lines = body.split("\n")
    for index, line in enumerate(lines):
        for here in _HERE.finditer(line):
            before = "\n".join([*lines[:index], line[: here.start()]])
            if not _is_whole(before):
                continue
            rest = lines[index + 1 :]
            if here.group(2) in rest[:-1] or rest[-1:] != [here.group(2)]:
                return body, None
            return before + " " + line[here.end() :], "\n".join(rest[:-1])
    return body, None


def _is_whole(command: str) -> bool:
    """Is no quote open at its end?"""
    try:
        words.split(command)
    except words.ShellError:
        return False
    return True


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _odd_backslashes(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1
