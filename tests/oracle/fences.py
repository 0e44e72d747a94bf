"""F5: what a closed call fence holds (GRAMMAR 3); all or nothing."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.oracle import directives, strict
from tests.oracle.calls import OP, Call, call_object, is_bare, is_op, unwrapped
from tests.oracle.names import BOX_ACTIONS

CALL_FENCES = ("tool", "exec", "box")
SHELL_FENCES = ("bash", "sh", "shell", "zsh", "console")
LONGEST_BYTES = 64 * 1024
_BLANKS = " \t\n"


def calls(language: str, body: str) -> list[Call]:
    """The calls of a block, none if any part of it is no call."""
    if len(body.encode("utf-8", "surrogatepass")) > LONGEST_BYTES:
        return []
    readings = (_actions, _box_object, _objects, _lines, _brackets)
    for reading in readings if language == "box" else readings[2:]:
        found = reading(body)
        if found or (reading is _actions and any(map(_is_action, _filled(body)))):
            return found or []
    return []


def _is_action(line: str) -> bool:
    """In `box` a line is read as an action before anything else."""
    action, *rest = re.split(r"[ \t]+", line)
    return action in BOX_ACTIONS and len(rest) <= 1 and not any(re.search(r"\s", word) for word in rest)


def _actions(body: str) -> list[Call] | None:
    found: list[Call] = []
    for line in _filled(body):
        if not _is_action(line):
            return None
        action, *rest = re.split(r"[ \t]+", line)
        found.append(("box.exec", {"action": action, **({"arg": rest[0]} if rest else {})}))
    return found


def _box_object(body: str) -> list[Call] | None:
    found = _values(body)
    if found is None or len(found) != 1 or not isinstance(found[0], dict):
        return None
    return [("box.exec", found[0])] if "action" in found[0] and found[0].keys() <= {"action", "arg"} else None


def _objects(body: str) -> list[Call] | None:
    found = _values(body)
    if found is None:
        return None
    if len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    read = [call_object(value) for value in found]
    return None if None in read else [call for call in read if call]


def _values(body: str) -> list[Any] | None:
    """The JSON values that the body is made of, blanks between them."""
    found: list[Any] = []
    rest = body.strip(_BLANKS)
    try:
        while rest:
            _, end = json.JSONDecoder(strict=True, parse_int=str).raw_decode(rest)
            found.append(strict.value(rest[:end]))
            rest = rest[end:].lstrip(_BLANKS)
    except (ValueError, RecursionError):
        return None
    return found


def _lines(body: str) -> list[Call] | None:
    found: list[Call] = []
    for line in _filled(body):
        call = _op_line(line)
        if call is None:
            return None
        found.append(call)
    return found


def _op_line(line: str) -> Call | None:
    op = OP.match(line)
    if op is None or not is_op(op.group()):
        return None
    rest = line[op.end() :].strip(" \t")
    if not rest:
        return (op.group(), {}) if is_bare(op.group()) else None
    try:
        found = strict.value(rest)
    except strict.NotStrictError:
        return None
    return (op.group(), unwrapped(found)) if isinstance(found, dict) else None


def _brackets(body: str) -> list[Call] | None:
    found: list[Call] = []
    at = 0
    while at < len(body):
        if body[at] in _BLANKS:
            at += 1
            continue
        read = directives.read(body, at)
        if read is None or read.call is None or re.search(r"\n[ \t]*\n", body[at : read.end]):
            return None
        found.append(read.call)
        at = read.end
    return found


def _filled(body: str) -> list[str]:
    return [line.strip(" \t") for line in body.split("\n") if line.strip(" \t")]
