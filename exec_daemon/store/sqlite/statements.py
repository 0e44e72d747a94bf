"""INSERT statements built from column names, so that names and placeholders cannot drift apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final

# How many rows one statement takes: SQLite keeps those that it has compiled, one for each of these.
_AT_ONCE: Final = (64, 8, 2, 1)


def insert(table: str, columns: tuple[str, ...]) -> str:
    """`INSERT INTO table (a, b) VALUES (?, ?)`; both arguments are literals of our own code."""
    return _inserting(table, columns, 1)


@lru_cache
def _inserting(table: str, columns: tuple[str, ...], rows: int) -> str:
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * rows)}"  # noqa: S608 - literals only


def insert_all(
    db: sqlite3.Connection, table: str, columns: tuple[str, ...], rows: Iterable[Sequence[Any]]
) -> int:
    """Inserts `rows` in their order, many with one statement; the number of the last one.

    Each statement lets go of the interpreter and has to get it back from the event loop, which costs more
    than the insertion of a row. Rows are made as they are needed: nobody waits until all are.
    """
    last, waiting = 0, iter(rows)
    while piece := list(islice(waiting, _AT_ONCE[0])):
        for size in _AT_ONCE:
            while len(piece) >= size:
                values = tuple(chain.from_iterable(piece[:size]))
                last = db.execute(_inserting(table, columns, size), values).lastrowid or 0
                del piece[:size]
    return last


def select(table: str, columns: tuple[str, ...]) -> str:
    """`SELECT a, b FROM table ` for a WHERE to follow; both arguments are literals of our own code."""
    return f"SELECT {', '.join(columns)} FROM {table} "  # noqa: S608 - literals only
