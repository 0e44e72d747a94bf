"""The host's side on a directory, with threads in memory in the daemon's place."""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harvester.connector import MemoryThreads
from harvester.container.authorise import Task
from harvester.container.calls import Errand
from harvester.container.connector import IpcThreads
from harvester.container.desk import Words
from harvester.container.followups import FollowUps
from harvester.container.groups import Group
from harvester.container.intake import Intake
from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from harvester.container.pace import Pace
from harvester.container.sweep import Sweep
from harvester.errors import Refused
from messaging import AuthorKind, CallError, ErrorCode, Message, MessageKind, Result, Thread, error
from messaging.container import ContainerOutput, FileNames
from messaging.ipc import Changes

MAIN, FAMILY, WORK = "tg:main", "tg:family", "tg:work"


@dataclass
class MemoryDesk:
    """What was asked for, in order; each key once, as the daemon's journal has it."""

    memory: MemoryThreads = field(default_factory=MemoryThreads)
    rows: list[Task] = field(default_factory=list)
    ran: list[tuple[str, Errand]] = field(default_factory=list)
    welcomed: list[str] = field(default_factory=list)
    answers: list[CallError | Exception | None] = field(default_factory=list)
    most_chars: int = 1 << 20
    bill: list[tuple[str, str, int]] = field(default_factory=list)
    told_senders: list[tuple[str, str]] = field(default_factory=list)
    _records: dict[str, Message] = field(default_factory=dict)
    _results: dict[str, Result] = field(default_factory=dict)

    def welcome(self, agent: str) -> None:
        self.welcomed.append(agent)

    def record(self, words: Words) -> Message:
        if len(words.text) > self.most_chars:
            raise Refused(error(ErrorCode.TOO_LARGE, "too large"), url="")
        if words.key not in self._records:
            self._records[words.key] = self.memory.append(
                words.thread or words.agent, words.text, author=words.agent
            )
        return self._records[words.key]

    def notice(self, words: Words) -> None:
        if words.key not in self._records:
            self._records[words.key] = self.memory.append(
                words.agent,
                words.text,
                author="harvester",
                author_kind=AuthorKind.SYSTEM,
                kind=MessageKind.NOTICE,
                in_reply_to=words.about,
            )

    def tell_senders(self, messages: Sequence[str], text: str) -> None:
        self.told_senders += [(one, text) for one in messages]

    def run(self, agent: str, errand: Errand, key: str) -> Result:
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer is None and key not in self._results:
            self.ran.append((agent, errand))
            self._results[key] = Result(op=errand.call.op, call_id=key, data={})
        return self._results.get(key) or Result(op=errand.call.op, call_id=key, error=answer)

    def spent(self, agent: str, key: str, output: ContainerOutput) -> None:
        if output.usage:
            self.bill.append((agent, key, output.usage.context_size))

    def tasks(self) -> Sequence[Task]:
        return tuple(self.rows)

    def threads(self, agent: str) -> Sequence[Thread]:
        """Its home, and threads that are named after it."""
        ids = dict.fromkeys([agent, *(one.thread for one in self.memory.log)])
        mine = [one for one in ids if one.partition("-")[0] == agent]
        return [
            Thread(id=one, title="", agent=agent, created_at="", last_seq=self._last(one)) for one in mine
        ]

    def _last(self, thread: str) -> int:
        return max((one.seq for one in self.memory.log if one.thread == thread), default=0)


def task(name: str, agent: str, maker: str | None) -> Task:
    row = {
        "id": f"tmr_{name}",
        "name": name,
        "agent": agent,
        "created_by": f"agent/{maker}" if maker else "operator/local",
        "prompt": f"do {name}",
        "schedule": "0 9 * * *",
        "schedule_type": "cron",
        "state": "active",
        "next_due": "2026-12-01T09:00:00.000Z",
    }
    return Task(id=row["id"] or "", name=name, agent=agent, maker=maker, row=row)


