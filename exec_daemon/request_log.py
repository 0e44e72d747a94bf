"""One line a request: noted by the event loop, put into words by the thread that writes the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from exec_daemon.logs import REQUESTS

log = logging.getLogger(REQUESTS)

# What logging asks of any record, the same for all of these.
_ALIKE: Final = vars(logging.LogRecord(REQUESTS, logging.INFO, "", 0, "", None, None))


class _Asked(logging.LogRecord):
    """A record without what logging finds out for each: where it was made, in which thread, its words."""

    def __init__(self, scope: Mapping[str, Any], status: int, took_ms: float) -> None:
        now_s = time.time()
        self.__dict__ = {**_ALIKE, "created": now_s, "msecs": now_s % 1 * 1000}
        self._asked = (scope["method"], scope["path"][:200], status, took_ms)
        self._who = scope.get("inband.identity", "-")
        self._ids = scope.get("inband.ids", {})

    def getMessage(self) -> str:  # noqa: N802 - the name is logging's
        method, path, status, took_ms = self._asked
        return f"{method} {_escaped(path)} {status} {took_ms:.1f}ms {self._who}"

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What a line of JSON holds."""
        method, path, status, took_ms = self._asked
        asked = {"method": method, "path": _escaped(path), "status": status, "took_ms": round(took_ms, 3)}
        return asked | {"identity": self._who, **self._ids}


def _escaped(path: str) -> str:
    return path.encode("unicode_escape").decode()


def note(scope: Mapping[str, Any], status: int, took_ms: float) -> None:
    """Method, path, status, time, identity and ids. Never headers, queries or bodies: they hold secrets."""
    if log.isEnabledFor(logging.INFO):
        log.handle(_Asked(scope, status, took_ms))
