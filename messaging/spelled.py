"""Characters that a screen does not show, as their JSON escapes: who decides on a text sees all of it (O-36).

To drop them is right where a text is only shown. Where somebody agrees to it, what is dropped is what was
hidden: tag characters spell words for a model, others reorder, join or pad what is seen.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

# Unicode's general categories (UAX 44): controls, format, surrogates, private, unassigned; ends of lines.
_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Marks and letters that have no shape of their own: joiners, fillers, blanks, variation selectors.
_SHAPELESS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_PLAIN: Final = re.compile("[\n -~]*")


def spelled(text: str) -> str:
    """`text` with each of them spelled; line feeds stay. JSON says the same afterwards."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_escape(char) if _is_unseen(char) else char for char in text)


def _is_unseen(char: str) -> bool:
    if char == "\n":
        return False
    kind = category(char)
    return kind in _CATEGORIES or (kind == "Zs" and char != " ") or _SHAPELESS.match(char) is not None


def _escape(char: str) -> str:
    """RFC 8259 7: above U+FFFF two escapes, of the pair in UTF-16."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