class Host:
    """Three groups: main, family and work."""

    def __init__(self, root: Path, *, per_minute: int = 0, burst: int = 100_000) -> None:
        self.layout = Layout(root)
        self.ledger = Ledger(root / "container.db", "OFF")
        self.desk = MemoryDesk()
        self.seconds = itertools.count(1796040000)
        names = FileNames(lambda: next(self.seconds) * 1000, lambda digits: secrets.token_hex(3)[:digits])
        self.names = names
        self.follow_ups = FollowUps(self.layout, self.ledger, names)
        self.intake = Intake(desk=self.desk, ledger=self.ledger)
        self.clock = 0.0
        self.sweep = Sweep(
            layout=self.layout,
            intake=self.intake,
            follow_ups=self.follow_ups,
            pace=Pace(lambda: self.clock, per_minute, burst),
            now_ms=lambda: 1796040000000,
            moment=lambda: "2026-11-30T12:00:00.000Z",
        )
        for jid, folder in ((MAIN, "main"), (FAMILY, "family"), (WORK, "work")):
            self.register(Group(jid=jid, folder=folder, name=folder.title(), is_main=folder == "main"))

    def register(self, group: Group) -> None:
        self.ledger.put_group(group)
        self.layout.prepare(group.folder, group.folder)

    def again(self) -> Host:
        """The host after it died: the same directories, ledger and daemon, nothing else."""
        self.ledger.close()
        fresh = Host.__new__(Host)
        fresh.__dict__ |= self.__dict__
        fresh.ledger = Ledger(self.layout.data / "container.db", "OFF")
        fresh.intake = Intake(desk=self.desk, ledger=fresh.ledger)
        fresh.follow_ups = FollowUps(self.layout, fresh.ledger, self.names)
        fresh.sweep = replace(self.sweep, intake=fresh.intake, follow_ups=fresh.follow_ups)
        return fresh

    def threads(self, changes: Changes) -> IpcThreads:
        return IpcThreads(self.desk.memory, self.sweep, self.follow_ups, changes)

    def write(self, lane: str, folder: str, document: Any, name: str | None = None) -> Path:
        """As the agent does, which may write what it likes. The file is there at once, whole."""
        file = self.layout.ipc(lane) / folder / (name or self.names.next())
        draft = self.layout.ipc(lane) / "draft"
        draft.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        return draft.rename(file)

    def say(self, lane: str, jid: str, text: str, **more: Any) -> Path:
        return self.write(lane, "messages", {"type": "message", "chatJid": jid, "text": text} | more)

    def ask(self, lane: str, kind: str, **fields: Any) -> Path:
        return self.write(lane, "tasks", {"type": kind} | fields)

    def told(self, lane: str) -> list[str]:
        """The follow-ups that wait for the agent."""
        files = sorted((self.layout.ipc(lane) / "input").glob("*.json"))
        return [json.loads(file.read_text())["text"] for file in files]

    def said(self, agent: str) -> list[str]:
        """The agent's replies by the record."""
        return [one.body for one in self.desk.memory.log if one.author == agent]

    def errands(self) -> list[tuple[str, str, dict[str, Any]]]:
        return [(agent, one.call.op, dict(one.call.args)) for agent, one in self.desk.ran]

    def errors(self) -> list[str]:
        return sorted(path.name for path in self.layout.errors.iterdir())

    def left(self, lane: str) -> list[str]:
        """What lies in the directories that the agent writes and in the claims."""
        places = [self.layout.ipc(lane) / name for name in ("messages", "tasks")]
        places += [self.layout.claims(lane, name) for name in ("messages", "tasks")]
        return [path.name for place in places if place.exists() for path in place.iterdir()]


SCHEDULE = {"prompt": "p", "schedule_type": "cron", "schedule_value": "0 9 * * *"}


def codes(host: Host, lane: str) -> list[str | None]:
    """What became of each file of a lane, by name."""
    return [outcome for _, outcome, _ in host.ledger.outcomes(lane)]


def elapsed(act: Any) -> float:
    """Seconds of processor time: other work on the machine does not count."""
    began = time.process_time()
    act()
    return time.process_time() - began
