"""What in-band text looks like: the vocabulary of the grammar and its named patterns, data with a reader.

Public names: `vocabulary()` and its types; `PatternError`, the one error of the package.
"""

from patterns.errors import PatternError
from patterns.spelling import family, snake_case, spellings
from patterns.vocabulary import vocabulary
from patterns.words import BoxAction, CallKeys, CurlOption, CurlRole, KnownOp, Vocabulary

__all__ = [
    "BoxAction",
    "CallKeys",
    "CurlOption",
    "CurlRole",
    "KnownOp",
    "PatternError",
    "Vocabulary",
    "family",
    "snake_case",
    "spellings",
    "vocabulary",
]
