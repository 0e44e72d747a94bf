"""What the daemon knows of `[workers."coder"]` in `box.toml`; how to start one is the host's business."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WorkerRuntime(StrEnum):
    """`child`: an agent's command line, run once for each message. `tmux`: a session to attach to.

    `container`: a program of the container protocol, run once for each message, with walls around it.
    """

    CHILD = "child"
    TMUX = "tmux"
    CONTAINER = "container"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTemplate:
    """`in_folder`: may a spawn name a folder to work in, beneath that of the template?

    A worker that was not seen for three times `heartbeat_s` counts as dead. It has `time_limit_s` in all, and
    there are at most `most` of the template at a time.
    """

    name: str
    runtime: WorkerRuntime = WorkerRuntime.CHILD
    in_folder: bool = False
    heartbeat_s: int = 15
    time_limit_s: int = 3600
    most: int = 8
