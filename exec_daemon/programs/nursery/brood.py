"""The spawners of a nursery: how one is started and ended, and when nothing of it is left."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from exec_daemon.programs.nursery import cgroup, trees
from exec_daemon.programs.nursery.trees import Tree

# What a new spawner does; it never returns.
Body = Callable[[cgroup.Group | None], NoReturn]


@dataclass(frozen=True, slots=True)
class Spawner:
    """`pid` is a child of the nursery until it is reaped."""

    pid: int
    group: cgroup.Group | None

    def end(self) -> None:
        """Kills it with all that it has started, as far as one step can. For one that is not reaped."""
        self.end_group()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def end_group(self) -> None:
        """Kills what it has left; once it is reaped, its number may be somebody else's."""
        if self.group is not None:
            self.group.end()


class Brood:
    """All spawners, by the numbers that the daemon gives them."""

    def __init__(self, tree: Tree, groups: str | None) -> None:
        self.tree = tree
        self._groups = groups
        self._living: dict[int, Spawner] = {}
        self._ending: dict[int, Spawner] = {}

    @property
    def has_ending(self) -> bool:
        """Is there one of which something may be left?"""
        return bool(self._ending)

    @property
    def is_busy(self) -> bool:
        """Is there any?"""
        return bool(self._living or self._ending)

    def start(self, number: int, body: Body) -> None:
        """Raises OSError."""
        group = cgroup.make(f"{self._groups}/{number}") if self.tree is Tree.CGROUP else None
        start = _in_namespace if self.tree is Tree.PID_NAMESPACE else _plain
        self._living[number] = Spawner(start(lambda: body(group)), group)

    def end(self, number: int) -> None:
        """Kills spawner `number`; `gone` tells when nothing is left of it."""
        if number in self._living:
            self._living[number].end()

    def end_all(self) -> None:
        """Kills all of them."""
        for spawner in self._living.values():
            spawner.end()
        for spawner in self._ending.values():
            spawner.end_group()

    def gone(self) -> Iterator[int]:
        """Reaps what has ended; the numbers of those of which nothing is left."""
        self._reap()
        if self._ending and self.tree is Tree.WALK:
            strays = trees.kill_children({spawner.pid for spawner in self._living.values()})
            if strays:
                return
        for number, spawner in list(self._ending.items()):
            if spawner.group is None or self._emptied(spawner.group):
                del self._ending[number]
                yield number

    @staticmethod
    def _emptied(group: cgroup.Group) -> bool:
        group.end()
        return group.is_empty()

    def _reap(self) -> None:
        numbers = {spawner.pid: number for number, spawner in self._living.items()}
        with suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                if pid in numbers:
                    number = numbers[pid]
                    self._ending[number] = self._living.pop(number)


def _plain(body: Callable[[], NoReturn]) -> int:
    pid = os.fork()
    if pid == 0:
        _never_return(body)
    return pid


def _in_namespace(body: Callable[[], NoReturn]) -> int:
    """By a process in between: it ends at once, and the first process of its namespace becomes our child."""
    told, tell = os.pipe2(os.O_CLOEXEC)
    between = os.fork()
    if between == 0:
        _never_return(lambda: _between(tell, body))
    os.close(tell)
    number = os.read(told, 16)
    os.close(told)
    os.waitpid(between, 0)
    if not number:
        raise PermissionError("the kernel gives no PID namespace")
    return int(number)


def _between(tell: int, body: Callable[[], NoReturn]) -> None:
    try:
        trees.enter_namespace()
    except OSError:  # no number is told, and that is the answer
        os._exit(1)
    stands, ready = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(tell)
        try:
            trees.show_own_processes()
        except OSError:
            os._exit(1)
        os.write(ready, b"!")
        body()
    os.close(ready)
    if os.read(stands, 1):
        os.write(tell, b"%d" % pid)


def _never_return(body: Callable[[], object]) -> NoReturn:
    """A child that raises must not go on where its parent is."""
    try:
        body()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - told, and then it ends here
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)
