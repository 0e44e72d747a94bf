"""One turn of a worker in a container: its prompt in on stdin, its words out in frames (T-15, T-80).

Each turn is a container of its own, which is asked to close as soon as the agent has answered. What is to
last from turn to turn is the group's folder and the agent's session; they lie below the state directory until
retention takes them.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final

from harvester.adapters import Heard, Outcome, Spent, Status, failure
from harvester.container.groups import Source
from harvester.container.layout import Layout
from harvester.container.limits import ContainerLimits
from harvester.container.lock import held
from harvester.container.mounts import Mount, standard
from harvester.container.process import Container, Program, Ran
from harvester.worker_host import launch
from harvester.worker_host.template import WORKER, HostTemplate
from harvester.worker_host.walls import Walls
from messaging.container import ContainerInput, ContainerOutput
from messaging.container.names import CLOSE, INPUT, PATHS
from messaging.ipc import Folder

log = logging.getLogger(__name__)

Row = dict[str, Any]
# Beside them lies `errors`, which is the layout's.
_WORKER: Final = "w-"


def layout_of(home: Path) -> Layout:
    """Where the directories of workers in containers lie."""
    return Layout(home / "workers")


def forget(home: Path, is_known: Callable[[str], bool]) -> None:
    """Remove the places of workers that the daemon remembers no longer."""
    layout = layout_of(home)
    for worker in layout.lanes():
        if worker.startswith(_WORKER) and not is_known(worker):
            layout.remove(worker)
            shutil.rmtree(layout.group(worker), ignore_errors=True)


def name_of(worker: str) -> str:
    """What an engine calls its container."""
    return f"inband-{worker}"


def sweep(row: Row, template: HostTemplate) -> None:
    """Nothing of it runs on with an engine."""
    if template.walls is not None:
        template.walls.sweep(name_of(row["id"]))


@dataclass(slots=True)
class _Words:
    """What the frames of a turn add up to. A turn that goes on past `until` is stopped at its next frame."""

    close: Callable[[], None]
    until: float
    clock: Callable[[], float] = time.monotonic
    stop: Event = field(default_factory=Event)
    said: list[str] = field(default_factory=list)
    session: str | None = None
    spent: Spent = field(default_factory=Spent)

    def take(self, output: ContainerOutput) -> None:
        """Its first answer ends the turn; what comes until it has closed belongs to it."""
        self.session = output.new_session_id or self.session
        if output.result and output.result.strip():
            self.said.append(output.result)
        if (usage := output.usage) is not None:
            self.spent = self.spent.plus(
                Spent(
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    cache_read_tokens=usage.cache_read_input_tokens,
                    cache_write_tokens=usage.cache_creation_input_tokens,
                )
            )
        if self.clock() >= self.until:
            self.stop.set()
        self.close()

    def outcome(self, ran: Ran) -> Outcome:
        """As the run of an agent's command line has one."""
        heard = Heard(session=self.session, text="\n\n".join(self.said) or None, spent=self.spent)
        if ran.error is None:
            return Outcome(status=Status.SUCCESS, heard=heard, exit_code=ran.exit_code)
        return Outcome(status=Status.FAILED, heard=heard, failure=failure(ran.error), exit_code=ran.exit_code)


def contained(row: Row, template: HostTemplate, prompt: str, session: str | None, home: Path) -> Outcome:
    """Run one turn.

    Raises `LaneBusy` while an agent of a host before us still works there, `MountRefused`, `WireError` for an
    allowlist that is none, and `OutsideFolderError`.
    """
    walls, layout, lane = template.walls or Walls(), layout_of(home), row["id"]
    layout.prepare(lane, lane)
    words = _Words(lambda: _close(layout, lane), time.monotonic() + template.time_limit_s)
    with held(layout.lock(lane), lane) as lock:
        walls.sweep(name_of(lane))
        container = Container(
            program=_program(row, template, walls, home, lock),
            limits=_limits(template),
            on_output=words.take,
            close=words.close,
            warn=lambda text: log.warning("worker %s: %s", lane, text),
            stop=words.stop,
        )
        ran = container.run(_start(row, walls, prompt, session))
        walls.sweep(name_of(lane))
    return words.outcome(ran)


def _close(layout: Layout, lane: str) -> None:
    """The session ends here; where the agent has ended already the next one removes this."""
    with Folder.at(layout.ipc(lane)) as ipc, ipc.child(INPUT, create=True) as folder:
        folder.write(CLOSE, b"")


def _program(row: Row, template: HostTemplate, walls: Walls, home: Path, lock: int) -> Program:
    environment = template.variables(row["id"], home)
    argv = walls.around(
        template.argv,
        _places(row, template, layout_of(home)),
        name=name_of(row["id"]),
        variables=(*template.environment, WORKER),
    )
    first = [sys.executable, "-I", "-S", launch.__file__, "child", str(os.getpid())]
    return Program(argv=[*first, *argv], environment=environment, keep=(lock,))


def _places(row: Row, template: HostTemplate, layout: Layout) -> list[Mount]:
    """Those of T-80, the folder that it works in in the group's place."""
    places = standard(layout, row["id"], Source(row["id"], is_main=False))
    if template.cwd is None and template.folder is None:
        return places
    group = Mount(template.place(row["cwd"]), PATHS["group"], writable=True)
    return [group, *(place for place in places if place.target != PATHS["group"])]


def _limits(template: HostTemplate) -> ContainerLimits:
    """An agent that is idle has nothing to wait for: what is said to it next is another turn."""
    return ContainerLimits(idle_s=0.0, hard_s=template.time_limit_s, term_s=template.term_s)


def _start(row: Row, walls: Walls, prompt: str, session: str | None) -> ContainerInput:
    return ContainerInput(
        prompt=prompt,
        group_folder=row["id"],
        chat_jid=row["thread"],
        is_main=False,
        session_id=session,
        assistant_name=row["name"],
        llm=walls.llm,
    )
