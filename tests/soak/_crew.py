"""Workers for a soak: some are always at work, each is told word after word, and in the end to finish."""

from __future__ import annotations

import json
import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from harvester.client import DaemonClient
from messaging import Call, CallRequest, ErrorCode, JobState, MessageKind, Result
from tests.soak._parts import Parts, persist

TELL_S = 300.0
PAUSE_S = 0.1
# What the gate prints: TOML's and the shell's quotes are around it.
YES = '{\\"wakeAgent\\": true}'
# The agent of the template: it thinks for a while, and repeats the words that it hears.
AGENT = """
import re, sys, time
told = sys.stdin.read()
time.sleep(0.4)
print("Heard:", *re.findall(r"word-[0-9]+", told))
if "finish now" in told:
    print("\\n[RESULT] PASS: finished")
"""


def template(home: Path) -> str:
    """`box.toml` with the template, whose agent is written beside it, and a gate for timers."""
    (home / "worker.py").write_text(AGENT)
    argv = json.dumps([sys.executable, "-I", "-S", str(home / "worker.py")])
    return f"""
[gates.open]
argv = ["sh", "-c", "sleep 0.3; echo '{YES}'"]
[swarm]
most_alive = 1000
most_per_hour = 100000
[workers.coder]
argv = {argv}
cwd = {json.dumps(str(home))}
heartbeat_s = 1
most = 1000
"""


@dataclass(slots=True)
class Mate:
    """One worker. `killed`: a process of it was, so that its work may have failed."""

    id: str
    words: list[str] = field(default_factory=list)
    is_over: bool = False
    killed: bool = False


@dataclass(slots=True)
class Crew:
    """`size` workers at a time; `stop` has all of them finish."""

    parts: Parts
    size: int
    chance: random.Random
    mates: list[Mate] = field(default_factory=list)
    failure: Exception | None = None
    _numbers: Iterator[int] = field(default_factory=count)
    _done: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="crew", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        if self._thread:
            self._thread.join()

    def killed(self, worker: str) -> None:
        """To be said before it happens."""
        for mate in self.mates:
            mate.killed |= mate.id == worker

    def _run(self) -> None:
        try:
            while not self._done.wait(PAUSE_S):
                self._round()
            for mate in self._at_work():
                self._tell(mate, "finish now")
        except Exception as failure:  # noqa: BLE001 - the main thread reports it
            self.failure = failure

    def _round(self) -> None:
        """One more worker, or one more word to one of them."""
        if len(self._at_work()) < self.size:
            made = self._asked("swarm.spawn", prompt="Repeat what you hear.", agent="coder")
            assert made.error is None, made.error
            self.mates.append(Mate(made.data["workers"][0]["id"]))
            return
        mate, word = self.chance.choice(self._at_work()), f"word-{next(self._numbers)}"
        if self.chance.random() < 0.03:
            self._tell(mate, "finish now")
            mate.is_over = True
        elif self._tell(mate, f"Here is {word}."):
            mate.words.append(word)

    def _at_work(self) -> list[Mate]:
        return [mate for mate in self.mates if not mate.is_over]

    def _tell(self, mate: Mate, text: str) -> bool:
        """False where nobody hears it any more: right for one that was killed, and for no other."""
        told = self._asked("swarm.send", worker=mate.id, text=text)
        if told.error is None:
            return True
        assert (mate.killed, told.error.code) == (True, ErrorCode.NOT_FOUND), (mate, told.error)
        mate.is_over = True
        return False

    def _asked(self, op: str, **args: Any) -> Result:
        """Under one call id, however often it has to be tried."""
        request = CallRequest(call=Call(op, args, f"crew-{next(self._numbers)}"))
        found: list[Result] = []
        persist(self.parts, lambda client: found.append(client.call(request)), TELL_S)
        return found[-1]


def at_work(parts: Parts) -> bool:
    """Is a worker not over yet? Asked of the file, since the daemon may be away."""
    alive = "SELECT count(*) FROM workers WHERE state NOT IN ('ended', 'failed')"
    return bool(parts.rows(alive)[0][0])


def faults(crew: Crew) -> Iterator[str]:
    """What is not as it has to be."""
    with crew.parts.client() as client:
        for mate in crew.mates:
            yield from (f"{mate.id}: {fault}" for fault in _faults_of(mate, client))
    there = crew.parts.rows("SELECT count(*) FROM workers")[0][0]
    if there != len(crew.mates):
        yield f"{len(crew.mates)} workers were spawned, and there are {there}"


def _faults_of(mate: Mate, client: DaemonClient) -> Iterator[str]:
    row, messages = client.worker(mate.id), client.messages(mate.id, limit=500)
    replies = [one for one in messages if one.author == mate.id]
    told = Counter(word for one in messages if one.kind is MessageKind.DM for word in _words(one.body))
    heard = Counter(word for one in replies for word in _words(one.body))
    if told != Counter(mate.words):
        yield f"it was told {told - Counter(mate.words)} too often, {Counter(mate.words) - told} never"
    if len({one.in_reply_to for one in replies}) != len(replies):
        yield "a turn has two replies"
    if heard - told:
        yield f"it heard {heard - told} too often"
    job = client.job(row["job"])
    if job.state is JobState.SUCCEEDED and row["state"] == "ended":
        if told - heard:
            yield f"it never answered {told - heard}"
    elif not (mate.killed and row["state"] == "failed" and job.state is JobState.FAILED):
        yield f"it is {row['state']} ({row['reason']}), its job {job.state}: {job.error}"


def _words(text: str) -> list[str]:
    return [one.rstrip(".") for one in text.split() if one.startswith("word-")]
