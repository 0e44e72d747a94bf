"""The file that logs go to: private, rotated by size, and cheap for whoever writes a line for each request.

Records of most loggers are in the file when the call returns. Those of loggers that are named `later` are put
into a queue and written in groups by a thread, a moment later: a request does not wait for its line. What the
process has not written when it is killed is lost.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final

# How long a line may wait; a person who follows the file does not notice.
LATER_S: Final = 0.1
# So many lines wait at most; then whoever writes one writes all of them.
_MOST_WAITING: Final = 10_000


class LogFile(logging.Handler):
    """Appends to `path`; at `most_bytes` it becomes `path.1`, that one `path.2` … up to `files` of them."""

    def __init__(self, path: Path, *, most_bytes: int, files: int, later: frozenset[str]) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._files = files
        self._later = later
        self._waiting: deque[logging.LogRecord] = deque()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._file, self._bytes = self._open()
        super().__init__()  # logging closes at exit what it knows of: only what is open
        self._thread = threading.Thread(target=self._write_waiting, name="log", daemon=True)
        self._thread.start()

    def _open(self) -> tuple[BinaryIO, int]:
        """Nobody but the owner may read it, and it is no link to elsewhere."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        return os.fdopen(descriptor, "ab", buffering=0), os.fstat(descriptor).st_size

    def handle(self, record: logging.LogRecord) -> bool:
        """As `logging.Handler.handle`, without the lock for what is put into the queue."""
        if record.name not in self._later or len(self._waiting) >= _MOST_WAITING:
            return bool(super().handle(record))
        self._waiting.append(record)
        if not self._wake.is_set():
            self._wake.set()
        return True

    def emit(self, record: logging.LogRecord) -> None:
        """What waits is written first: lines stand in the order in which they came."""
        self._write([*self._taken(), record])

    def _taken(self) -> Iterable[logging.LogRecord]:
        while self._waiting:
            yield self._waiting.popleft()

    def _write_waiting(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._closing.wait(LATER_S)
            self._wake.clear()
            self.acquire()
            try:
                self._write(self._taken())
            finally:
                self.release()

    def _write(self, records: Iterable[logging.LogRecord]) -> None:
        try:
            lines = "".join(self.format(record) + "\n" for record in records)
            if lines:
                self._append(lines.encode("utf-8", "backslashreplace"))
        except Exception:  # noqa: BLE001 - a log that cannot be written must not end what is logged
            self.handleError(logging.makeLogRecord({"msg": "a line of the log"}))

    def _append(self, lines: bytes) -> None:
        if self._bytes and self._bytes + len(lines) > self._most_bytes:
            self._rotate()
        self._file.write(lines)
        self._bytes += len(lines)

    def _rotate(self) -> None:
        self._file.close()
        for number in range(self._files, 0, -1):
            before = self._path if number == 1 else self._numbered(number - 1)
            if before.exists():
                before.replace(self._numbered(number))
        self._file, self._bytes = self._open()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def close(self) -> None:
        """Writes what waits."""
        if not self._closing.is_set():
            self._closing.set()
            self._wake.set()
            self._thread.join()
            self._write(self._taken())
            self._file.close()
        super().close()
