"""Named patterns of in-band text, for search and highlighting (O-70 to O-72).

`regex_patterns.json` holds them, each with its flags, its groups and examples of what it matches and what
it does not. `book()` gives them compiled and checked. Nothing runs because a pattern matched: what runs is
the scanner's word alone.

The `regex` package compiles them, since its searches can be given a time limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import regex

from patterns.document import Node, nearest, packaged, read
from patterns.errors import PatternError

FILE = "regex_patterns.json"

FLAGS: Mapping[str, regex.RegexFlag] = MappingProxyType(
    {
        "ASCII": regex.ASCII,
        "DOTALL": regex.DOTALL,
        "IGNORECASE": regex.IGNORECASE,
        "MULTILINE": regex.MULTILINE,
    }
)


@dataclass(frozen=True, slots=True)
class NamedPattern:
    """One pattern. `groups` says what each of its named groups holds."""

    name: str
    description: str
    flags: tuple[str, ...]
    groups: Mapping[str, str]
    matching: tuple[str, ...]
    not_matching: tuple[str, ...]
    compiled: regex.Pattern[str]


class Highlight(NamedTuple):
    """A piece of a text that a pattern matched: half-open code-point offsets."""

    start: int
    stop: int
    name: str


@dataclass(frozen=True, slots=True)
class PatternBook:
    """The patterns by name. A name that is not there raises `PatternError`, with the nearest one.

    `timeout_s` bounds a search in seconds; when it passes, `TimeoutError` is raised.
    """

    file: str
    patterns: Mapping[str, NamedPattern]

    def names(self) -> tuple[str, ...]:
        """All names, in the order of the file."""
        return tuple(self.patterns)

    def pattern(self, name: str) -> NamedPattern:
        """The pattern of this name."""
        if name not in self.patterns:
            raise PatternError(self.file, name, f"no such pattern{nearest(name, self.patterns)}")
        return self.patterns[name]

    def search(self, name: str, text: str, *, timeout_s: float | None = None) -> regex.Match[str] | None:
        """The first match in `text`, if there is one."""
        return self.pattern(name).compiled.search(text, timeout=timeout_s)

    def finditer(self, name: str, text: str, *, timeout_s: float | None = None) -> Iterator[regex.Match[str]]:
        """All matches in `text`, from left to right, none inside another."""
        return self.pattern(name).compiled.finditer(text, timeout=timeout_s)

    def highlights(self, text: str, *names: str, timeout_s: float | None = None) -> list[Highlight]:
        """What the named patterns match in `text`, ordered by where it begins."""
        return sorted(
            Highlight(*match.span(), name)
            for name in names
            for match in self.finditer(name, text, timeout_s=timeout_s)
        )


def _compiled(source: Node, flags: Node) -> regex.Pattern[str]:
    bits = regex.RegexFlag(0)
    for flag in flags.items():
        if flag.text() not in FLAGS:
            raise flag.error(f"no such flag{nearest(flag.text(), FLAGS)}")
        bits |= FLAGS[flag.text()]
    try:
        return regex.compile(source.text(), bits)
    except regex.error as broken:
        raise source.error(f"does not compile: {broken}") from None


def _groups(node: Node, compiled: regex.Pattern[str]) -> Mapping[str, str]:
    """Each group of the pattern is described, and each described one exists."""
    members = node.members()
    for name, group in members.items():
        if name not in compiled.groupindex:
            raise group.error(f"the pattern has no such group{nearest(name, compiled.groupindex)}")
    for name in compiled.groupindex:
        if name not in members:
            raise node.error(f"the group {name!r} is not described")
    return MappingProxyType({name: group.text() for name, group in members.items()})


def _examples(node: Node, compiled: regex.Pattern[str], *, matching: bool) -> tuple[str, ...]:
    examples = node.items()
    if not examples:
        raise node.error("must not be empty")
    for example in examples:
        if (compiled.search(example.string()) is not None) is not matching:
            raise example.error(f"{example.value!r} {'does not match' if matching else 'matches'}")
    return tuple(example.string() for example in examples)


def _named_pattern(node: Node) -> NamedPattern:
    row = node.record("name", "description", "pattern", "flags", "groups", "examples")
    compiled = _compiled(row["pattern"], row["flags"])
    examples = row["examples"].record("match", "no_match")
    return NamedPattern(
        name=row["name"].text(),
        description=row["description"].text(),
        flags=row["flags"].texts(),
        groups=_groups(row["groups"], compiled),
        matching=_examples(examples["match"], compiled, matching=True),
        not_matching=_examples(examples["no_match"], compiled, matching=False),
        compiled=compiled,
    )


def load(text: str, file: str = FILE) -> PatternBook:
    """The patterns that the JSON `text` describes; raises `PatternError`, which names file and key."""
    found: dict[str, NamedPattern] = {}
    for node in read(file, text).record("patterns")["patterns"].items():
        pattern = _named_pattern(node)
        if pattern.name in found:
            raise node.error(f"the name {pattern.name!r} stands twice")
        found[pattern.name] = pattern
    return PatternBook(file, MappingProxyType(found))


@cache
def book() -> PatternBook:
    """The patterns of this package, read and checked once."""
    return load(packaged(FILE))
