"""The ops, and one of them as a form."""

from __future__ import annotations

from typing import Any

from exec_daemon.api.endpoints import ops
from exec_daemon.api.route import Ask
from exec_daemon.web.asking import told
from exec_daemon.web.forms import fields


async def every(ask: Ask) -> dict[str, Any]:
    """All of them, with what this person may call."""
    return await told(ask, ops.every)


async def one(ask: Ask) -> dict[str, Any]:
    """One op and a field for each of its arguments."""
    op = await told(ask, ops.one, op=ask.request.path_params["op"])
    return {"op": op, "fields": list(fields(op["args_schema"], op["example"]))}
