"""A spawner: confined once, it runs one program at a time for the daemon at the other end of its socket.

It ends with everything it has started when the daemon or the nursery goes away, and after a run of which
something is left. It never ends a program by itself otherwise: what is left is not told from what is new.
"""

from __future__ import annotations

import errno
import os
import select
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from exec_daemon.programs import wire
from exec_daemon.programs.nursery import trees
from exec_daemon.programs.nursery.cgroup import Group
from exec_daemon.programs.nursery.running import Ended, run
from exec_daemon.programs.order import Answer, order_in


@dataclass(frozen=True, slots=True)
class Life:
    """`lifeline` has an end to read when the nursery is gone. `group` is None without a cgroup."""

    tree: trees.Tree
    lifeline: int
    group: Group | None

    def end(self) -> NoReturn:
        """Ends this process and all that it has started. The nursery sees to it too, if it still can."""
        if self.group is not None:
            self.group.end()
        elif self.tree is trees.Tree.WALK:
            trees.walk()
        os._exit(0)


def serve(end: socket.socket, life: Life) -> NoReturn:
    """Runs what is asked for, one after the other. Whatever happens, nothing of it is left behind."""
    poller = select.poll()
    poller.register(end.fileno(), select.POLLIN)
    poller.register(life.lifeline, select.POLLIN)
    inbox = wire.Inbox(end)
    try:
        while life.lifeline not in dict(poller.poll()):
            packet, descriptors = inbox.receive()
            if not packet or _answer(end, life, packet, descriptors):
                break
    except OSError:  # the daemon went away before it could be told; the nursery may be gone with it
        pass
    finally:
        life.end()


def _answer(end: socket.socket, life: Life, packet: bytes, descriptors: Sequence[int]) -> bool:
    """Runs one program and tells how it went. Is this spawner spent?"""
    try:
        ended = run(order_in(packet, descriptors), (end.fileno(), life.lifeline))
    except OSError as failed:
        wire.send(end, Answer(failed=failed.errno or errno.EIO).pack())
        return trees.has_children()
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    spent = trees.has_children()
    try:
        _tell(end, ended, spent=spent)
    finally:
        ended.out.close()
        ended.err.close()
    return spent


def _tell(end: socket.socket, ended: Ended, *, spent: bool) -> None:
    out, err = ended.out, ended.err
    answer = Answer(0, ended.status, spent, out.printed, err.printed)
    wire.send(end, answer.pack(), [stream.whole for stream in (out, err) if stream.whole is not None])
