"""Doubles and sandboxes for the reads: a store of a few facts, git repositories, a tmux server."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.box.ports import (
    AgentFacts,
    BoxContext,
    ErrorFacts,
    QueueFacts,
    Scope,
    TimerFacts,
    TimerRun,
    UsageFacts,
    WorkerFacts,
)
from messaging import AuthorKind, EventType, Job, JobEvent, JobState, Message, MessageKind, Thread

NOW = "2026-12-01T09:00:00.000Z"


def logs_of(context: BoxContext) -> Path:
    """Where this context looks for log files."""
    assert context.log_dir
    return context.log_dir


def a_job(job_id: str, owner: str, state: JobState = JobState.SUCCEEDED, **more: Any) -> Job:
    fields: dict[str, Any] = {
        "op": "dm.send",
        "args": {},
        "call_id": job_id,
        "created_at": NOW,
        "side_effecting": True,
    }
    return Job(id=job_id, identity=owner, state=state, **fields | more)


def a_message(thread: str, seq: int, body: str) -> Message:
    return Message(
        id=f"msg-{seq}",
        thread=thread,
        seq=seq,
        position=seq,
        author="heron",
        author_kind=AuthorKind.AGENT,
        kind=MessageKind.TEXT,
        body=body,
        created_at=NOW,
    )


@dataclass
class Facts:
    """`StoreFacts` of two agents, heron and crane. A list set to None is a subsystem that is not there."""

    agent_facts: list[AgentFacts] = field(
        default_factory=lambda: [
            AgentFacts(name="heron", role="agent", thread="heron", permissions=("box.exec", "dm.*")),
            AgentFacts(name="crane", role="agent", thread="crane"),
        ]
    )
    job_facts: list[Job] = field(
        default_factory=lambda: [
            a_job("job-open", "agent/heron", JobState.RUNNING),
            a_job("job-heron", "agent/heron", result={"verdict": "PASS"}),
            a_job("job-crane", "agent/crane", JobState.FAILED, error={"code": "TIMEOUT"}),
        ]
    )
    thread_facts: list[Thread] = field(
        default_factory=lambda: [
            Thread(id=name, title=f"{name}'s", agent=name, created_at=NOW, last_seq=2)
            for name in ("heron", "crane")
        ]
    )
    worker_facts: list[WorkerFacts] | None = field(
        default_factory=lambda: [WorkerFacts(id="w1", state="running", alive=True, agent="heron")]
    )
    timer_facts: list[TimerFacts] | None = field(
        default_factory=lambda: [
            TimerFacts(
                id="t1",
                name="nightly",
                schedule="0 2 * * *",
                tz="Europe/Berlin",
                enabled=True,
                definition={"prompt": "look at the disk"},
                runs=(TimerRun(at=NOW, verdict="PASS"),),
            )
        ]
    )
    usage_facts: list[UsageFacts] | None = None
    queue_facts: QueueFacts = field(default_factory=lambda: QueueFacts(running_jobs=1, oldest_running_s=2.5))

    def agents(self) -> Sequence[AgentFacts]:
        return self.agent_facts

    def agent(self, name: str) -> AgentFacts | None:
        return next((each for each in self.agent_facts if each.name == name), None)

    def workers(self, scope: Scope) -> Sequence[WorkerFacts] | None:
        return self.worker_facts

    def worker(self, worker_id: str, scope: Scope) -> WorkerFacts | None:
        seen = [each for each in self.worker_facts or () if scope.covers_agent(each.agent or "")]
        return next((each for each in seen if each.id == worker_id), None)

    def timers(self, scope: Scope) -> Sequence[TimerFacts] | None:
        return self.timer_facts

    def timer(self, id_or_name: str, scope: Scope) -> TimerFacts | None:
        return next((each for each in self.timer_facts or () if id_or_name in (each.id, each.name)), None)

    def _jobs(self, scope: Scope) -> list[Job]:
        return [job for job in self.job_facts if scope.identity in (None, job.identity)]

    def open_jobs(self, scope: Scope, limit: int) -> Sequence[Job]:
        return [job for job in self._jobs(scope) if job.state is JobState.RUNNING][:limit]

    def ended_jobs(self, scope: Scope, limit: int) -> Sequence[Job]:
        return [job for job in self._jobs(scope) if job.state is not JobState.RUNNING][:limit]

    def job(self, job_id: str, scope: Scope) -> Job | None:
        return next((job for job in self._jobs(scope) if job.id == job_id), None)

    def job_events(self, job_id: str, limit: int) -> Sequence[JobEvent]:
        return [JobEvent(job_id=job_id, seq=0, ts=NOW, type=EventType.ACCEPTED)]

    def threads(self, scope: Scope, limit: int) -> Sequence[Thread]:
        return [each for each in self.thread_facts if scope.covers_agent(each.agent or "")][:limit]

    def thread(self, thread_id: str, scope: Scope) -> Thread | None:
        return next((each for each in self.threads(scope, 100) if each.id == thread_id), None)

    def last_messages(self, thread_id: str, limit: int) -> Sequence[Message]:
        return [a_message(thread_id, seq, f"message {seq}") for seq in (1, 2)]

    def queue(self) -> QueueFacts:
        return self.queue_facts

    def usage(self, scope: Scope) -> Sequence[UsageFacts] | None:
        return self.usage_facts

    def errors(self, scope: Scope, limit: int) -> Sequence[ErrorFacts]:
        return [ErrorFacts(at=NOW, code="TIMEOUT", message="too slow", op="dm.send", job="job-crane")]


@pytest.fixture
def facts() -> Facts:
    return Facts()


@pytest.fixture
def make_job() -> Callable[..., Job]:
    return a_job


@pytest.fixture
def make_message() -> Callable[..., Message]:
    return a_message


@pytest.fixture
def context(facts: Facts, tmp_path: Path) -> BoxContext:
    """A box with a store, a log directory, no tmux and a short sample."""
    logs = tmp_path / "logs"
    logs.mkdir()
    return BoxContext(
        facts=facts,
        log_dir=logs,
        tmux_socket=tmp_path / "no-tmux",
        clock=lambda: 1_790_000_000.0,
        sample_s=0.01,
    )


class Repository:
    """A git repository that the test may write to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        """Runs git as the repository's owner, with none of this machine's configuration."""
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }
        return subprocess.run(
            ["git", "-C", str(self.root), *words], env=environment, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, path: str, text: str, subject: str) -> None:
        """Commits one file."""
        (self.root / path).write_text(text)
        self.git("add", path)
        self.git("commit", "--quiet", "--message", subject)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "checkout")
    made.commit("a.txt", "one\n", "First")
    return made


class TmuxServer:
    """A tmux server of the test's own."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket

    def tmux(self, *words: str) -> str:
        """Runs one tmux command on it."""
        argv = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def tmux_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TmuxServer]:
    # The path of a unix socket has at most 107 characters; pytest's own folder may be longer.
    server = TmuxServer(Path(f"/tmp/box-test-{os.getpid()}-{time.monotonic_ns()}"))
    yield server
    subprocess.run(["tmux", "-S", str(server.socket), "kill-server"], check=False, capture_output=True)
    server.socket.unlink(missing_ok=True)
