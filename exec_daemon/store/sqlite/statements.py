"""INSERT statements built from column names, so that names and placeholders cannot drift apart."""

from __future__ import annotations


def insert(table: str, columns: tuple[str, ...]) -> str:
    """`INSERT INTO table (a, b) VALUES (?, ?)`; both arguments are literals of our own code."""
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - literals only


def select(table: str, columns: tuple[str, ...]) -> str:
    """`SELECT a, b FROM table ` for a WHERE to follow; both arguments are literals of our own code."""
    return f"SELECT {', '.join(columns)} FROM {table} "  # noqa: S608 - literals only
