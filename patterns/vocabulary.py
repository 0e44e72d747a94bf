"""The words of the in-band grammar: ops, aliases, synonyms, actions, verdicts, tags, fences, curl options.

The data is `vocabulary.json`; `vocabulary()` gives it checked and frozen. Text can so be parsed without a
daemon; what a daemon's registry adds comes on top (GRAMMAR section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TypeVar

from patterns.consistency import check
from patterns.document import Node, packaged, read
from patterns.words import BoxAction, CallKeys, CurlOption, CurlRole, KnownOp, Vocabulary

T = TypeVar("T")

FILE = "vocabulary.json"


def _inverse(node: Node) -> Mapping[str, str]:
    """`{"canonical": ["word", …]}` as word -> canonical; no word may stand twice."""
    found: dict[str, str] = {}
    for canonical, words in node.members().items():
        for word in words.texts():
            if word in found:
                raise words.error(f"{word!r} already means {found[word]!r}")
            found[word] = canonical
    return MappingProxyType(found)


def _known_op(name: str, node: Node) -> KnownOp:
    row = node.record("side_effecting", "required", "arguments")
    return KnownOp(name, row["side_effecting"].flag(), row["required"].texts(), row["arguments"].texts())


def _box_action(name: str, node: Node) -> BoxAction:
    if node.value is None:
        return BoxAction(name, None)
    row = node.record("argument", "synonyms")
    return BoxAction(name, row["argument"].text(), row["synonyms"].texts())


def _curl_option(name: str, node: Node) -> CurlOption:
    role = node.text()
    if role not in tuple(CurlRole):
        raise node.error(f"must be one of {', '.join(CurlRole)}")
    return CurlOption(name, CurlRole(role))


def _pair(node: Node) -> tuple[str, str]:
    marks = tuple(mark.text() for mark in node.items())
    if len(marks) != 2:
        raise node.error("must be an opening and a closing mark")
    return marks[0], marks[1]


def _table(node: Node, make: Callable[[str, Node], T]) -> Mapping[str, T]:
    return MappingProxyType({name: make(name, row) for name, row in node.members().items()})


def load(text: str, file: str = FILE) -> Vocabulary:
    """The vocabulary that the JSON `text` describes; raises `PatternError`, which names file and key."""
    part = read(file, text).record(*Vocabulary.__dataclass_fields__)
    keys = part["call_keys"].record("op", "args")
    loaded = Vocabulary(
        known_ops=_table(part["known_ops"], _known_op),
        op_aliases=_inverse(part["op_aliases"]),
        never_aliased=frozenset(part["never_aliased"].texts()),
        arg_synonyms=_table(part["arg_synonyms"], lambda _, row: _inverse(row)),
        box_actions=_table(part["box_actions"], _box_action),
        verdicts=_inverse(part["verdicts"]),
        reasoning_tags=frozenset(part["reasoning_tags"].texts()),
        inert_tags=frozenset(part["inert_tags"].texts()),
        html_raw_tags=frozenset(part["html_raw_tags"].texts()),
        html_block_tags=frozenset(part["html_block_tags"].texts()),
        quote_pairs=tuple(_pair(pair) for pair in part["quote_pairs"].items()),
        native_openers=part["native_openers"].texts(),
        call_fences=part["call_fences"].texts(),
        shell_fences=part["shell_fences"].texts(),
        curl_options=_table(part["curl_options"], _curl_option),
        call_keys=CallKeys(keys["op"].texts(), keys["args"].texts()),
    )
    check(loaded, file)
    return loaded


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary of this package, read and checked once."""
    return load(packaged(FILE))
