"""Does a way to end a tree work here? Tried at start on a tree that does all it can to survive."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NoReturn

from exec_daemon.programs.nursery import trees
from exec_daemon.programs.nursery.brood import Brood
from exec_daemon.programs.nursery.cgroup import Group
from exec_daemon.programs.nursery.spawner import Life
from exec_daemon.programs.nursery.trees import Tree

_CANARY: Final = 0
_WITHIN_S: Final = 2.0


def choose(groups: str | None, avoid: Sequence[str] = ()) -> tuple[Tree, list[str]]:
    """The best way that works, and why those before it do not."""
    reasons: list[str] = []
    for tree in Tree:
        why_not = "to be avoided" if tree in avoid else _why_not(tree, groups)
        if why_not is None:
            return tree, reasons
        reasons.append(f"{tree}: {why_not}")
    return Tree.WALK, reasons


def _why_not(tree: Tree, groups: str | None) -> str | None:
    if tree is Tree.CGROUP and groups is None:
        return "no cgroup of version 2 that we may write to"
    brood = Brood(tree, groups)
    alive, held = os.pipe2(os.O_CLOEXEC)
    try:
        brood.start(_CANARY, partial(_hardy, tree, held))
    except OSError as failed:
        return failed.strerror or str(failed)
    finally:
        os.close(held)
    return None if _ends(brood, alive) else "a canary survived"


def _hardy(tree: Tree, held: int, group: Group | None) -> NoReturn:
    """Leaves a process behind that has its own session, ignores TERM and holds the pipe."""
    trees.adopt_orphans()
    if group is not None:
        group.enter()
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.write(tell, b"!")
            time.sleep(60)
        os._exit(0)
    os.read(ready, 1)
    Life(tree, held, group).end()


def _ends(brood: Brood, alive: int) -> bool:
    """Does the last one that holds the pipe end, and does the brood know?"""
    until_s = time.monotonic() + _WITHIN_S
    poller = select.poll()
    poller.register(alive, select.POLLIN)
    gone: list[int] = []
    while not (gone and poller.poll(0)) and time.monotonic() < until_s:
        gone += list(_after_a_moment(brood))
    ended = bool(gone and poller.poll(0))
    os.close(alive)
    return ended


def _after_a_moment(brood: Brood) -> Iterator[int]:
    time.sleep(0.001)
    return brood.gone()
