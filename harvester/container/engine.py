"""A container engine that takes docker's arguments (docker, podman), by its command line.

Values of variables are not on the command line, where `ps` shows them: the engine takes them from its own
environment. A client that is killed leaves its container behind, so containers have names and are removed by
them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from harvester.container.inside import RUNTIME
from harvester.container.mounts import Mount, MountRefused
from messaging.container.names import PATHS

_LIMIT_S: Final = 20.0
_WALLS: Final = ("--rm", "--interactive", "--init", "--cap-drop=ALL", "--security-opt=no-new-privileges")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """`program` runs containers of `image`; without `network` they reach nothing."""

    program: str
    image: str
    network: bool = False

    def run(
        self, argv: Sequence[str], mounts: Iterable[Mount], *, name: str, variables: Iterable[str]
    ) -> list[str]:
        """`argv` as it runs inside. Raises `MountRefused` for a path that its arguments cannot say."""
        who = f"--user={os.getuid()}:{os.getgid()}"
        net = "--network=bridge" if self.network else "--network=none"
        places = (f"--name={name}", f"--workdir={PATHS['group']}", f"--env=PYTHONPATH={RUNTIME}")
        passed = (f"--env={variable}" for variable in variables)
        return [self.program, "run", *_WALLS, who, net, *places, *passed, *_mounts(mounts), self.image, *argv]

    def remove(self, name: str) -> None:
        """Whatever is left of a container of this name; none is none."""
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [self.program, "rm", "--force", name],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIMIT_S,
                check=False,
            )


def _mounts(mounts: Iterable[Mount]) -> Iterator[str]:
    for mount in mounts:
        if "," in f"{mount.source}{mount.target}":
            raise MountRefused(f"{mount.source}: an engine takes no path with a comma")
        mode = "" if mount.writable else ",readonly"
        yield f"--mount=type=bind,source={mount.source},target={mount.target}{mode}"
