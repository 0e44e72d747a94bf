"""Calls that wait for a person, and those that were decided lately."""

from __future__ import annotations

from typing import Any

from exec_daemon.api.endpoints import approvals
from exec_daemon.api.route import Ask
from exec_daemon.web.asking import told


async def every(ask: Ask) -> dict[str, Any]:
    """Those that wait first, each with its whole arguments."""
    waiting = await told(ask, approvals.every, query={"state": "pending", "limit": 100})
    latest = await told(ask, approvals.every, query={"limit": 50})
    decided = [one for one in latest["approvals"] if one["state"] != "pending"]
    return {"waiting": waiting["approvals"], "decided": decided}
