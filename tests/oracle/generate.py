"""Seeded texts to compare two readings on: mutated case files, and random Markdown of the grammar's words."""

from __future__ import annotations

import random
import re

from tests.oracle.tokens import BLOCKS, GROUPS, POOLS, PROFILES, STARTS, TOKENS


def markdown(chance: random.Random) -> str:
    """Random Markdown: few tokens a line, calls often, so that what surrounds them decides."""
    parts: list[str] = []
    weights = chance.choice(PROFILES)
    for _ in range(chance.randint(2, 24)):
        parts.append(_token(chance, weights))
        if chance.random() < 0.3:
            parts.append(" ")
    if chance.random() < 0.6:
        parts.append(chance.choice(["", "\n", "\n\n", " "]) + chance.choice(GROUPS[0][:6]))
    return "".join(parts)


def blocks_only(chance: random.Random) -> str:
    """Lines of block marks with words to recognise them by.

    Left out is where the grammar departs from cmark: comments that a container cuts off, HTML of kind 7 where
    a line can be a lazy continuation, and the empty row.
    """
    lines = []
    for word in range(chance.randint(1, 8)):
        marks = "".join(chance.choice(STARTS) for _ in range(chance.choice([0, 1, 1, 2, 2, 3])))
        lines.append(marks + chance.choice(["", f"w{word}x", f"w{word}x", f"w{word}x y"]))
    return "\n".join(lines)


def _token(chance: random.Random, weights: list[float]) -> str:
    return chance.choice(chance.choices(POOLS, weights)[0])


def mutated(chance: random.Random, texts: list[str]) -> str:
    """A case text with one to four changes."""
    text = chance.choice(texts)
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(_CHANGES)(chance, text, texts)
    return text


def _insert(chance: random.Random, text: str, _: list[str]) -> str:
    at = _place(chance, text)
    return text[:at] + chance.choice(TOKENS) + text[at:]


def _delete(chance: random.Random, text: str, _: list[str]) -> str:
    start = _place(chance, text)
    end = start + chance.choice([1, 1, 2, 5, 20])
    return text[:start] + text[end:]


def _double(chance: random.Random, text: str, _: list[str]) -> str:
    start = _place(chance, text)
    end = start + chance.choice([1, 3, 10, 40])
    return text[:end] + text[start:]


def _splice(chance: random.Random, text: str, texts: list[str]) -> str:
    other = chance.choice(texts)
    return text[: _place(chance, text)] + other[_place(chance, other) :]


def _swap_lines(chance: random.Random, text: str, _: list[str]) -> str:
    lines = text.split("\n")
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return "\n".join(lines)


def _prefix_line(chance: random.Random, text: str, _: list[str]) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    lines[at] = chance.choice(BLOCKS) + lines[at]
    return "\n".join(lines)


def _prefix_all(chance: random.Random, text: str, _: list[str]) -> str:
    return chance.choice(BLOCKS) + text.replace("\n", "\n" + chance.choice(["> ", "  ", "   ", "    ", "\t"]))


def _line_ends(chance: random.Random, text: str, _: list[str]) -> str:
    return text.replace("\n", chance.choice(["\r\n", "\r", "\n\n"]))


def _repeat_line(chance: random.Random, text: str, _: list[str]) -> str:
    """Often enough to pass the limit of calls."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    return "\n".join([*lines[:at], *[lines[at]] * chance.randint(2, 20), *lines[at + 1 :]])


def _nest(chance: random.Random, text: str, _: list[str]) -> str:
    """Near the limit of containers."""
    return chance.choice(["- ", "> ", "1. ", "* "]) * chance.choice([2, 3, 30, 31, 32, 33]) + text


_CHANGES = (
    _insert,
    _insert,
    _insert,
    _delete,
    _double,
    _splice,
    _swap_lines,
    _prefix_line,
    _prefix_all,
    _line_ends,
    _repeat_line,
    _nest,
)


def _place(chance: random.Random, text: str) -> int:
    """Mostly at a border of a token, where rules meet."""
    borders = [found.start() for found in re.finditer(r"\b|\s|[^\w\s]", text)]
    return chance.choice(borders or [0]) if chance.random() < 0.8 else chance.randint(0, len(text))
