"""A typed error with the way out: near names, the arguments that the op takes, an example (O-13, O-19).

The texts are not yet safe to post: rendering takes the bracket off each example (O-18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from harvester.formatters.plain import compact, lines
from harvester.formatters.tools import described, signature
from messaging import Call, CallError, ErrorCode, OpInfo
from messaging.near import near as spelled_alike

Registry = Mapping[str, OpInfo]
Hint = Callable[[CallError, Call, Registry], Iterator[str]]

_MOST_NEAR: Final = 3
# Where the daemon keeps them.
_NEAR_KEYS: Final = ("suggestions", "near")


def failure(error: CallError, call: Call, ops: Sequence[OpInfo]) -> str:
    """Code and message, then the hint for this code, else the details. `error` has been cleaned."""
    return "\n".join(_failure(error, call, {op.name: op for op in ops}))


def _failure(error: CallError, call: Call, registry: Registry) -> Iterator[str]:
    yield f"{error.code}: {error.message}"
    if error.retryable:
        yield "This may work later."
    yield from HINTS.get(error.code, _details)(error, call, registry)


def _details(error: CallError, _call: Call, _registry: Registry) -> Iterator[str]:
    yield from lines(dict(error.details))


def _near(error: CallError, name: str, known: Sequence[str]) -> list[str]:
    """What the daemon suggests, else what is spelled alike."""
    for key in _NEAR_KEYS:
        suggested = error.details.get(key)
        if isinstance(suggested, list) and suggested:
            return [str(one) for one in suggested[:_MOST_NEAR]]
    return spelled_alike(name, known, _MOST_NEAR)


def _said(near: Sequence[str], error: CallError) -> Iterator[str]:
    """Near names, unless the message has them already."""
    if not all(name in error.message for name in near):
        yield f"near: {', '.join(near)}"


def _usage(op: OpInfo) -> Iterator[str]:
    yield f"{op.name} takes: {signature(op.args_schema)}"
    for name, schema in op.args_schema.get("properties", {}).items():
        yield f"  {name}: {_kind(schema)}".rstrip(": ")
    yield f"example: [TOOL {op.name} {compact(dict(op.example))}]"


def _kind(schema: Any) -> str:
    """`string, at most 128 characters long`: type and meaning of one argument."""
    if not isinstance(schema, dict):
        return ""
    kinds = [choice.get("type") for choice in schema.get("anyOf", ()) if isinstance(choice, dict)]
    kind = schema.get("type") or " or ".join(str(one) for one in kinds if one and one != "null")
    choices = f"one of {', '.join(map(str, schema['enum']))}" if "enum" in schema else ""
    return ", ".join(filter(None, (kind, choices, schema.get("description", ""))))


def _unknown_op(error: CallError, call: Call, registry: Registry) -> Iterator[str]:
    near = _near(error, call.op, list(registry))
    yield from _said(near, error)
    for name in near[:1]:
        if name in registry:
            yield from _usage(registry[name])
    if registry:
        yield f"all ops: {', '.join(registry)}"


def _wrong_arguments(error: CallError, call: Call, registry: Registry) -> Iterator[str]:
    if call.op in registry:
        yield from _usage(registry[call.op])
    else:
        yield from _details(error, call, registry)


def _unknown_action(error: CallError, call: Call, registry: Registry) -> Iterator[str]:
    actions = dict(registry["box.exec"].actions) if "box.exec" in registry else {}
    yield from _said(_near(error, str(call.args.get("action", "")), list(actions)), error)
    more = [described(name, arg) for name, arg in actions.items() if arg or name not in error.message]
    if more:
        yield f"actions: {', '.join(more)}"


def _not_found(error: CallError, _call: Call, _registry: Registry) -> Iterator[str]:
    yield from _said(_near(error, "", []), error)


HINTS: Final[Mapping[ErrorCode, Hint]] = MappingProxyType(
    {
        ErrorCode.UNKNOWN_OP: _unknown_op,
        ErrorCode.INVALID_ARGS: _wrong_arguments,
        ErrorCode.UNKNOWN_ACTION: _unknown_action,
        ErrorCode.NOT_FOUND: _not_found,
    }
)
