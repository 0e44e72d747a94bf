"""`tools.list`: a line an op (O-50, O-53), and an op's arguments as hints show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harvester.formatters.plain import plain


def tools(data: Any) -> str:
    """Name, flag, arguments (optional ones in brackets) and summary; then what box.exec can read."""
    rows = data.get("ops") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "op" in row for row in rows):
        return plain(data)
    allowed = data.get("allowed_for_you")
    return "\n".join(line for row in rows for line in _op(row, allowed))


def _op(row: Mapping[str, Any], allowed: Any) -> Iterator[str]:
    flag = "effect" if row.get("side_effecting") else "read"
    refused = " (not for you)" if isinstance(allowed, list) and row["op"] not in allowed else ""
    schema = row.get("args_schema")
    taken = f"  {signature(schema)}" if isinstance(schema, dict) else ""
    yield f"{row['op']}  {flag}{refused}{taken}  {row.get('summary', '')}".rstrip()
    actions = row.get("actions")
    if isinstance(actions, list):
        yield f"  actions: {', '.join(_action(action) for action in actions)}"


def signature(schema: Mapping[str, Any]) -> str:
    """`to, text [thread, reply_to]`: required arguments, then the optional ones."""
    required = [str(name) for name in schema.get("required") or ()]
    optional = [str(name) for name in schema.get("properties") or () if name not in required]
    parts = (", ".join(required), f"[{', '.join(optional)}]" if optional else "")
    return " ".join(filter(None, parts)) or "no arguments"


def _action(action: Any) -> str:
    if not isinstance(action, dict):
        return str(action)
    return described(str(action.get("action")), action.get("arg"))


def described(action: str, arg: object) -> str:
    """`logs (unit)`, `disk`."""
    return f"{action} ({arg})" if arg else action
