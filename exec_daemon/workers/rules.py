"""What may be started: the templates of `box.toml`, and how many workers there may be (D124, D125)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from exec_daemon.store.worker_values import Budget
from exec_daemon.worker_template import WorkerTemplate
from messaging.moment import iso

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRules:
    """Numbers are for one root: the identity at the head of a chain of spawns, and all below it.

    `most_depth` 1: what was spawned spawns nobody, whatever its grant says.
    """

    templates: Mapping[str, WorkerTemplate] = field(default_factory=lambda: MappingProxyType({}))
    most_alive: int = 8
    most_per_hour: int = 30
    most_depth: int = 1

    def budget(self, template: WorkerTemplate, now: datetime) -> Budget:
        """What a spawn at this moment has to fit."""
        return Budget(
            since=iso(now - _HOUR),
            most_alive=self.most_alive,
            most_started=self.most_per_hour,
            most_of_template=template.most,
        )
