"""The rules by which a mutant differs from its source in one place. Each yields edits for a node."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from tests.mutants.source import Edit, Source

_Rule = Callable[[Source, ast.AST], Iterator[Edit]]

_COMPARISONS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "in": ("not in",),
    "not in": ("in",),
    "is": ("is not",),
    "is not": ("is",),
}
_OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Mod: ("%", "*")}
_OPERATORS |= {ast.BitOr: ("|", "&"), ast.BitAnd: ("&", "|"), ast.LShift: ("<<", ">>")}
# A method or function -> what is easily written in its place.
_NAMES = {
    "startswith": ("endswith",),
    "endswith": ("startswith",),
    "find": ("rfind",),
    "rfind": ("find",),
    "min": ("max",),
    "max": ("min",),
    "any": ("all",),
    "all": ("any",),
    "strip": ("lstrip", "rstrip"),
    "lstrip": ("strip",),
    "rstrip": ("strip",),
    "match": ("search", "fullmatch"),
    "search": ("match",),
    "fullmatch": ("match",),
    "start": ("end",),
    "end": ("start",),
    "append": ("remove",),
    "extend": ("append",),
    "sorted": ("list",),
    "reversed": ("list",),
    "lower": ("upper",),
    "bisect_left": ("bisect_right",),
    "bisect_right": ("bisect_left",),
    "isalpha": ("isupper",),
}
_ENUMERATIONS = ("SkipReason", "Start", "Open", "Kind", "Form", "CurlRole")


def _comparisons(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Compare):
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            start, _, text = source.between(left, right)
            found = re.search(r"not in|is not|in|is|[<>=!]=|[<>]", text)
            for other in _COMPARISONS.get(found[0], ()) if found else ():
                assert found is not None
                yield Edit(start + found.start(), start + found.end(), other, "comparison")


def _conditions(source: Source, node: ast.AST) -> Iterator[Edit]:
    """A check that is always, or never, passed."""
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    for test in tests:
        if not isinstance(node, ast.While):
            yield source.replace(test, "True", "check always passed")
        yield source.replace(test, "False", "check never passed")


def _connectives(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield source.replace(node, f"({source.written(node.operand)})", "not")
    if not isinstance(node, ast.BoolOp):
        return
    word, other, neutral = ("and", "or", "True") if isinstance(node.op, ast.And) else ("or", "and", "False")
    for left, right in zip(node.values, node.values[1:], strict=False):
        start, _, text = source.between(left, right)
        at = start + text.index(word)
        yield Edit(at, at + len(word), other, "and, or")
    for value in node.values:
        yield source.replace(value, neutral, "operand left out")


def _constants(source: Source, node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield source.replace(node, str(not node.value), "truth value")
    elif isinstance(node.value, int):
        yield source.replace(node, str(node.value + 1), "off by one")
        yield source.replace(node, f"({node.value - 1})", "off by one")
    elif isinstance(node.value, str) and not _is_pattern(source, node):
        yield from _strings(source, node, node.value)


def _strings(source: Source, node: ast.Constant, value: str) -> Iterator[Edit]:
    """Another string; of a few characters that are a set, one fewer."""
    if len(value) > 1 and not value.isalnum() and len(value) < 6:
        for at in range(len(value)):
            yield source.replace(node, repr(value[:at] + value[at + 1 :]), "character left out")
    else:
        yield source.replace(node, repr(value + "\0"), "another string")


def _is_pattern(source: Source, node: ast.AST) -> bool:
    return re.match(r"(?:r|rf|fr)[\"']", source.written(node)) is not None


def _arithmetic(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        sign, other = _OPERATORS[type(node.op)]
        start, _, text = source.between(node.left, node.right)
        at = start + text.index(sign)
        yield Edit(at, at + len(sign), other, "arithmetic")
    elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        sign, other = _OPERATORS[type(node.op)]
        start, _, text = source.between(node.target, node.value)
        at = start + text.index(sign)
        yield Edit(at, at + len(sign), other, "arithmetic")


def _results(source: Source, node: ast.AST) -> Iterator[Edit]:
    value = node.value if isinstance(node, ast.Return) else None
    if value is not None and not isinstance(value, ast.Constant):
        yield source.replace(value, "None", "result left out")
    if isinstance(node, ast.IfExp):
        yield source.replace(node, f"({source.written(node.body)})", "one branch only")
        yield source.replace(node, f"({source.written(node.orelse)})", "one branch only")


def _rows(source: Source, node: ast.AST) -> Iterator[Edit]:
    """A table, or a sequence, with an element fewer."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        items = [source.written(item) for item in node.elts]
        around = {"T": "(,)", "L": "[]", "S": "{}"}[type(node).__name__[0]]
        for at in range(len(items)):
            rest = "".join(f"{item}, " for item in items[:at] + items[at + 1 :])
            text = f"{around[0]}{rest}{around[-1]}" if rest or around != "{}" else "set()"
            yield source.replace(node, text.replace("(,)", "()"), "row left out")
    elif isinstance(node, ast.Dict) and None not in node.keys:
        pairs = [
            (source.written(key), source.written(value))
            for key, value in zip(node.keys, node.values, strict=True)
            if key
        ]
        for at in range(len(pairs)):
            rest = ", ".join(f"{key}: {value}" for key, value in pairs[:at] + pairs[at + 1 :])
            yield source.replace(node, "{" + rest + "}", "row left out")


