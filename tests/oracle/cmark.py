"""What cmark or cmark-gfm makes of a text: the kind of block that holds each word that occurs once."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator

from tests.oracle.blocks import Blocks
from tests.oracle.leaves import CODE, FENCE, HTML

_WORD = re.compile(r"[A-Za-z0-9]{2,}")
_KINDS = {"code_block": "code", "html_block": "html"}
_OURS = {FENCE: "code", CODE: "code", HTML: "html"}

Kinds = dict[str, tuple[str, bool]]


def differing(text: str, *command: str) -> dict[str, object]:
    """The words that cmark and we hold to be in different kinds of block."""
    one, two = theirs(text, *command), ours(text)
    return {word: (one[word], two[word]) for word in one.keys() & two.keys() if one[word] != two[word]}


def theirs(text: str, *command: str) -> Kinds:
    """Word -> (code, html or text; whether a block quote holds it), as cmark reads it."""
    read = subprocess.run(
        [*command, "-t", "xml"], input=text.encode(), capture_output=True, check=True
    ).stdout.decode()
    # Control characters are no XML 1.0, though cmark writes them.
    root = ET.fromstring(re.sub(r"<!DOCTYPE[^>]*>|[\x00-\x08\x0b\x0c\x0e-\x1f]", "", read))
    return _once(text, _nodes(root, "text", quoted=False))


def ours(text: str) -> Kinds:
    """The same of our own block structure."""
    leaves = Blocks(text, 0).leaves
    return _once(text, ((leaf.text, _OURS.get(leaf.kind, "text"), leaf.quoted) for leaf in leaves))


def _nodes(node: ET.Element, kind: str, *, quoted: bool) -> Iterator[tuple[str, str, bool]]:
    name = node.tag.partition("}")[2]
    kind, quoted = _KINDS.get(name, kind), quoted or name == "block_quote"
    yield node.text or "", kind, quoted
    for inner in node:
        yield from _nodes(inner, kind, quoted=quoted)


def _once(text: str, held: Iterator[tuple[str, str, bool]]) -> Kinds:
    count = Counter(_WORD.findall(text))
    return {
        word: (kind, quoted)
        for inner, kind, quoted in held
        for word in _WORD.findall(inner)
        if count[word] == 1
    }
