"""The JSON Schema of a tool is its server's: it may ask for more than a check should ever do.

It is held to the published form, to what stands in it, and to a time. Nothing is fetched that it refers to.
A pattern that backtracks, a list compared with itself, a reference to itself: all of it ends with the time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Final

import regex
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

# The daemon answers nobody meanwhile. An honest check takes far less than a thousandth of it.
_CHECK_S: Final = 0.25
# As large as an agent reads in one list with others.
_MOST_CHARS: Final = 64 * 1024
_UNTIL_S: Final[ContextVar[float]] = ContextVar("inband.mcp.until")
# They compare every name with every pattern, inside of the library, by an engine that knows no time.
_REFUSED: Final = ("patternProperties", "unevaluatedProperties")
_REFERENCES: Final = ("$ref", "$dynamicRef")
_OF_NAMES: Final = ("properties", "$defs", "definitions", "dependentSchemas", "dependentRequired")

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def problem_of(schema: Mapping[str, Any]) -> str | None:
    """Why calls cannot be held to this schema; None where they can."""
    try:
        if len(json.dumps(schema)) > _MOST_CHARS:
            return f"it has more than {_MOST_CHARS} characters"
        Draft202012Validator.check_schema(dict(schema))
        return next(_problems(schema), None)
    except RecursionError:
        return "it is nested too deeply"
    except SchemaError as wrong:
        return f"it is no JSON Schema: {wrong.message[:200]}"


def _problems(node: Any, *, names: bool = False) -> Iterator[str]:
    """`names`: the keys are names that the server chose, not words of a schema."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if not names and key in _REFUSED:
            yield f"`{key}` cannot be held to a time"
        if not names and key in _REFERENCES and not str(value).startswith("#"):
            yield f"it refers to {value[:200]!r}, and nothing is fetched"
        if not names and key == "pattern" and not _compiles(value):
            yield f"{value[:200]!r} is no regular expression"
        if isinstance(value, dict | list):
            yield from _problems(value, names=not names and key in _OF_NAMES)


def _compiles(pattern: str) -> bool:
    try:
        regex.compile(pattern)
    except regex.error:
        return False
    return True


def first_wrong(schema: Mapping[str, Any], args: Mapping[str, Any]) -> tuple[str, str] | None:
    """Where the arguments do not fit, and how; None where they do.

    Raises TimeoutError, also for a reference that leads nowhere: then nobody ever knows.
    """
    token = _UNTIL_S.set(time.monotonic() + _CHECK_S)
    try:
        validator = _Timed(dict(schema), registry=Registry())
        wrong = next(validator.iter_errors(dict(args)), None)
    except (RecursionError, Unresolvable):
        raise TimeoutError from None
    finally:
        _UNTIL_S.reset(token)
    if wrong is None:
        return None
    return ".".join(map(str, wrong.absolute_path))[:128] or "arguments", wrong.message[:300]


def _left_s() -> float:
    left_s = _UNTIL_S.get() - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s


def _timed(keyword: Keyword) -> Keyword:
    def check(validator: Any, wanted: Any, given: Any, schema: Any) -> Iterator[ValidationError] | None:
        _left_s()
        return keyword(validator, wanted, given, schema)

    return check


def _pattern(validator: Any, wanted: Any, given: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(given, "string") and not regex.search(wanted, given, timeout=_left_s()):
        yield ValidationError(f"{given!r} does not match {wanted!r}")


def _unique(validator: Any, wanted: Any, given: Any, _schema: Any) -> Iterator[ValidationError]:
    if wanted and validator.is_type(given, "array"):
        written = {json.dumps(one, sort_keys=True) for one in given}
        if len(written) < len(given):
            yield ValidationError("the list has the same entry twice")


_OURS: Final[Mapping[str, Keyword]] = {"pattern": _pattern, "uniqueItems": _unique}
_Timed: Final = extend(
    Draft202012Validator,
    {name: _timed(keyword) for name, keyword in (Draft202012Validator.VALIDATORS | _OURS).items()},
)
