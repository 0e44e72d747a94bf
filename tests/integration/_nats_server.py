"""A real NATS server on a free port, with its store in a folder; it can be killed and started again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from tests.patience import until

# sync_interval always: what the broker acknowledged survives a kill and a loss of power.
CONFIG = """
host: 127.0.0.1
port: {port}
jetstream {{ store_dir: "{folder}", sync_interval: always }}
"""


def program() -> str:
    """The server of the test requirements, beside this Python, or one that is installed."""
    beside = Path(sys.executable).parent / "nats-server"
    return str(beside) if beside.exists() else shutil.which("nats-server") or "nats-server"


# Below the ports that systems give to whoever asks for any: a server that was killed finds its own free.
PORTS = count(20_000 + os.getpid() * 13 % 10_000)


def free_port() -> int:
    while True:
        port = next(PORTS)
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class NatsServer:
    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self._config = folder / "nats.conf"
        self._config.write_text(CONFIG.format(port=self._port, folder=folder / "jetstream"))
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._running = subprocess.Popen(
            [program(), "-c", self._config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until(self._answers, lambda: "nats-server does not answer")

    def kill(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.wait()
            self._running = None

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), 1).close()
        except OSError:
            return False
        return True


@contextmanager
def nats_server(folder: Path) -> Iterator[NatsServer]:
    server = NatsServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
