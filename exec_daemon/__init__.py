"""The daemon: call -> decision -> effect -> result.

Public names are looked up on first use: importing the package loads no web framework and no database.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exec_daemon.store import MemoryStore, SqliteStore, Store, StoreError, open_store

_LAZY = {
    "MemoryStore": "exec_daemon.store",
    "SqliteStore": "exec_daemon.store",
    "Store": "exec_daemon.store",
    "StoreError": "exec_daemon.store",
    "open_store": "exec_daemon.store",
}

__all__ = ["MemoryStore", "SqliteStore", "Store", "StoreError", "open_store"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
