"""The store on disk: SQLite in WAL mode, one writer thread with group commit, readers beside it.

`store` is the port; `files`, `check`, `lock` and `schema` open it; `writer` and `reader` run what
`threads`, `directory` and `journal` say in SQL; `faults` gives errors their types.
"""

from exec_daemon.store.sqlite.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
