"""A day in the life, for real and in a few seconds: a timer wakes an agent, which answers for its job.

    timer ─▶ envelope ─▶ inband-agent in a lane of its own ─▶ box.exec, a DM, swarm.spawn ─▶ results
                                  ▲                                          │
                verdict ends the job ◀── its word ◀── worker ◀── worker host ◀┘

All parts are the ordinary ones; only what the two agents say stands in a script.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any, Final

from harvester import DaemonClient
from harvester.container.groups import Group
from inband.containers import add_group, layout_of
from inband.scratch import Scratch, scratch
from inband.supervise import interpreter
from messaging import Call, CallRequest, JobState, Message, MessageKind

AGENT, COLLEAGUE, TIMER = "heron", "falke", "evening"
TEMPLATE, WORKER = "checker", "disk"
PROMPT: Final = "Is all well here this evening? Look, tell Falke, have the disk seen to, and report."
# Each takes a second or two; a small machine under load takes its time.
_STEP_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What there is so far: three threads, the runs of the timer, the workers, the jobs of both."""

    thread: list[Message] = field(default_factory=list)
    colleague: list[Message] = field(default_factory=list)
    worker_thread: list[Message] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    workers: list[dict[str, Any]] = field(default_factory=list)
    job: dict[str, Any] | None = None

    def said(self, kind: MessageKind, *words: str) -> bool:
        """Is there a message of this kind with these words in the agent's thread?"""
        return any(one.kind is kind and all(word in one.body for word in words) for one in self.thread)

    @property
    def outcome(self) -> str | None:
        """Of the timer's run."""
        return self.runs[0]["outcome"] if self.runs else None

    def to_json(self) -> dict[str, Any]:
        """For `box demo --day --json`."""
        threads = {AGENT: self.thread, COLLEAGUE: self.colleague, WORKER: self.worker_thread}
        shown = {name: [one.to_json() for one in messages] for name, messages in threads.items()}
        return {"threads": shown, "runs": self.runs, "workers": self.workers, "job": self.job}


# What has to come about, in this order, and how it is told.
STEPS: Final[tuple[tuple[str, Callable[[Day], bool]], ...]] = (
    (
        f"the timer fires: its envelope is in {AGENT}'s thread",
        lambda day: day.said(MessageKind.ENVELOPE, TIMER),
    ),
    (
        f"{AGENT} reads it and asks the daemon for box.exec health; the result is in the thread",
        lambda day: day.said(MessageKind.RESULT, "#1 box.exec health · ok"),
    ),
    (
        f"{AGENT} writes to {COLLEAGUE}",
        lambda day: [one.author for one in day.colleague] == [AGENT],
    ),
    (
        f"{AGENT} spawns a worker of the template {TEMPLATE}",
        lambda day: [one["name"] for one in day.workers] == [WORKER],
    ),
    (
        f"the worker has looked at the disk, and reports to {AGENT}",
        lambda day: day.said(MessageKind.DM, "there is room"),
    ),
    (
        "its own verdict has ended the worker; no process of it is left",
        lambda day: day.workers[0]["state"] == "ended" and day.said(MessageKind.NOTICE, WORKER, "PASS"),
    ),
    (
        f"{AGENT}'s verdict ends the timer's job",
        lambda day: day.outcome == "PASS" and day.job is not None and day.job["state"] == JobState.SUCCEEDED,
    ),
)


def run(step: Callable[[str], None]) -> Day:
    """Play it; `step` is told what has happened. Raises `DemoError`."""
    with scratch() as stage:
        step("starting daemon, watcher and the host of workers, each a process of its own")
        _configure(stage)
        with stage.up(), stage.client() as client:
            step(f"registering {AGENT}, who lives in a container's directories, and {COLLEAGUE}")
            client.add_agent(COLLEAGUE)
            group = Group(jid=f"demo:{AGENT}", folder=AGENT, name=AGENT)
            add_group(stage.settings, layout_of(stage.settings, None), group, client)
            with stage.part("containers", "container", "serve", program=_agent()):
                _make_timer(client, step)
                return _followed(stage, client, step)


def _configure(stage: Scratch) -> None:
    """`box.toml` with the one template that may be spawned."""
    argv = [*interpreter(), str(files("inband").joinpath("day_worker.py"))]
    file = stage.settings.file
    file.parent.mkdir(parents=True)
    rows = {"argv": argv, "cwd": str(stage.home), "heartbeat_s": 1}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in rows.items())
    file.write_text(f"[workers.{TEMPLATE}]\n{text}", encoding="utf-8")


def _agent() -> list[str]:
    script = str(files("inband").joinpath("day_script.json"))
    return [*interpreter(), "-m", "inband_agent", "--script", script]


def _make_timer(client: DaemonClient, step: Callable[[str], None]) -> None:
    args = {"schedule": "1s", "max_runs": 1, "name": TIMER, "target": AGENT, "prompt": PROMPT}
    made = client.call(CallRequest(call=Call("cron.create", args))).data
    step(f"timer {TIMER} is made: it wakes {AGENT} once, at {made['next'][0]}")


def _followed(stage: Scratch, client: DaemonClient, step: Callable[[str], None]) -> Day:
    """Step after step; the last look has them all."""
    day = Day()

    def has(holds: Callable[[Day], bool]) -> bool:
        nonlocal day
        day = _look(client)
        return holds(day)

    for what, holds in STEPS:
        stage.wait_until(partial(has, holds), _STEP_S, what)
        step(what)
    return day


def _look(client: DaemonClient) -> Day:
    workers = client.workers(everything=True).workers
    runs = client.timer_runs(TIMER)
    return Day(
        thread=client.messages(AGENT),
        colleague=client.messages(COLLEAGUE),
        worker_thread=client.messages(workers[0]["thread"]) if workers else [],
        runs=runs,
        workers=workers,
        job=client.job(runs[0]["job"]).to_json() if runs else None,
    )
