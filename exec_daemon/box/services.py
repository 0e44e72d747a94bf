"""services: the units of systemd that run or failed; without systemd, our own daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import psutil

from exec_daemon.box.ports import BoxContext
from exec_daemon.box.programs import Deadline, run
from exec_daemon.box.reading import Reading, absent
from exec_daemon.box.times import iso

# sd_booted(3): this directory exists exactly when systemd is the init system.
_BOOTED: Final = Path("/run/systemd/system")
_LIST: Final = (
    "systemctl",
    "--no-pager",
    "--output=json",
    "list-units",
    "--type=service",
    "--state=failed,running",
)

# What is shown, and what systemctl calls it.
_COLUMNS: Final = (
    ("unit", "unit"),
    ("state", "active"),
    ("sub_state", "sub"),
    ("description", "description"),
)


def services(context: BoxContext) -> Reading:
    """Failed units first, then running ones."""
    own, units = own_daemon(context), list_units(Deadline(context.limit_s))
    if units is None:
        return absent("no systemd here; only our own daemon is shown", own=own)
    return Reading({**by_state(units), "own": own})


def by_state(units: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """`{"failed": […], "running": […]}`, a row for each unit."""
    rows = [{shown: unit.get(name) for shown, name in _COLUMNS} for unit in units]
    failed = [row for row in rows if row["state"] == "failed"]
    return {"failed": failed, "running": [row for row in rows if row not in failed]}


def list_units(deadline: Deadline) -> list[dict[str, Any]] | None:
    """The units as systemctl lists them; None where there is no systemd, or none that answers."""
    output = run(_LIST, deadline) if _BOOTED.is_dir() else None
    return units_in(output.text) if output is not None and output.ok else None


def units_in(printed: str) -> list[dict[str, Any]] | None:
    """The objects in what systemctl printed; None when it printed something else."""
    try:
        units = json.loads(printed)
    except ValueError:
        return None
    return [unit for unit in units if isinstance(unit, dict)] if isinstance(units, list) else None


def own_daemon(context: BoxContext) -> dict[str, Any] | None:
    """Our daemon by the file that it leaves while it runs; `alive` says whether that is still true."""
    try:
        left = json.loads(context.daemon_file.read_text()) if context.daemon_file else None
    except (OSError, ValueError):
        return None
    if not isinstance(left, dict) or not isinstance(left.get("pid"), int):
        return None
    return {"name": "inband"} | _alive(left["pid"]) | {"url": left.get("url")}


def _alive(pid: int) -> dict[str, Any]:
    try:
        return {"pid": pid, "alive": True, "started_at": iso(psutil.Process(pid).create_time())}
    except (psutil.Error, ValueError):
        return {"pid": pid, "alive": False, "started_at": None}
