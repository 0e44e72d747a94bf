"""The arguments of an operator's op as a model, checked as strictly as those of our own ops.

A string never begins with `-` unless it is declared to, holds no control character, and fits its pattern
as a whole; a path has no way out of its folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import regex
from pydantic import AfterValidator, Field, create_model
from pydantic_core import PydanticCustomError

from exec_daemon.calls.op import Arguments
from exec_daemon.operator_ops.spec import ArgumentSpec
from messaging import CallError, ErrorCode, error

_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROLS_BUT_LINES: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PATH_CHARS: Final = 1024
# An honest comparison takes microseconds. A pattern such as `(a+)+b` takes longer than the world is old for a
# value that is made for it, and nobody is answered meanwhile.
_COMPARE_S: Final = 0.1


def model(specs: tuple[ArgumentSpec, ...]) -> type[Arguments]:
    """The model; its JSON Schema is what `tools.list` shows."""
    fields: dict[str, Any] = {spec.name: _field(spec) for spec in specs}
    made: type[Arguments] = create_model("Args", __base__=Arguments, **fields)
    return made


def example(specs: tuple[ArgumentSpec, ...]) -> dict[str, Any]:
    """An arguments object that the model accepts: the required ones, and those with an example."""
    shown = (spec for spec in specs if spec.required or spec.example is not None)
    return {spec.name: _EXAMPLES[spec.type](spec) if spec.example is None else spec.example for spec in shown}


_EXAMPLES: Final[Mapping[str, Callable[[ArgumentSpec], Any]]] = {
    "string": lambda spec: spec.choices[0] if spec.choices else "x",
    "integer": lambda spec: spec.minimum,
    "boolean": lambda _: True,
    "path": lambda _: "x",
}


def _field(spec: ArgumentSpec) -> tuple[Any, Any]:
    kind = _KINDS[spec.type](spec)
    default = ... if spec.required else None
    return (kind if spec.required else kind | None), Field(default, description=_description(spec))


def _description(spec: ArgumentSpec) -> str:
    below = f"a path below {Path(spec.below).name}" if spec.below else ""
    return spec.description or below or spec.name.replace("_", " ")


def _string(spec: ArgumentSpec) -> Any:
    if spec.choices:
        return Literal[spec.choices]
    shown: dict[str, Any] = {"pattern": f"^(?:{spec.pattern})$"} if spec.pattern else {}
    limits = Field(min_length=1, max_length=spec.max_length, json_schema_extra=shown)
    return Annotated[str, limits, AfterValidator(lambda value: _text(spec, value))]


def _text(spec: ArgumentSpec, value: str) -> str:
    if (_CONTROLS_BUT_LINES if spec.multiline else _CONTROLS).search(value):
        raise _wrong("holds a control character")
    if not value.isprintable() and any("\ud800" <= char <= "\udfff" for char in value):
        raise _wrong("holds half a character")
    if value.startswith("-") and not spec.dash:
        raise _wrong("begins with -, which only options do")
    if spec.pattern is not None and not _fits(spec.pattern, value):
        raise _wrong(f"does not match {spec.pattern}")
    return value


def _fits(pattern: str, value: str) -> bool:
    try:
        return regex.fullmatch(pattern, value, timeout=_COMPARE_S) is not None
    except TimeoutError:
        raise _wrong(f"takes too long to compare with {pattern}") from None


def _wrong(problem: str) -> PydanticCustomError:
    """What pydantic tells as it stands; braces are its own."""
    return PydanticCustomError("wrong", "{problem}", {"problem": problem})


def _integer(spec: ArgumentSpec) -> Any:
    return Annotated[int, Field(ge=spec.minimum, le=spec.maximum)]


def _path(spec: ArgumentSpec) -> Any:
    inside = ArgumentSpec(name=spec.name)
    return Annotated[
        str,
        Field(min_length=1, max_length=_PATH_CHARS),
        AfterValidator(lambda value: _relative(inside, value)),
    ]


def _relative(spec: ArgumentSpec, value: str) -> str:
    _text(spec, value)
    if value.startswith("/") or ".." in value.split("/"):
        raise _wrong("must be a path below its folder: no / at the beginning, and no ..")
    return value


_KINDS: Final[Mapping[str, Callable[[ArgumentSpec], Any]]] = {
    "string": _string,
    "integer": _integer,
    "boolean": lambda _: bool,
    "path": _path,
}


def values(specs: tuple[ArgumentSpec, ...], args: Arguments) -> dict[str, str | None] | CallError:
    """What goes into the places; None for what is left out. Looks where paths lead."""
    found: dict[str, str | None] = {}
    for spec, value in _given(specs, args):
        if value is None or value is False:
            found[spec.name] = None
        elif spec.type == "path":
            path = _beneath(Path(spec.below), str(value))
            if path is None:
                return error(ErrorCode.NOT_FOUND, f"{spec.name}: there is no file {str(value)!r} there.")
            found[spec.name] = path
        else:
            found[spec.name] = spec.word if value is True else str(value)
    return found


def _given(specs: tuple[ArgumentSpec, ...], args: Arguments) -> Iterator[tuple[ArgumentSpec, Any]]:
    return ((spec, getattr(args, spec.name)) for spec in specs)


def _beneath(folder: Path, value: str) -> str | None:
    """Where the path really leads, if that is below the folder. Missing and outside are one to a caller."""
    try:
        real = (folder / value).resolve(strict=True)
        return str(real) if real.is_relative_to(folder.resolve(strict=True)) else None
    except (OSError, RuntimeError, ValueError):
        return None
