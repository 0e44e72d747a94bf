"""A worker as JSON, the same wherever it is shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from exec_daemon.store.worker_values import OVER, Worker, WorkerState
from exec_daemon.worker_template import WorkerRuntime
from messaging import Job, JobState

_INNER: Final = ("version",)


def session_of(worker_id: str) -> str:
    """The name of a worker's tmux session."""
    return f"inband-{worker_id}"


def attach(worker: Worker) -> str | None:
    """The command that brings a person into its session."""
    return f"tmux attach -t {session_of(worker.id)}" if worker.runtime == WorkerRuntime.TMUX else None


def stays(worker: Worker, job: Job | None) -> bool:
    """Is it to run, as far as the store knows? A job that has ended needs no worker any more."""
    wanted = worker.state not in OVER and worker.state is not WorkerState.STOPPING
    return wanted and job is not None and job.state is JobState.RUNNING


def shown_worker(worker: Worker, job: Job | None = None, messages: int = 0) -> dict[str, Any]:
    """`messages` is the number of the last message in its thread."""
    facts = {key: value for key, value in asdict(worker).items() if key not in _INNER}
    return {
        **facts,
        "state": str(worker.state),
        "stays": stays(worker, job),
        "attach": attach(worker),
        "messages": messages,
    }
