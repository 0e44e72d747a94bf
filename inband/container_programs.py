"""What runs in a container: the program, its walls, its places and its model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harvester.container.bubblewrap import boxed
from harvester.container.groups import Source
from harvester.container.inside import RUNTIME, interpreter, runtime
from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from harvester.container.mounts import Allowlist, Mount, MountRefused, further, standard
from harvester.container.process import Program
from inband.errors import InputError
from messaging.container import LlmEndpoint, WireError
from messaging.strict_json import StrictJsonError, load_object

_MOST_LLM_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """How containers are run: `argv`, inside a box by bubblewrap if `boxed`.

    `llm` is a file that holds the model's endpoint, so that no `ps` shows its token.
    """

    argv: Sequence[str] = ()
    boxed: bool = False
    network: bool = False
    project: Path | None = None
    allowlist: Path | None = None
    llm: Path | None = None
    say: Callable[[str], None] = field(default=lambda _text: None)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the program of a lane's container."""

    layout: Layout
    ledger: Ledger
    containers: Containers

    def program(self, lane: str, source: Source, lock: int) -> Program:
        self.layout.prepare(lane, source.folder)
        argv, how = list(self.containers.argv), self.containers
        if not how.boxed:
            return Program(argv=argv, environment=self._open(lane, source), keep=(lock,))
        mounts = [*standard(self.layout, lane, source, how.project), *self._further(source), *runtime()]
        inner = ["/usr/bin/env", f"PYTHONPATH={RUNTIME}", *argv]
        walls = boxed(inner, mounts, network=how.network, programs=interpreter())
        return Program(argv=walls, environment=os.environ, keep=(lock,))

    def _open(self, lane: str, source: Source) -> dict[str, str]:
        """Without walls the agent is told where its places are."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("BOX_")}
        return ours | {
            "INBAND_AGENT_IPC": str(self.layout.ipc(lane)),
            "INBAND_AGENT_STATE": str(self.layout.state(lane)),
            "INBAND_AGENT_GROUP": str(self.layout.group(source.folder)),
        }

    def _further(self, source: Source) -> Iterator[Mount]:
        """`containerConfig.additionalMounts` of the group, as far as the allowlist permits them."""
        if self.containers.allowlist is None:
            return
        allowed = Allowlist.at(self.containers.allowlist)
        for group in self.ledger.groups():
            wanted: Any = group.container_config.get("additionalMounts", ())
            for one in wanted if group.folder == source.folder and isinstance(wanted, list) else ():
                try:
                    yield further(one if isinstance(one, dict) else {}, source, allowed)
                except MountRefused as refused:
                    self.containers.say(f"{source.folder}: not mounted: {refused}")


def endpoint(file: Path) -> LlmEndpoint:
    try:
        with file.expanduser().open("rb") as opened:
            return LlmEndpoint.from_json(load_object(opened.read(_MOST_LLM_BYTES).decode("utf-8")))
    except OSError as broken:
        raise InputError(f"{file}: cannot be read: {broken.strerror}") from None
    except (UnicodeDecodeError, StrictJsonError, WireError) as wrong:
        raise InputError(f"{file}: says no model: {wrong}") from None


def default_allowlist() -> Path:
    """T-82: outside of everything that is mounted."""
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(config).expanduser() / "inband" / "mount-allowlist.json"
