"""The keys of an operator's op and of its arguments: what each takes, as a check and in words. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

import regex

from messaging import ErrorCode

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
# What would make a fixed program run another one, or code of whoever calls.
_CODE_IN_VARIABLES: Final = re.compile(
    r"LD_\w+|PYTHON\w+|PERL5?\w*|RUBY\w+|NODE_\w+|BASH_ENV|ENV|IFS|GIT_\w+"
)
LAYERS: Final = "layers"
BUBBLEWRAP: Final = "bubblewrap"
SANDBOXES: Final = (LAYERS, BUBBLEWRAP)
_TYPES: Final = ("string", "integer", "boolean", "path")
# execve(2) takes 128 KiB in one argument; a directive has at most 64 KiB.
_MOST_CHARS: Final = 32 * 1024


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53


def _is_length(value: Any) -> bool:
    return _is_integer(value) and 1 <= value <= _MOST_CHARS


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_line(value: Any) -> bool:
    return _is_text(value) and value.strip() != "" and value.isprintable() and len(value) <= 200


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(_is_text, value)) and value[0] != ""


def _is_lines(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(_is_line, value))


def _is_absolute(value: Any) -> bool:
    return _is_text(value) and value.startswith("/") and ".." not in PurePosixPath(value).parts


def _is_folders(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_absolute, value))


def _is_limit(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 3600


def _is_variables(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _VARIABLE.fullmatch(name) and not _CODE_IN_VARIABLES.fullmatch(name) and _is_text(text)
        for name, text in value.items()
    )


def _is_exit_codes(value: Any) -> bool:
    return isinstance(value, dict) and all(
        code.isdecimal() and int(code) < 256 and meaning in ("ok", *ErrorCode)
        for code, meaning in value.items()
    )


def _is_pattern(value: Any) -> bool:
    try:
        return _is_text(value) and bool(regex.compile(value))
    except regex.error:
        return False


def _is_tables(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(inside, dict) for inside in value.values())


@dataclass(frozen=True, slots=True)
class Key:
    """What a key takes, as a check and in words."""

    fits: Callable[[Any], bool]
    takes: str


OF_OP: Final[Mapping[str, Key]] = {
    "argv": Key(_is_words, "a list of strings, the program first"),
    "summary": Key(_is_line, "one line of at most 200 characters"),
    "side_effecting": Key(_is_bool, "true or false"),
    "arguments": Key(_is_tables, "a table of tables, one for each argument"),
    "stdin": Key(_is_text, "a string, with places for arguments"),
    "time_limit_s": Key(_is_limit, "a number of seconds above 0 and up to 3600"),
    "output": Key(lambda value: value in ("text", "json"), '"text" or "json"'),
    "exit_codes": Key(_is_exit_codes, f'a table of exit codes, each "ok" or one of {", ".join(ErrorCode)}'),
    "approval": Key(_is_bool, "true or false"),
    "folder": Key(_is_absolute, "an absolute path"),
    "environment": Key(_is_variables, "a table of strings; no variable that makes programs load code"),
    "readable": Key(_is_folders, "a list of absolute paths"),
    "writable": Key(_is_folders, "a list of absolute paths"),
    "network": Key(lambda value: value in ("none", "local", "all"), '"none", "local" or "all"'),
    "user": Key(_is_line, "the name of a user"),
    "confined": Key(_is_bool, "true or false"),
    "sandbox": Key(lambda value: value in SANDBOXES, '"layers" or "bubblewrap"'),
}  # fmt: skip

OF_ARGUMENT: Final[Mapping[str, Key]] = {
    "type": Key(lambda value: value in _TYPES, f"one of {', '.join(_TYPES)}"),
    "description": Key(_is_line, "one line of at most 200 characters"),
    "required": Key(_is_bool, "true or false"),
    "example": Key(lambda value: _is_text(value) or _is_integer(value) or _is_bool(value), "a value"),
}
OF_TYPE: Final[Mapping[str, Mapping[str, Key]]] = {
    "string": {
        "choices": Key(_is_lines, "a list of strings"),
        "pattern": Key(_is_pattern, "a regular expression"),
        "max_length": Key(_is_length, f"a number of characters from 1 to {_MOST_CHARS}"),
        "multiline": Key(_is_bool, "true or false"),
        "dash": Key(_is_bool, "true or false"),
    },
    "integer": {"min": Key(_is_integer, "a whole number"), "max": Key(_is_integer, "a whole number")},
    "boolean": {"word": Key(_is_line, "the word that stands in the place of a true one")},
    "path": {"below": Key(_is_absolute, "an absolute path")},
}  # fmt: skip
NEEDED: Final[Mapping[str, str]] = {"boolean": "word", "path": "below"}
