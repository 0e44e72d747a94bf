"""Where things lie: what the host keeps under one directory, and what of it each container sees (T-12)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from messaging.container.names import INPUT, MESSAGES, TASKS
from messaging.ipc import Folder

# An agent may write into all of its lane; into nothing else of the host's.
FROM_AGENT: Final = (MESSAGES, TASKS)


@dataclass(frozen=True, slots=True)
class Layout:
    """The directories below `data`. `claims`, `errors` and `locks` are the host's own."""

    data: Path

    def ipc(self, lane: str) -> Path:
        """`/workspace/ipc` of the lane."""
        return self.data / "ipc" / lane

    def state(self, lane: str) -> Path:
        """`/home/agent/.talon` of the lane."""
        return self.data / "sessions" / lane

    def group(self, folder: str) -> Path:
        """`/workspace/group`."""
        return self.data / "groups" / folder

    @property
    def shared(self) -> Path:
        """`/workspace/global`."""
        return self.data / "groups" / "global"

    @property
    def errors(self) -> Path:
        """What failed (T-39)."""
        return self.data / "ipc" / "errors"

    def claims(self, lane: str, folder: str) -> Path:
        """Files that are being dealt with; on the same file system, so that a rename takes them there."""
        return self.data / "claims" / lane / folder

    def lock(self, lane: str) -> Path:
        """Held by the one container that works on the lane (T-86)."""
        return self.data / "locks" / f"{lane}.lock"

    def prepare(self, lane: str, folder: str) -> None:
        """Make what a lane needs; nothing that is there already is touched."""
        for path in (self.ipc(lane), self.state(lane), self.group(folder), self.shared, self.errors):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with Folder.at(self.ipc(lane)) as ipc:
            for name in (INPUT, *FROM_AGENT):
                ipc.child(name, create=True).close()

    def made_ms(self, lane: str) -> int:
        """When something in the lane's directory was made or removed last, in milliseconds of the epoch."""
        return self.ipc(lane).stat().st_mtime_ns // 1_000_000

    def remove(self, lane: str) -> None:
        """All that is the lane's own, its lock last; links in it are removed and never followed."""
        for path in (self.ipc(lane), self.state(lane), self.data / "claims" / lane):
            shutil.rmtree(path, ignore_errors=True)
        self.lock(lane).unlink(missing_ok=True)

    def lanes(self) -> list[str]:
        """The names of all lanes that have a directory."""
        try:
            return sorted(path.name for path in (self.data / "ipc").iterdir())
        except FileNotFoundError:
            return []
