"""UNKNOWN_ACTION with a way out: near names, and the op for what changes things (O-41)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from exec_daemon.box.errors import BoxError, echo, failure
from messaging import ErrorCode
from messaging.near import did_you_mean, near

# Words that name a change, and the ops that make such changes; () where no op does.
_OPS: Final = MappingProxyType(
    {
        "abort": ("job.cancel",),
        "add": ("cron.create",),
        "cancel": ("job.cancel", "cron.cancel"),
        "create": ("cron.create",),
        "delete": ("cron.cancel",),
        "disable": ("cron.pause",),
        "dm": ("dm.send",),
        "edit": ("cron.update",),
        "enable": ("cron.resume",),
        "exec": (),
        "halt": (),
        "install": (),
        "kill": ("swarm.stop", "job.cancel"),
        "launch": ("swarm.spawn",),
        "message": ("dm.send",),
        "mount": (),
        "notify": ("dm.send",),
        "pause": ("cron.pause",),
        "poweroff": (),
        "put": ("artifact.put",),
        "reboot": (),
        "reload": (),
        "remove": ("cron.cancel",),
        "restart": ("swarm.stop", "swarm.spawn"),
        "resume": ("cron.resume",),
        "rm": (),
        "run": (),
        "save": ("artifact.put",),
        "schedule": ("cron.create",),
        "send": ("dm.send",),
        "set": ("cron.update",),
        "shell": (),
        "shutdown": (),
        "spawn": ("swarm.spawn",),
        "start": ("swarm.spawn",),
        "stop": ("swarm.stop", "job.cancel"),
        "update": ("cron.update",),
        "upload": ("artifact.put",),
        "write": ("artifact.put",),
    }
)

# What programs and people call the reads.
_KNOWN_ELSEWHERE: Final = MappingProxyType(
    {
        "cost": "usage",
        "cron": "timers",
        "date": "info",
        "df": "disk",
        "free": "memory",
        "git": "repos",
        "hostname": "info",
        "ifconfig": "network",
        "ip": "network",
        "journal": "logs",
        "journalctl": "logs",
        "load": "cpu",
        "mem": "memory",
        "messages": "threads",
        "netstat": "ports",
        "panes": "tmux",
        "pid": "process",
        "ps": "processes",
        "ram": "memory",
        "ss": "ports",
        "status": "health",
        "storage": "disk",
        "systemctl": "services",
        "tail": "logs",
        "tokens": "usage",
        "top": "processes",
        "uname": "info",
        "units": "services",
        "uptime": "info",
        "version": "info",
    }
)
# Longer names are not looked at: no word of the tables is that far behind.
_LOOKED_AT_CHARS: Final = 64


def _words(name: str) -> list[str]:
    """`Service_restart` -> `service`, `restart`."""
    return re.findall(r"[a-z]+", name[:_LOOKED_AT_CHARS].lower())


def _way_out(changes: list[str], ops: list[str]) -> str:
    """Which op makes such a change, if the name asks for one."""
    if not changes:
        return ""
    return (
        f" box.exec only reads; use op {' or '.join(ops)}, if tools.list has it."
        if ops
        else " box.exec only reads; no op does that."
    )


def unknown_action(name: str, actions: Iterable[str]) -> BoxError:
    """The refusal; its details hold the `actions`, near names and ops for a program."""
    known = list(actions)
    words = _words(name)
    changes = [word for word in words if word in _OPS]
    ops = list(dict.fromkeys(op for word in changes for op in _OPS[word]))
    # A name that asks for a change is not a misspelt read.
    spelled = [] if changes else near(name, known)
    meant = list(dict.fromkeys([_KNOWN_ELSEWHERE[w] for w in words if w in _KNOWN_ELSEWHERE] + spelled))
    message = (
        f"box.exec has no action “{echo(name)}”.{_way_out(changes, ops)}"
        f"{did_you_mean(meant)} Actions: {', '.join(known)}."
    )
    return failure(ErrorCode.UNKNOWN_ACTION, message, {"actions": known, "near": meant, "ops": ops})
