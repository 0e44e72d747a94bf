"""What the parts of `SqliteStore` that stand in files of their own share: writing, reading, clock and ids."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from exec_daemon.store.sources import Clock, NewId
from exec_daemon.store.sqlite.writer import Written

T = TypeVar("T")
P = ParamSpec("P")


class SqlitePart(ABC):
    """`_clock` and `_new_id` are looked at when a method is called, on the event loop."""

    _clock: Clock
    _new_id: NewId

    @abstractmethod
    async def _write(
        self,
        write: Callable[Concatenate[sqlite3.Connection, P], Written[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T: ...

    @abstractmethod
    async def _read(
        self, read: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T: ...

    @abstractmethod
    def _check_open(self) -> None:
        """Raises `StoreClosed`."""
