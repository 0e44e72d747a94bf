"""Call objects (GRAMMAR 4): which op and which arguments a JSON object names, if it is a call at all."""

from __future__ import annotations

import re
from typing import Any

from tests.oracle import strict
from tests.oracle.names import BARE_OPS

OP = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*", re.ASCII)
LONGEST_OP = 64
OP_KEYS = ("op", "tool", "name")
ARGUMENT_KEYS = ("args", "arguments", "parameters", "input")

Call = tuple[str, dict[str, Any]]


def is_op(word: Any) -> bool:
    return isinstance(word, str) and len(word) <= LONGEST_OP and OP.fullmatch(word) is not None


def is_bare(word: str) -> bool:
    """GRAMMAR 1, F3: may this op stand without JSON?"""
    return word in BARE_OPS


def call_object(found: Any) -> Call | None:
    """The call that an object is, else None: any other key makes it none."""
    if not isinstance(found, dict):
        return None
    if found.get("type") == "function" and "function" in found:
        return _openai(found)
    ops = [key for key in OP_KEYS if key in found]
    arguments = [key for key in ARGUMENT_KEYS if key in found]
    known = {*ops, *arguments, "id"}
    if len(ops) != 1 or len(arguments) > 1 or not known >= found.keys() or not _id_ok(found):
        return None
    return _call(found[ops[0]], found[arguments[0]] if arguments else {})


def unwrapped(found: dict[str, Any]) -> dict[str, Any]:
    """F1 and op lines: an object whose only key wraps the arguments is opened, once."""
    if len(found) != 1 or next(iter(found)) not in ARGUMENT_KEYS:
        return found
    inner = _as_object(next(iter(found.values())))
    return found if inner is None else inner


def _openai(found: dict[str, Any]) -> Call | None:
    inner = found["function"]
    if not found.keys() <= {"id", "type", "function"} or not _id_ok(found):
        return None
    if not isinstance(inner, dict) or inner.keys() != {"name", "arguments"}:
        return None
    return _call(inner["name"], inner["arguments"])


def _call(op: Any, arguments: Any) -> Call | None:
    opened = _as_object(arguments)
    return None if opened is None or not is_op(op) else (op, opened)


def _id_ok(found: dict[str, Any]) -> bool:
    return isinstance(found.get("id", ""), str)


def _as_object(found: Any) -> dict[str, Any] | None:
    """An object, or a string that is itself a JSON object."""
    if isinstance(found, str):
        try:
            found = strict.value(found)
        except strict.NotStrictError:
            return None
    return found if isinstance(found, dict) else None
