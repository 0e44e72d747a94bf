"""Frozen values that cost no more to make than others: for those of which each call makes several.

A frozen dataclass fills its fields one by one through `object.__setattr__`, so that it takes twice as long to
make as an open one. A call makes some twenty, of up to sixteen fields.

    @quickly_made
    @dataclass(frozen=True, slots=True)
    class Outcome: ...

Fields are filled while the object is of a twin of its class that is open; then it is of its class for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from functools import update_wrapper
from typing import Any, Final, TypeVar

T = TypeVar("T")

_MAKE: Final = "_make_{}"
_UNSET: Final = object()


def quickly_made(cls: type[T]) -> type[T]:
    """`cls`, a dataclass with slots and no post-init, with another `__init__` of the same signature.

    What is made by it is a `cls`, so a subclass needs its own, as each dataclass has one.
    """
    slots = cls.__slots__  # type: ignore[attr-defined]  # whoever has none is told so here
    made: dict[str, Any] = {
        "_open": type(cls.__name__, cls.__bases__, {"__slots__": slots}),
        "_closed": cls,
        "_become": object.__setattr__,
        "_unset": _UNSET,
    }
    made |= {_MAKE.format(one.name): one.default_factory for one in _all(cls)}
    made |= {f"_default_{one.name}": one.default for one in _all(cls)}
    exec(_source(cls), made)  # noqa: S102 - names of our own fields, as `dataclass` itself does it
    setattr(cls, "__init__", update_wrapper(made["__init__"], cls.__init__))  # noqa: B010 - mypy takes it for a method
    return cls


def _all(cls: type) -> tuple[Field[Any], ...]:
    found: tuple[Field[Any], ...] = fields(cls)
    if hasattr(cls, "__post_init__") or not all(one.init for one in found):
        raise TypeError(f"{cls.__name__} does more than to fill its fields")
    return found


def _source(cls: type) -> str:
    by_place = [_parameter(one) for one in _all(cls) if not one.kw_only]
    by_name = [_parameter(one) for one in _all(cls) if one.kw_only]
    parameters = ", ".join(("self", *by_place, *(("*", *by_name) if by_name else ())))
    return "\n    ".join((f"def __init__({parameters}):", *_lines(cls)))


def _parameter(one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return f"{one.name}=_unset"
    return one.name if one.default is MISSING else f"{one.name}=_default_{one.name}"


def _lines(cls: type) -> Iterator[str]:
    yield '_become(self, "__class__", _open)'
    for one in _all(cls):
        made = f"{_MAKE.format(one.name)}() if {one.name} is _unset else {one.name}"
        yield f"self.{one.name} = {one.name if one.default_factory is MISSING else made}"
    yield "self.__class__ = _closed"
