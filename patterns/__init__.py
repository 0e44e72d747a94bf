"""What in-band text looks like: the vocabulary of the grammar and its named patterns, data with a reader.

Public names: `vocabulary()` and its types, `spellings` of an op and its `family`, `snake_case`; `book()`,
the named patterns, which load their engine when they are first used; `PatternError`, the one error of the
package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patterns.errors import PatternError
from patterns.spelling import family, snake_case, spellings
from patterns.vocabulary import vocabulary
from patterns.words import BoxAction, CallKeys, CurlOption, CurlRole, KnownOp, Vocabulary

if TYPE_CHECKING:
    from patterns.lookup_engine import Highlight, NamedPattern, PatternBook, book

_OF_THE_ENGINE = ("Highlight", "NamedPattern", "PatternBook", "book")

__all__ = [
    "BoxAction",
    "CallKeys",
    "CurlOption",
    "CurlRole",
    "Highlight",
    "KnownOp",
    "NamedPattern",
    "PatternBook",
    "PatternError",
    "Vocabulary",
    "book",
    "family",
    "snake_case",
    "spellings",
    "vocabulary",
]


def __getattr__(name: str) -> Any:
    if name not in _OF_THE_ENGINE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from patterns import lookup_engine

    return getattr(lookup_engine, name)
