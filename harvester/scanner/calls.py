"""From a JSON value to an op and its arguments: call objects, unwrapping, actions (GRAMMAR 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from harvester.policy import ScanPolicy
from messaging.strict_json import StrictJsonError, load_object
from patterns import vocabulary

# GRAMMAR 1: "ASCII, at most 64 characters".
OP: Final = r"[A-Za-z][A-Za-z0-9_.-]*+"
MAX_OP_CHARS: Final = 64
_OP: Final = re.compile(OP)
_BOX: Final = "box."


class Written(NamedTuple):
    """A call as the text has it."""

    op: str
    args: dict[str, Any]
    id: str | None = None


def is_op(word: str) -> bool:
    """May this be the name of an op?"""
    return len(word) <= MAX_OP_CHARS and _OP.fullmatch(word) is not None


def is_bare(op: str, policy: ScanPolicy) -> bool:
    """F3: may the op stand without arguments?"""
    if op in policy.bare_ops:
        return True
    action = vocabulary().box_actions.get(op.removeprefix(_BOX)) if op.startswith(_BOX) else None
    return action is not None and action.argument is None


def _object(value: Any) -> dict[str, Any] | None:
    """An object, or a string that is itself a JSON object."""
    if isinstance(value, str):
        try:
            return load_object(value)
        except StrictJsonError:
            return None
    return value if isinstance(value, dict) else None


def unwrap(args: dict[str, Any]) -> dict[str, Any]:
    """F1 and `op {json}` lines: the object under a single key that means arguments; once."""
    if len(args) != 1:
        return args
    ((key, value),) = args.items()
    inner = _object(value) if key in vocabulary().call_keys.args else None
    return args if inner is None else inner


_OPENAI: Final = ("name",), ("arguments",)


def _openai(value: dict[str, Any]) -> Written | None:
    """`{"id"?, "type": "function", "function": {"name": …, "arguments": …}}`."""
    function = value.get("function")
    if (
        value.get("type") != "function"
        or not isinstance(function, dict)
        or function.keys() != {"name", "arguments"}
    ):
        return None
    return _call({"id": value["id"], **function} if "id" in value else function, *_OPENAI)


def _only(value: dict[str, Any], keys: Iterable[str]) -> list[str]:
    return [key for key in keys if key in value]


def _call(value: dict[str, Any], op_keys: Iterable[str], arg_keys: Iterable[str]) -> Written | None:
    ops, args = _only(value, op_keys), _only(value, arg_keys)
    named = value.get("id")
    if len(ops) != 1 or len(args) > 1 or value.keys() - {*ops, *args, "id"}:
        return None
    op = value[ops[0]]
    arguments = _object(value[args[0]]) if args else {}
    good = isinstance(op, str) and is_op(op) and ("id" not in value or isinstance(named, str))
    return Written(op, arguments, named) if good and arguments is not None else None


def call_object(value: Any) -> Written | None:
    """The call that a call object makes, None if the value is no call object."""
    if not isinstance(value, dict):
        return None
    if value.keys() <= {"id", "type", "function"}:
        return _openai(value)
    keys = vocabulary().call_keys
    return _call(value, keys.op, keys.args)


def box_object(value: Any) -> Written | None:
    """GRAMMAR 3: the one object of a box fence, `{"action": …, "arg"?: …}`."""
    if isinstance(value, dict) and {"action"} <= value.keys() <= {"action", "arg"}:
        return Written("box.exec", value)
    return None


def box_action(action: str, arg: str | None) -> Written:
    """A line `action` or `action arg` of a box fence."""
    return Written("box.exec", {"action": action} if arg is None else {"action": action, "arg": arg})
