"""`box up`: the daemon, the watcher, and where there are workers their host, in the foreground."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from threading import Event
from typing import Final

import click

from exec_daemon.errors import DaemonError
from exec_daemon.home import prepare
from exec_daemon.logs import WATCHER, logging_to
from inband import compose
from inband.cli.shared import settings_of
from inband.errors import Exit, InputError
from inband.lifeline import end_with_parent
from inband.notify import READY, notify
from inband.settings import Settings
from inband.supervise import CANNOT_START, Part, Supervisor, part
from inband.tracing import tracing

# What each part that is a client of the daemon does until it is to stop.
_BESIDE: Final[dict[str, Callable[[Settings, Event], None]]] = {
    "watcher": compose.watch,
    "workers": compose.keep_workers,
}


@click.command()
@click.option("--host", metavar="ADDRESS", help="Listen here (default: daemon.host, 127.0.0.1).")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Listen here; 0 takes a free port (default: 8443)."
)
@click.option("--only", type=click.Choice(["daemon", "watcher", "workers"]), help="Run one of the parts.")
@click.option("--parent", type=int, hidden=True)
@click.pass_context
def up(
    ctx: click.Context, *, host: str | None, port: int | None, only: str | None, parent: int | None
) -> int:
    """Run the daemon and the watcher until Ctrl-C.

    The daemon answers calls over TLS; the watcher harvests each reply that arrives in a thread. Where
    box.toml has templates of workers, a third process keeps those that were spawned.

    \b
    Examples:
      box up
      box up --port 9443
    """
    settings = settings_of(ctx, **{"daemon.host": host, "daemon.port": port})
    if parent is not None:
        end_with_parent(parent)
    if only == "daemon":
        return _daemon(settings)
    if only is not None:
        return _beside(settings, only)
    return _all(settings)


def _all(settings: Settings) -> int:
    environment = dict(os.environ) | {"BOX_HOME": str(settings.home)}
    listen = {"BOX_DAEMON_HOST": settings["daemon.host"], "BOX_DAEMON_PORT": str(settings["daemon.port"])}
    try:
        prepare(settings.home)  # what both parts would find out and say
    except DaemonError as cannot:
        _say(str(cannot))
        return Exit.FAILED
    daemon = part("daemon", reloads=True)
    beside = ["watcher", "workers"] if settings["workers"] else ["watcher"]
    supervisor = Supervisor([daemon, *map(part, beside)], environment | listen, _say)
    return supervisor.run(on_round=_Greeting(settings, daemon))


class _Greeting:
    """Says once, when our daemon answers, where it is and what to type next."""

    def __init__(self, settings: Settings, daemon: Part) -> None:
        self._settings = settings
        self._daemon = daemon
        self._said = False

    def __call__(self) -> None:
        if self._said or not self._listens():
            return
        self._said = True
        notify(READY)
        _say(f"ready at {compose.daemon_url(self._settings)}, state in {self._settings.home}; Ctrl-C ends")
        _say("next, in another terminal: box agent add heron; box thread follow heron")

    def _listens(self) -> bool:
        """A killed daemon leaves its file behind, and one of another `box up` may be there."""
        process = self._daemon.process
        return process is not None and compose.daemon_pid(self._settings) == process.pid


def _daemon(settings: Settings) -> int:
    import exec_daemon

    try:
        with tracing(settings["traces.endpoint"], "inband-daemon"):
            exec_daemon.serve(compose.daemon_settings(settings))
    except (DaemonError, InputError, exec_daemon.StoreError) as cannot:
        _say(str(cannot))
        return CANNOT_START
    return 0


def _beside(settings: Settings, name: str) -> int:
    """One of the parts that are clients of the daemon."""
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        home = prepare(settings.home)
        logged = logging_to(home.root / f"{name}.log", WATCHER, stderr=True, form=settings["logs.format"])
        with logged, tracing(settings["traces.endpoint"], f"inband-{name}"):
            _BESIDE[name](settings, stop)
    except (DaemonError, InputError) as cannot:
        _say(str(cannot))
        return CANNOT_START
    return 0


def _say(message: str) -> None:
    click.echo(f"box: {message}", err=True)