def _statements(source: Source, node: ast.AST) -> Iterator[Edit]:
    """A statement that is not there."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or (isinstance(node, ast.FunctionDef) and node.name == "__init__"):
        return
    for statement in [*body, *getattr(node, "orelse", [])]:
        call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        change = isinstance(statement, ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete)
        field = isinstance(statement, ast.Assign) and not isinstance(
            statement.targets[0], ast.Name | ast.Tuple
        )
        if call or change or field:
            yield source.replace(statement, "pass", "statement left out")


def _names(source: Source, node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    _, end = source.span(node.func)
    for other in _NAMES.get(name, ()):
        yield Edit(end - len(name), end, other, "another function")


def _bounds(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound is not None:
                yield source.replace(bound, "", "bound left out")


def _members(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Another member of an enumeration, one that the module names too."""
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in _ENUMERATIONS
    ):
        named = sorted(set(re.findall(rf"\b{node.value.id}\.([A-Z0-9_]+)", source.text)))
        if len(named) > 1:
            other = named[(named.index(node.attr) + 1) % len(named)]
            yield source.replace(node, f"{node.value.id}.{other}", "another member")


# What of a pattern -> what may stand there instead.
_PIECES = (
    (r"\(\?!", "(?="),
    (r"\(\?=", "(?!"),
    (r"\(\?<=", "(?<!"),
    (r"\(\?(?:ai|[aims]+):", "(?:"),
    (r"\\w", r"[A-Za-z]"),
    (r"(?<!\[)\\s", "[ ]"),
    (r"\\S", r"."),
    (r"\\n", ""),
    (r"\\t", ""),
    (r"\[\^", "["),
    (r"(?<=[\])}?.\w])\*\+", "++"),
    (r"(?<=[\])}?.\w])\+\+", "*+"),
    (r"(?<=[\])}.\w])\*(?!\+)", "+"),
    (r"(?<=[\])}`.\w])\+(?!\+)", "*"),
    (r"(?<=[\])}\w|>/:+-])\?(?!P|:|>|=|!|<)", ""),
    (r"(?<!\[)\^(?!\[)", ""),
    (r"(?<!\{)\$(?!\{)", ""),
    (r"\|\\?.", ""),
    (r"(?<=\[)[^\]^\\](?!-)", ""),
    (r"(?<=[\w ])(?<!\\)[^\w\s()\[\]{}?*+|\\](?=[^\[\]]*\])", ""),
    (r"\d,(?=\d*\}\})", "9,"),
)


def _patterns(source: Source, node: ast.AST) -> Iterator[Edit]:
    """A regular expression that takes a little more or less."""
    if not isinstance(node, ast.Constant | ast.JoinedStr) or not _is_pattern(source, node):
        return
    start, _ = source.span(node)
    text = source.written(node)
    body = re.match(r"\w+(?:\"\"\"|'''|\"|')", text)
    assert body is not None
    for piece, other in _PIECES:
        for found in re.finditer(piece, text):
            if found.start() >= body.end() and found[0] != other:
                before, after = len(text[: found.start()].encode()), len(text[: found.end()].encode())
                yield Edit(start + before, start + after, other, "pattern")
    yield from _counts(text, start, body.end())


def _counts(text: str, start: int, first: int) -> Iterator[Edit]:
    """A repeat of one more, or one fewer, at most."""
    for found in re.finditer(r"(?<=[{,])(\d+)(?=,?\d*\})", text):
        if found.start() >= first:
            at = start + len(text[: found.start()].encode())
            for other in (int(found[0]) + 1, int(found[0]) - 1):
                if other >= 0:
                    yield Edit(at, at + len(found[0]), str(other), "pattern")


RULES: tuple[_Rule, ...] = (
    _comparisons,
    _conditions,
    _connectives,
    _constants,
    _arithmetic,
    _results,
    _rows,
    _statements,
    _names,
    _bounds,
    _members,
    _patterns,
)
