"""What the endpoints work with, put together once at start."""

from __future__ import annotations

from dataclasses import dataclass, field

from exec_daemon.access.callback_secret import CallbackSecret
from exec_daemon.access.grant_book import GrantBook
from exec_daemon.access.rates import Buckets
from exec_daemon.approvals.deciding import Deciding
from exec_daemon.artifacts import Artifacts
from exec_daemon.calls.execute import Executor
from exec_daemon.calls.registry import Registry
from exec_daemon.certificates.trust import Keeper
from exec_daemon.mcp.door import Door as McpDoor
from exec_daemon.metrics import Metrics
from exec_daemon.places import Places
from exec_daemon.programs import Programs
from exec_daemon.rpc.desk import Desk
from exec_daemon.settings import DaemonSettings
from exec_daemon.stopping import Stopping
from exec_daemon.store import Clock, NewId, Store
from exec_daemon.timers.desk import TimerDesk
from exec_daemon.web.sessions import Sessions
from exec_daemon.workers.desk import WorkerDesk


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """`stopping` is set when the daemon begins to stop: streams and long polls end.

    `token_uses` collects when each token was last used, until the server writes it to the store.
    """

    settings: DaemonSettings
    store: Store
    registry: Registry
    executor: Executor
    grants: GrantBook
    deciding: Deciding
    buckets: Buckets
    artifacts: Artifacts
    clock: Clock
    new_id: NewId
    stopping: Stopping
    callback_secret: CallbackSecret
    desk: Desk
    trust: Keeper
    places: Places
    metrics: Metrics
    mcp: McpDoor
    sessions: Sessions
    timers: TimerDesk
    workers: WorkerDesk
    programs: Programs
    token_uses: dict[str, str] = field(default_factory=dict)
