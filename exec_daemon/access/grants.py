"""What may be granted, and what each role has without anybody's word: literals that a reviewer reads (O 7.5).

A field that is None says nothing: the grant below it decides (docs/grants.md has the order).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType

from exec_daemon.access.identity import Role

# The read-only ops of O 7.2.
READS = ("box.exec", "tools.list", "dm.read", "cron.list", "job.get")

EVERYTHING = ("*",)


@lru_cache(maxsize=4096)
def matches(globs: tuple[str, ...], name: str) -> bool:
    """Does one of the globs (`cron.*`, `*`) name it?"""
    return name in globs or any(fnmatchcase(name, glob) for glob in globs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What one grant says of one role or identity.

    `allow`, `deny` and `approval` are globs over op names, `recipients` over the names that `dm.send` may
    write to, `wakes` over those that its timers may wake (`{self}`: the agent's own). `box` limits
    `box.exec`: `disk`, or `logs:nginx*` with a glob over the argument. Rates are calls a minute, 0 for no
    limit; `rates` has further ones by op glob.
    """

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    recipients: tuple[str, ...] | None = None
    wakes: tuple[str, ...] | None = None
    box: tuple[str, ...] | None = None
    approval: tuple[str, ...] = ()
    reads_per_minute: int | None = None
    writes_per_minute: int | None = None
    rates: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Calls a minute, 0 for no limit."""

    reads_per_min: int = 0
    writes_per_min: int = 0


def _built_in(allow: tuple[str, ...], recipients: tuple[str, ...] = (), wakes: tuple[str, ...] = ()) -> Grant:
    return Grant(allow=allow, recipients=recipients, wakes=wakes, box=EVERYTHING)


ROLE_GRANTS: Mapping[Role, Grant] = MappingProxyType(
    {
        Role.OPERATOR: _built_in(EVERYTHING, EVERYTHING, EVERYTHING),
        Role.AGENT: _built_in(
            (*READS, "dm.send", "cron.*", "job.cancel", "swarm.spawn"), EVERYTHING, ("{self}",)
        ),
        Role.WORKER: _built_in(("dm.send", "box.exec", "tools.list"), ("{owner}",)),
        Role.VIEWER: _built_in(READS),
        # A harvester acts for agents and never for itself.
        Role.HARVESTER: _built_in(()),
    }
)

# O 7.5. A person at the keyboard is not limited; a harvester's calls count for the agent it acts for.
ROLE_RATES: Mapping[Role, Rates] = MappingProxyType(
    {
        Role.OPERATOR: Rates(),
        Role.AGENT: Rates(reads_per_min=60, writes_per_min=10),
        Role.WORKER: Rates(reads_per_min=60, writes_per_min=10),
        Role.VIEWER: Rates(reads_per_min=60, writes_per_min=10),
        Role.HARVESTER: Rates(),
    }
)
