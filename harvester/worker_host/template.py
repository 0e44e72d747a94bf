"""How a worker of a template is started: everything here is the operator's word, nothing a text's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvester.worker_host.walls import Walls

# What a program needs to find itself and others; everything else is named in the template.
_ALWAYS: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "USER", "LOGNAME", "TZ")
# A worker's processes are known by these (`processes.py`).
WORKER, HOME, RUNTIME = "INBAND_WORKER", "INBAND_HOME", "INBAND_RUNTIME"


class OutsideFolderError(ValueError):
    """The folder that a spawn asked for is none beneath the template's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTemplate:
    """`argv` is run as it stands, in `cwd`, or in a folder beneath `folder` that the spawn names.

    `environment` are the names of variables that it gets beside a few that every program needs. A worker
    that does nothing for `idle_s` is ended; `time_limit_s` bounds one turn, and the deadline of its job all
    of them. From TERM to KILL it has `term_s`. `walls` are those of a container.
    """

    name: str
    argv: tuple[str, ...]
    runtime: str = "child"
    adapter: str = "plain"
    environment: tuple[str, ...] = ()
    cwd: Path | None = None
    folder: Path | None = None
    heartbeat_s: float = 15.0
    idle_s: float = 600.0
    time_limit_s: float = 3600.0
    term_s: float = 5.0
    walls: Walls | None = None

    def place(self, wanted: str | None) -> Path:
        """Where it works, with links followed. Raises `OutsideFolderError`."""
        if wanted is None:
            return (self.cwd or self.folder or Path.home()).resolve()
        if self.folder is None:
            raise OutsideFolderError(f"the template {self.name} has no folder")
        root, place = self.folder.resolve(), (self.folder / wanted).resolve()
        if not place.is_relative_to(root) or not place.is_dir():
            raise OutsideFolderError(f"{wanted!r} is no folder beneath {self.folder}")
        return place

    def variables(self, worker: str, home: Path, around: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The environment of one worker."""
        passed = {name: around[name] for name in (*_ALWAYS, *self.environment) if name in around}
        return passed | {
            WORKER: worker,
            HOME: str(home),
            RUNTIME: "tmux" if self.runtime == "tmux" else "child",
        }
