"""Native dialects: how models write calls when nobody parses them on the server (GRAMMAR 9).

Public names: `parse` for a whole reply, `Reader` for one that is still coming, what both give, and the table.
"""

from harvester.dialects.completion import Completion, Content, Dropped, NativeCall, Piece, Reasoning
from harvester.dialects.reader import AUTO, Reader, dialect_named, parse, prompt_that_thinks
from harvester.dialects.recognise import PLAIN, recognise
from harvester.dialects.table import DIALECTS
from harvester.dialects.tools import Tools

__all__ = [
    "AUTO",
    "DIALECTS",
    "PLAIN",
    "Completion",
    "Content",
    "Dropped",
    "NativeCall",
    "Piece",
    "Reader",
    "Reasoning",
    "Tools",
    "dialect_named",
    "parse",
    "prompt_that_thinks",
    "recognise",
]
