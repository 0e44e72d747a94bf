"""The parts of a daemon, each made from the settings and from those that it stands on."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from typing import Any

from exec_daemon.access.grant_book import GrantBook
from exec_daemon.access.rates import Buckets
from exec_daemon.approvals.asking import Asking
from exec_daemon.artifacts import Artifacts
from exec_daemon.box import BoxContext, Scope
from exec_daemon.box_reads import BoxReads
from exec_daemon.calls.chain import Chain
from exec_daemon.calls.execute import Executor
from exec_daemon.calls.registry import Registry
from exec_daemon.home import Home
from exec_daemon.programs import Programs
from exec_daemon.programs_at_start import gates_of, other_box_ctl
from exec_daemon.rpc.child import ChildAgents
from exec_daemon.rpc.desk import Desk
from exec_daemon.settings import DaemonSettings
from exec_daemon.store import Store, random_id, utc_now
from exec_daemon.store_facts import FactsFromStore
from exec_daemon.timers.gates import Gates
from messaging import ArtifactError, secret_values

log = logging.getLogger(__name__)


def _keep_reading(artifacts: Artifacts, content: bytes) -> dict[str, Any] | None:
    try:
        return artifacts.keep(BytesIO(content), "application/json").to_json()
    except ArtifactError as lost:
        log.warning("the whole of a reading that was cut could not be kept: %s", lost)
        return None


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Lives on the event loop. Each part is made once, when it is first asked for."""

    settings: DaemonSettings
    home: Home
    store: Store
    programs: Programs
    ops: Registry
    book: GrantBook
    buckets: Buckets = field(default_factory=lambda: Buckets(time.monotonic))

    @cached_property
    def artifacts(self) -> Artifacts:
        """Content that is kept; what an earlier stop left half done is swept away."""
        limits = self.settings.limits
        made = Artifacts(
            self.home.artifacts,
            (self.home.outbox, *self.settings.artifact_folders),
            most_bytes=limits.max_artifact_bytes,
            room_bytes=limits.artifacts_room_bytes,
        )
        made.sweep()
        return made

    @cached_property
    def chain(self) -> Chain | None:
        """What may not follow on what was read; None where no policy says so."""
        policy = self.settings.policy.chain
        return Chain(self.store, policy) if policy.active else None

    @cached_property
    def executor(self) -> Executor:
        """What answers calls."""
        asking = Asking(
            store=self.store,
            registry=self.ops,
            clock=utc_now,
            new_id=random_id,
            expire_s=self.settings.policy.approvals.expire_s,
        )
        return Executor(
            registry=self.ops,
            store=self.store,
            buckets=self.buckets,
            limits=self.settings.limits,
            box=self._box_reads(),
            keep=self.artifacts,
            new_id=random_id,
            grants=self.book.grants,
            chain=self.chain,
            asking=asking,
            workers=self.settings.workers,
            gates=self.settings.gates,
        )

    @cached_property
    def gates(self) -> Gates:
        """What timers ask before they wake anybody."""
        return gates_of(self.settings, self.home, self.programs)

    @cached_property
    def desk(self) -> Desk:
        """The RPC. Agents get the daemon's environment without our own variables, which may hold a token."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BOX_")}
        return Desk(
            store=self.store,
            agents=ChildAgents(environment=environment),
            templates=self.settings.agents,
            buckets=self.buckets,
            grants=self.book.grants,
            clock=utc_now,
            new_id=random_id,
            chain=self.chain,
        )

    def _box_reads(self) -> BoxReads:
        facts = FactsFromStore(self.store, asyncio.get_running_loop())
        other = other_box_ctl(self.settings, self.home, self.programs)

        def context(scope: Scope) -> BoxContext:
            return BoxContext(
                facts=facts,
                scope=scope,
                repos=self.settings.repos,
                log_dir=self.home.root,
                secrets=secret_values(os.environ),
                daemon_file=self.home.address,
                program=other,
                keep=partial(_keep_reading, self.artifacts),
            )

        return BoxReads(context, self.settings.limits.box_time_limit_s)
