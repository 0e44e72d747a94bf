"""What each role may do: ops, recipients of DMs and rates, as literals that a reviewer reads (O 7.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType

from exec_daemon.access.identity import Role

# The read-only ops of O 7.2.
READS = ("box.exec", "tools.list", "dm.read", "cron.list", "job.get")


def matches(globs: tuple[str, ...], name: str) -> bool:
    """Does one of the globs (`cron.*`, `*`) name it?"""
    return any(fnmatchcase(name, glob) for glob in globs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Globs over op names and over recipients of `dm.send`. What `allow` does not name is denied."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Calls a minute, 0 for no limit."""

    reads_per_min: int = 0
    writes_per_min: int = 0


ROLE_GRANTS: Mapping[Role, Grant] = MappingProxyType(
    {
        Role.OPERATOR: Grant(allow=("*",), recipients=("*",)),
        Role.AGENT: Grant(
            allow=(*READS, "dm.send", "cron.*", "job.cancel", "swarm.spawn"), recipients=("*",)
        ),
        Role.WORKER: Grant(allow=("dm.send", "box.exec", "tools.list"), recipients=("{owner}",)),
        Role.VIEWER: Grant(allow=READS),
        # A harvester acts for agents and never for itself.
        Role.HARVESTER: Grant(),
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
