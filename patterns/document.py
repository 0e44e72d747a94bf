"""A cursor over a JSON file that knows where it is, so that each complaint names file and key."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from patterns.errors import PatternError

T = TypeVar("T")


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the known name most like `name`, or nothing."""
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _name(value: Any) -> str | None:
    name = value.get("name") if isinstance(value, dict) else None
    return name if isinstance(name, str) else None


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a JSON file and the path that leads to it. Every read checks the type."""

    file: str
    key: str
    value: Any

    def error(self, problem: str) -> PatternError:
        """The complaint about this value, to be raised."""
        return PatternError(self.file, self.key, problem)

    def _typed(self, kind: type[T], name: str) -> T:
        if not isinstance(self.value, kind):
            raise self.error(f"must be {name}")
        return self.value

    def _child(self, key: str, value: Any) -> Node:
        return Node(self.file, f"{self.key}/{key}" if self.key else key, value)

    def members(self) -> dict[str, Node]:
        """The members of an object."""
        return {key: self._child(key, value) for key, value in self._typed(dict, "an object").items()}

    def record(self, *fields: str) -> dict[str, Node]:
        """The members of an object that has exactly these fields."""
        members = self.members()
        for key, node in members.items():
            if key not in fields:
                raise node.error(f"unknown key{nearest(key, fields)}")
        for field in fields:
            if field not in members:
                raise self._child(field, None).error("missing")
        return members

    def items(self) -> list[Node]:
        """The elements of an array; one that has a name is called by it, else by its index."""
        values = self._typed(list, "an array")
        return [self._child(_name(value) or str(index), value) for index, value in enumerate(values)]

    def string(self) -> str:
        """A string."""
        return self._typed(str, "a string")

    def text(self) -> str:
        """A string that is not empty."""
        if not self.string():
            raise self.error("must not be empty")
        return self.string()

    def texts(self) -> tuple[str, ...]:
        """An array of strings, each of them once."""
        found = tuple(node.text() for node in self.items())
        for index, word in enumerate(found):
            if word in found[:index]:
                raise self.error(f"{word!r} stands twice")
        return found

    def flag(self) -> bool:
        """true or false."""
        return self._typed(bool, "true or false")


def packaged(file: str) -> str:
    """The text of a file of this package. (importlib.resources does the same and takes longer to load.)"""
    content = pkgutil.get_data("patterns", file)
    assert content is not None  # only a loader without get_data gives that
    return content.decode()


def read(file: str, text: str) -> Node:
    """The root of the JSON document `text`; raises `PatternError` for broken JSON and duplicate keys."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in pairs:
            if key in members:
                raise PatternError(file, key, "stands twice in one object")
            members[key] = value
        return members

    try:
        return Node(file, "", json.loads(text, object_pairs_hook=unique))
    except json.JSONDecodeError as broken:
        raise PatternError(file, "", f"line {broken.lineno}, column {broken.colno}: {broken.msg}") from None
