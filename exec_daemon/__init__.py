"""The daemon: call -> decision -> effect -> result.

Public names are looked up on first use: importing the package loads no web framework and no database.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exec_daemon.errors import DaemonError
    from exec_daemon.server import Daemon, serve
    from exec_daemon.settings import DaemonLimits, DaemonSettings
    from exec_daemon.store import MemoryStore, SqliteStore, Store, StoreError, open_store

_LAZY = {
    "Daemon": "exec_daemon.server",
    "DaemonError": "exec_daemon.errors",
    "DaemonLimits": "exec_daemon.settings",
    "DaemonSettings": "exec_daemon.settings",
    "MemoryStore": "exec_daemon.store",
    "SqliteStore": "exec_daemon.store",
    "Store": "exec_daemon.store",
    "StoreError": "exec_daemon.store",
    "open_store": "exec_daemon.store",
    "serve": "exec_daemon.server",
}

__all__ = [
    "Daemon",
    "DaemonError",
    "DaemonLimits",
    "DaemonSettings",
    "MemoryStore",
    "SqliteStore",
    "Store",
    "StoreError",
    "open_store",
    "serve",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
