"""A Python source with its syntax tree, and edits of it by place. Offsets are in bytes, as `ast` counts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes from `start` to before `end`."""

    start: int
    end: int
    text: str
    rule: str


@dataclass(frozen=True)
class Source:
    """One module. `name` is its file's stem."""

    name: str
    text: str
    tree: ast.Module = field(repr=False)

    @classmethod
    def of(cls, name: str, text: str) -> Source:
        return cls(name, text, ast.parse(text))

    @cached_property
    def data(self) -> bytes:
        return self.text.encode()

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *accumulate(map(len, self.data.splitlines(keepends=True)))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands."""
        assert isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._lines[node.lineno - 1] + node.col_offset
        return start, self._lines[node.end_lineno - 1] + node.end_col_offset

    def written(self, node: ast.AST) -> str:
        """Its text."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def between(self, before: ast.AST, after: ast.AST) -> tuple[int, int, str]:
        """Where what stands between two nodes begins and ends, and its text."""
        start, end = self.span(before)[1], self.span(after)[0]
        return start, end, self.data[start:end].decode()

    def replace(self, node: ast.AST, text: str, rule: str) -> Edit:
        """An edit that puts `text` in the place of a node."""
        return Edit(*self.span(node), text, rule)

    def edited(self, edit: Edit) -> str:
        """The text of the module after the edit."""
        return (self.data[: edit.start] + edit.text.encode() + self.data[edit.end :]).decode()

    def line(self, offset: int) -> int:
        """The number of the line of a place, from 1."""
        return self.data.count(b"\n", 0, offset) + 1

    def lines_around(self, edit: Edit) -> tuple[str, str]:
        """The lines that an edit touches, as they are and as they become, blanks made one."""
        first = self.data.rfind(b"\n", 0, edit.start) + 1
        last = self.data.find(b"\n", edit.end)
        old = self.data[first : last if last >= 0 else len(self.data)]
        new = old[: edit.start - first] + edit.text.encode() + old[edit.end - first :]
        return " ".join(old.decode().split()), " ".join(new.decode().split())

    def within(self, line: int) -> str:
        """The innermost function or class around a line, dotted; empty at the top."""
        names: list[str] = []
        nodes: list[ast.stmt] = self.tree.body
        while found := next((node for node in nodes if _holds(node, line)), None):
            names.append(found.name)
            nodes = found.body
        return ".".join(names)


def _holds(node: ast.stmt, line: int) -> TypeGuard[ast.FunctionDef | ast.ClassDef]:
    named = isinstance(node, ast.FunctionDef | ast.ClassDef)
    return named and node.lineno <= line <= (node.end_lineno or 0)


# What is no behaviour: types, documentation, exports; and assertions, which only say what holds.
_NO_CODE = (ast.Import, ast.ImportFrom, ast.Assert, ast.Pass)
_NO_CODE_NAMES = frozenset({"__all__", "__slots__"})


def code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that do something, outermost first."""
    for child in _parts(node):
        if isinstance(child, _NO_CODE) or _is_documentation(child) or _is_declaration(child):
            continue
        yield child
        yield from code(child)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    skipped = {"annotation", "returns", "decorator_list", "bases"}
    for name, value in ast.iter_fields(node):
        if name not in skipped:
            yield from (
                one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST)
            )


def _is_documentation(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_declaration(node: ast.AST) -> bool:
    if isinstance(node, ast.AnnAssign):
        alias = isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
        return alias or node.value is None or _names(node.target) in _NO_CODE_NAMES
    return isinstance(node, ast.Assign) and _names(node.targets[0]) in _NO_CODE_NAMES


def _names(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ""
