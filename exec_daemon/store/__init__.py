"""The store: a port, its values and errors, a double in memory, and SQLite on disk.

`open_store` loads sqlite3; it is looked up on first use so that importing the package stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from exec_daemon.store.effects import Effect, StepTimer, StepWorkers
from exec_daemon.store.errors import (
    Exists,
    JobEnded,
    NoSuchJob,
    NoSuchThread,
    Outdated,
    OverBudget,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreNewer,
    StoreReadOnly,
    StoreRefused,
    StoreUnavailable,
)
from exec_daemon.store.feed import REPLIES, Subscription, job_topic, thread_topic
from exec_daemon.store.memory import MemoryStore
from exec_daemon.store.outside_values import Arrival, OutsideJob, Reception, Standing
from exec_daemon.store.permissions import Approval, ApprovalState, AskedCall, GrantRecord, Word
from exec_daemon.store.port import PAGE, Store
from exec_daemon.store.retention import Excess, Pruned, Retention
from exec_daemon.store.rpc_values import RpcAnswer, RpcTask
from exec_daemon.store.sources import Clock, NewId, random_id, utc_now
from exec_daemon.store.values import (
    Agent,
    AgentRun,
    Appended,
    AppendMessage,
    Artifact,
    AuditBreak,
    AuditCheck,
    AuditLine,
    Begun,
    Conflict,
    Done,
    KeepArtifact,
    LastRun,
    New,
    NewAuditLine,
    NewJob,
    NewThread,
    Outcome,
    Running,
    Spending,
    TokenRecord,
)

if TYPE_CHECKING:
    from exec_daemon.store.sqlite import SqliteStore, open_store

_LAZY = {"SqliteStore": "exec_daemon.store.sqlite", "open_store": "exec_daemon.store.sqlite"}

__all__ = [
    "PAGE",
    "REPLIES",
    "Agent",
    "AgentRun",
    "AppendMessage",
    "Appended",
    "Approval",
    "ApprovalState",
    "Arrival",
    "Artifact",
    "AskedCall",
    "AuditBreak",
    "AuditCheck",
    "AuditLine",
    "Begun",
    "Clock",
    "Conflict",
    "Done",
    "Effect",
    "Excess",
    "Exists",
    "GrantRecord",
    "JobEnded",
    "KeepArtifact",
    "LastRun",
    "MemoryStore",
    "New",
    "NewAuditLine",
    "NewId",
    "NewJob",
    "NewThread",
    "NoSuchJob",
    "NoSuchThread",
    "Outcome",
    "Outdated",
    "OutsideJob",
    "OverBudget",
    "Pruned",
    "Reception",
    "Retention",
    "RpcAnswer",
    "RpcTask",
    "Running",
    "Spending",
    "SqliteStore",
    "Standing",
    "StepTimer",
    "StepWorkers",
    "Store",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreFailed",
    "StoreFull",
    "StoreLocked",
    "StoreNewer",
    "StoreReadOnly",
    "StoreRefused",
    "StoreUnavailable",
    "Subscription",
    "TokenRecord",
    "Word",
    "job_topic",
    "open_store",
    "random_id",
    "thread_topic",
    "utc_now",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
