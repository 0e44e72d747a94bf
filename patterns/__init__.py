"""What in-band text looks like: the vocabulary of the grammar and its named patterns, data with a reader.

Public names: `vocabulary()` and its types, `spellings` of an op and its `family`, `snake_case`; `book()`,
the named patterns; `PatternError`, the one error of the package.
"""

from patterns.errors import PatternError
from patterns.lookup_engine import Highlight, NamedPattern, PatternBook, book
from patterns.spelling import family, snake_case, spellings
from patterns.vocabulary import vocabulary
from patterns.words import BoxAction, CallKeys, CurlOption, CurlRole, KnownOp, Vocabulary

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
