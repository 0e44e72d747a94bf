"""The product as its two processes on a state directory of their own, to be started, killed and asked."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harvester.client import DaemonClient
from harvester.errors import ClientError
from inband.compose import client_for
from inband.errors import FrontDoorError
from inband.settings import load

ROOT = Path(__file__).parents[2]
DAEMON, WATCHER, WORKERS = "daemon", "watcher", "workers"
# A first start makes keys and a store; a machine under load takes its time.
START_S = 60.0


class Parts:
    """`box up --only daemon` and, if `watching`, `--only watcher`; no rate limits, a free port."""

    def __init__(self, home: Path, *, watching: bool = True) -> None:
        self.home = home
        self._watching = watching
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BOX_")}
        self.environment = kept | {
            "BOX_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home),
            "BOX_RATES_READS_PER_MINUTE": "0",
            "BOX_RATES_WRITES_PER_MINUTE": "0",
            "BOX_RATES_DMS_PER_MINUTE": "0",
            "BOX_DAEMON_PORT": "0",
        }
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        self.start(DAEMON)
        wait_until(self.ready, START_S, "the daemon to be ready")
        if self._watching:
            self.start(WATCHER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._running):
            self.kill(name)

    def start(self, name: str) -> None:
        """Start one part; what it says goes into a log beside the state."""
        argv = [sys.executable, "-m", "inband", "up", "--only", name]
        with (self.home / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                argv, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def container_host(self, *words: str) -> subprocess.Popen[bytes]:
        """`box container serve` with these words, for the caller to end; its log is `host.log`."""
        argv = [sys.executable, "-m", "inband", "container", "serve", *words]
        environment = self.environment | {"PYTHONPATH": str(ROOT)}
        with (self.home / "host.log").open("ab") as log:
            return subprocess.Popen(
                argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self, name: str) -> int:
        """SIGKILL, the process waited for; its exit code."""
        process = self._running.pop(name)
        process.send_signal(signal.SIGKILL)
        return process.wait()

    def pid(self, name: str) -> int:
        """The process of a part that runs."""
        return self._running[name].pid

    def client(self, identity: str = "operator") -> DaemonClient:
        """A client of the daemon as it is now: a restart moves it to another port."""
        return client_for(load(self.environment, {}), identity)

    def ready(self) -> bool:
        """Does the daemon answer?"""
        try:
            with self.client() as client:
                return client.ready().get("status") == "ready"
        except (ClientError, FrontDoorError):
            return False

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """What the store's file holds at this instant, whether the daemon lives or not."""
        with closing(sqlite3.connect(f"file:{self.home / 'state' / 'store.db'}?mode=ro", uri=True)) as store:
            return store.execute(query, values).fetchall()

    def log(self, name: str) -> str:
        """All that the part has said so far."""
        return (self.home / f"{name}.log").read_text(errors="replace")


def wait_until(true: Callable[[], bool], at_most_s: float, what: str) -> None:
    """Wait for a condition; AssertionError names it when it does not come about."""
    end = time.monotonic() + at_most_s
    while not true():
        assert time.monotonic() < end, f"waited {at_most_s:.0f} s for {what}"
        time.sleep(0.05)


def persist(parts: Parts, ask: Callable[[DaemonClient], object], at_most_s: float) -> None:
    """Ask until there is an answer: in a soak the daemon is away most of the time."""
    end = time.monotonic() + at_most_s
    while True:
        try:
            with parts.client() as client:
                ask(client)
                return
        except (ClientError, FrontDoorError):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
