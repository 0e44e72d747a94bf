"""The 27 reads, D2: what box.exec can do is this table and nothing else (O-40, O 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from exec_daemon.box import (
    agents,
    counts,
    health,
    host,
    jobs,
    logs,
    machine,
    network,
    processes,
    repos,
    services,
    threads,
    tmux,
)
from exec_daemon.box.arguments import (
    AGENT_NAME,
    JOB_ID,
    PID,
    REPO_KEY,
    THREAD_ID,
    TIMER_ID,
    UNIT,
    WORKER_ID,
    ArgumentType,
)
from exec_daemon.box.reading import Reading


class Source(StrEnum):
    """Where a read looks, which decides what it is called with and who may answer in its place.

    `machine`: `run(context, *argument)`; another box-ctl program may answer. `store`: `run(facts, context,
    *argument)`; only we know what the asker may see. `both`: as `machine`, but only we have both halves.
    """

    MACHINE = "machine"
    STORE = "store"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Action:
    """One read. `argument` is the type of its one argument; None: it takes none."""

    name: str
    source: Source
    argument: ArgumentType | None
    summary: str
    run: Callable[..., Reading]

    @property
    def needs_store(self) -> bool:
        """Does it look into the store?"""
        return self.source is not Source.MACHINE

    @property
    def example(self) -> str:
        """The action as one writes it."""
        return f"{self.name} {self.argument.example}" if self.argument else self.name


_M, _S, _B = Source.MACHINE, Source.STORE, Source.BOTH

# fmt: off
ACTIONS: Final = (
    Action("health", _B, None, "one verdict, ok, warn or crit, with its reasons", health.health),
    Action("info", _M, None, "host, system, kernel, kind of machine, uptime, time, versions", host.info),
    Action("cpu", _M, None, "load, use of each core, pressure", machine.cpu),
    Action("memory", _M, None, "memory, swap, pressure, kills by the kernel, cgroup limit", machine.memory),
    Action("disk", _M, None, "size and use of each mounted file system", machine.disk),
    Action("network", _M, None, "interfaces, addresses, traffic, default routes, resolvers", network.network),
    Action("ports", _M, None, "ports that listen, with their process", network.ports),
    Action("processes", _M, None, "the twenty largest by processor and by memory", processes.processes),
    Action("services", _M, None, "units that failed and units that run", services.services),
    Action("tmux", _M, None, "sessions, windows and panes", tmux.tmux),
    Action("agents", _S, None, "the agents, their role, state and current job", agents.agents),
    Action("workers", _S, None, "swarm workers, their state, pane and heartbeat", agents.workers),
    Action("jobs", _S, None, "open jobs and the last twenty that ended", jobs.jobs),
    Action("timers", _S, None, "timers with their schedule, next and last run", jobs.timers),
    Action("threads", _S, None, "threads that you may see, the last active first", threads.threads),
    Action("queue", _S, None, "what waits, for how long, and dead letters", counts.queue),
    Action("usage", _S, None, "tokens and dollars by agent and model", counts.usage),
    Action("errors", _S, None, "the last fifty errors", counts.errors),
    Action("repos", _M, None, "configured checkouts: branch, head, changes", repos.repos),
    Action("job", _S, JOB_ID, "one job with its events and result", jobs.job),
    Action("thread", _S, THREAD_ID, "one thread with its last fifty messages", threads.thread),
    Action("agent", _S, AGENT_NAME, "one agent: profile, permissions, usage, recent jobs", agents.agent),
    Action("worker", _S, WORKER_ID, "one worker and the last lines on its screen", agents.worker),
    Action("timer", _S, TIMER_ID, "one timer with its definition and last runs", jobs.timer),
    Action("process", _M, PID, "one process: user, directory, use, children, cgroup", processes.process),
    Action("logs", _M, UNIT, "the last 200 lines of a unit or of a log of ours", logs.logs),
    Action("repo", _M, REPO_KEY, "one checkout: status, commits, diffstat, stashes", repos.repo),
)
# fmt: on

BY_NAME: Final[Mapping[str, Action]] = MappingProxyType({action.name: action for action in ACTIONS})
