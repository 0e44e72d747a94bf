"""Logs: lines to a file of the state directory and to stderr, plain or JSON, redacted, never a token."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from exec_daemon.errors import HomeUnusable
from exec_daemon.log_file import LogFile
from messaging import redact, strip_terminal

# Three files of it hold about a week of a busy daemon.
_MOST_BYTES: Final = 8 * 1024 * 1024
_FILES: Final = 2
# The log of requests.
REQUESTS: Final = "exec_daemon.requests"
# Loggers of the daemon, and how much of each is kept.
DAEMON: Final = {
    "exec_daemon": logging.INFO,
    **dict.fromkeys(("uvicorn", "asyncio", "mcp"), logging.WARNING),
}
# The watcher's, for a file of its own: two processes cannot rotate one.
WATCHER: Final = {"harvester": logging.INFO}


# No line of ours names a thread or a process, and to find them out costs more than the line itself.
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


# What some viewers take for the end of a line.
_OTHER_LINE_ENDS: Final = str.maketrans("\x0b\x0c\u2028\u2029", "    ")


@lru_cache(maxsize=4)
def _second(since_epoch_s: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_epoch_s))


class _Lines(logging.Formatter):
    """`2026-12-01T09:00:00.000Z INFO exec_daemon.server: text`; no outside text makes a line of its own.

    The lines of a traceback are indented: what an exception quotes could look like another record.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 - the name is logging's
        return _second(int(record.created))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        return super().formatMessage(record).replace("\r", " ").replace("\n", " ")

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if text.isprintable():  # neither escapes nor ends of lines: so are the lines of requests
            return redact(text)
        whole = redact(strip_terminal(text))
        return whole.translate(_OTHER_LINE_ENDS).replace("\n", "\n    ")


class _Json(logging.Formatter):
    """A line is one JSON object: `at`, `level`, `logger`, `message`, and the `fields` that the record has."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": f"{_second(int(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps({key: _clean(value) for key, value in line.items()})


def _clean(value: Any) -> Any:
    return redact(strip_terminal(value)) if isinstance(value, str) else value


# What the setting `logs.format` names.
FORMATTERS: Final[Mapping[str, type[logging.Formatter]]] = {"text": _Lines, "json": _Json}


class _NoFlood(logging.Filter):
    """One record of a text a second from asyncio, which at the limit of files repeats itself without end."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name != "asyncio":
            return True
        text = record.getMessage()[:80]
        fresh = record.created >= self._next.get(text, 0.0)
        if fresh:
            self._next = {text: record.created + 1.0}
        return fresh


def _sinks(file: Path, *, stderr: bool) -> list[logging.Handler]:
    try:
        to_file = LogFile(file, most_bytes=_MOST_BYTES, files=_FILES, later=frozenset({REQUESTS}))
    except OSError as failed:
        text = (
            f"cannot write the log {file}: {failed.strerror}. Make it writable, or set BOX_HOME to another."
        )
        raise HomeUnusable(text, str(file)) from None
    sinks: list[logging.Handler] = [to_file]
    if stderr:
        console = logging.StreamHandler()
        console.addFilter(lambda record: record.name != REQUESTS)  # one line a request is for the file
        sinks.append(console)
    return sinks


@contextmanager
def logging_to(
    file: Path, levels: Mapping[str, int] = DAEMON, *, stderr: bool, form: str = "text"
) -> Iterator[None]:
    """Sends what these loggers say there for as long as it lasts; raises `HomeUnusable`.

    `form` is a name of `FORMATTERS`.
    """
    sinks = _sinks(file, stderr=stderr)
    for sink in sinks:
        sink.setFormatter(FORMATTERS[form]())
        sink.addFilter(_NoFlood())
    loggers = [logging.getLogger(name) for name in levels]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers += sinks
        logger.propagate = False
        logger.setLevel(levels[logger.name])
    try:
        yield
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.handlers = [kept for kept in logger.handlers if kept not in sinks]
            logger.setLevel(level)
            logger.propagate = propagate
        for sink in sinks:
            sink.close()
