"""What a job may change in our own store together with its end: a closed set."""

from __future__ import annotations

from dataclasses import dataclass

from exec_daemon.store.timer_values import TimerStep
from exec_daemon.store.values import AppendMessage, KeepArtifact
from exec_daemon.store.worker_values import WorkerStep


@dataclass(frozen=True, slots=True)
class StepTimer:
    """An effect: a timer changes. The job cannot end so when the timer has changed meanwhile."""

    step: TimerStep


@dataclass(frozen=True, slots=True)
class StepWorkers:
    """An effect: workers change. The job cannot end so when one of them has changed meanwhile."""

    step: WorkerStep


Effect = AppendMessage | KeepArtifact | StepTimer | StepWorkers
