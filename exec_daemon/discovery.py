"""What the daemon tells of its ops, checked at start: one list, flags that hold, changes that are seen.

A client that has looked at an op knows it again by its digest. What has changed since the last start is
logged, so that nobody has to take an op's word for being the same (D112, D118).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from exec_daemon.__main__ import list_ops
from exec_daemon.api.answers import dump
from exec_daemon.calls.registry import Registry
from exec_daemon.errors import DaemonError, RuleUnusable
from exec_daemon.home import write_private
from exec_daemon.ops import tools_list
from patterns import vocabulary

log = logging.getLogger(__name__)


def check_discovery(ops: Registry, noted: Path) -> None:
    """Raises `RuleUnusable` where the list would lie; `noted` keeps the digests from start to start."""
    _check_flags(ops)
    _check_lists(ops)
    digests = {info.name: info.digest for info in ops.infos}
    for change in changes(_read(noted), digests):
        log.warning("ops: %s", change)
    write_private(noted, json.dumps(digests, indent=1).encode() + b"\n")


def _check_flags(ops: Registry) -> None:
    """An op that everybody knows by name has the flag that everybody expects."""
    for name, known in vocabulary().known_ops.items():
        op = ops.ops.get(name)
        if op is not None and op.side_effecting is not known.side_effecting:
            expected = "side-effecting" if known.side_effecting else "read-only"
            raise RuleUnusable(f"the op {name} must be {expected}, as its name says to every client", name)


def _check_lists(ops: Registry) -> None:
    """`tools.list` and `--list-ops` are the same bytes (O-51)."""
    told = dump(tools_list.listed(ops.infos)) + b"\n"
    try:
        printed = list_ops()
    except DaemonError as broken:
        log.warning("ops: --list-ops fails with the settings file as it is now: %s", broken)
        return
    if told != printed:
        text = "ops: this daemon's list is not what `python -m exec_daemon --list-ops` prints: %s"
        log.warning(text, "it was started with other ops than box.toml has")


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """What is new, gone or different, in words; nothing where nothing was noted yet."""
    if not before:
        return
    for name in sorted({*before, *now}):
        if name not in now:
            yield f"{name} is gone"
        elif name not in before:
            yield f"{name} is new, with the digest {now[name]}"
        elif before[name] != now[name]:
            yield f"{name} has changed: its digest was {before[name]} and is {now[name]}"


def _read(noted: Path) -> dict[str, str]:
    try:
        found = json.loads(noted.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
