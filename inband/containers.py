"""The host's side of containers, put together from the settings (docs/container.md)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

from harvester import DaemonClient, Watcher
from harvester.connector import Connector, DaemonThreads
from harvester.container.connector import IpcThreads, out_of
from harvester.container.desk import DaemonDesk, Desk, FreshDesk
from harvester.container.followups import FollowUps
from harvester.container.groups import Group, agent_of
from harvester.container.intake import Intake
from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from harvester.container.lock import LaneBusy, held
from harvester.container.pace import Pace
from harvester.container.retention import LaneRetention
from harvester.container.runner import Runner
from harvester.container.sweep import Sweep
from inband.compose import client_for, once_there_is_a_daemon, scan_policy
from inband.container_programs import Containers, Maker, endpoint
from inband.errors import InputError
from inband.settings import Settings
from messaging.container import FileNames, is_folder
from messaging.ipc import Changes
from messaging.moment import iso


def layout_of(settings: Settings, data: Path | None) -> Layout:
    """Where the directories lie: the one that was named, else below the state directory."""
    return Layout((data or settings.home / "container").expanduser().absolute())


@contextmanager
def ledger_of(settings: Settings) -> Iterator[Ledger]:
    """The host's memory, in the state directory, where no container reaches it."""
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Ledger(settings.home / "container.db") as ledger:
        yield ledger


def add_group(settings: Settings, layout: Layout, group: Group, client: DaemonClient) -> Group:
    """Register a chat: its directories, its agent, and what has been said before is not told again."""
    if not is_folder(group.folder):
        raise InputError(
            f"{group.folder!r} is no folder of a group: 1 to 64 letters, digits, _ and -, no reserved one"
        )
    with ledger_of(settings) as ledger:
        same = ledger.groups().of_agent(agent_of(group.folder))
        if same is not None and same.folder != group.folder:
            raise InputError(f"{group.folder!r} differs from the group {same.folder!r} in capitals only")
        client.add_agent(group.agent)
        for thread in () if ledger.groups().source(group.folder) else client.threads(group.agent):
            ledger.set_position(out_of(thread.id), thread.last_seq)
        ledger.put_group(group)
    layout.prepare(group.folder, group.folder)
    return group


def serve(settings: Settings, layout: Layout, containers: Containers, stop: Event) -> None:
    """Bring files in and follow-ups out until `stop` is set; run containers if there is a program."""
    with ledger_of(settings) as ledger, _alone(settings):
        names = FileNames(now_ms, lambda digits: secrets.token_hex(digits)[:digits])
        host = _Host(settings, layout, ledger, FollowUps(layout, ledger, names), Pace(time.monotonic))
        watcher = Watcher(
            lambda: once_there_is_a_daemon(settings),
            policy=scan_policy(settings),
            max_rounds=settings["harvest.max_rounds"],
            name="containers",
            threads=host.threads,
        )
        runner = host.runner(containers) if containers.argv else None
        containers.say(f"serving {layout.data}; Ctrl-C ends")
        with _running(runner, stop):
            watcher.run(stop)


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    try:
        with held(settings.home / "container.lock", "container"):
            yield
    except LaneBusy:
        raise InputError(f"another `box container serve` runs with {settings.home}") from None


@contextmanager
def _running(runner: Runner | None, stop: Event) -> Iterator[None]:
    if runner is None:
        yield
        return
    thread = Thread(target=runner.run, args=(stop,), name="containers")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def now_ms() -> int:
    """The wall clock."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class _Host:
    settings: Settings
    layout: Layout
    ledger: Ledger
    follow_ups: FollowUps
    pace: Pace

    @contextmanager
    def desk(self, client: DaemonClient) -> Iterator[Desk]:
        with client_for(self.settings, "operator") as operator:
            yield DaemonDesk(client, operator)

    @contextmanager
    def fresh(self) -> Iterator[Desk]:
        with once_there_is_a_daemon(self.settings) as client, self.desk(client) as desk:
            yield desk

    @contextmanager
    def threads(self, client: DaemonClient) -> Iterator[Connector]:
        with ExitStack() as stack:
            desk = stack.enter_context(self.desk(client))
            changes = stack.enter_context(Changes())
            sweep = Sweep(
                layout=self.layout,
                intake=Intake(desk=desk, ledger=self.ledger),
                follow_ups=self.follow_ups,
                pace=self.pace,
                now_ms=now_ms,
                moment=lambda: iso(datetime.now(UTC)),
            )
            kept = LaneRetention(self.layout, self.ledger, self.settings["store.keep_days"])
            inner = DaemonThreads(client, "containers")
            yield IpcThreads(inner, sweep, self.follow_ups, changes, tidy=lambda: kept.once(now_ms()))

    def runner(self, containers: Containers) -> Runner:
        return Runner(
            desk=FreshDesk(self.fresh),
            follow_ups=self.follow_ups,
            make=Maker(self.layout, self.ledger, containers).program,
            llm=endpoint(containers.llm) if containers.llm else None,
        )
