"""What stands around a worker that runs in a container, as its template says it (T-80 to T-83)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harvester.container.bubblewrap import boxed
from harvester.container.engine import Engine
from harvester.container.groups import Source
from harvester.container.inside import RUNTIME, interpreter, runtime
from harvester.container.mounts import Allowlist, Mount, further
from messaging.container import LlmEndpoint

# A worker is nobody's main group: what the allowlist gives only to that one it does not get.
_ORDINARY: Final = Source("worker", is_main=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """`mounts` are asked for as `additionalMounts` are, and the list in `allowlist` decides each.

    Without an `engine` it is bubblewrap. `llm` goes in on stdin and nowhere else (T-18).
    """

    mounts: Sequence[Mapping[str, Any]] = ()
    allowlist: Path | None = None
    network: bool = False
    engine: Engine | None = None
    llm: LlmEndpoint | None = None

    def further(self) -> Iterator[Mount]:
        """Raises `MountRefused`: a worker that misses a folder would find out in the middle of its work."""
        allowed = Allowlist.at(self.allowlist) if self.allowlist else Allowlist()
        return (further(one, _ORDINARY, allowed) for one in self.mounts)

    def around(
        self, argv: Sequence[str], mounts: Iterable[Mount], *, name: str, variables: Iterable[str]
    ) -> list[str]:
        """The command line. `variables` are the names of those that it gets from our environment for it."""
        places = [*mounts, *self.further(), *runtime()]
        if self.engine is not None:
            return self.engine.run(argv, places, name=name, variables=variables)
        inner = ["/usr/bin/env", f"PYTHONPATH={RUNTIME}", *argv]
        return boxed(inner, places, network=self.network, programs=interpreter(), cleared=False)

    def sweep(self, name: str) -> None:
        """What a killed client of an engine has left; a box of bubblewrap's ends with whoever started it."""
        if self.engine is not None:
            self.engine.remove(name)
