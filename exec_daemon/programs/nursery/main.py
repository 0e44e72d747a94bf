"""The nursery's own process: `python -I -S -c … DESCRIPTOR [TREE…]`.

DESCRIPTOR is the control socket's number; each TREE is a way to end trees that is to be avoided. It has no
threads, so that it may fork. When the daemon goes away, so does it, with all spawners.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, NoReturn

from exec_daemon.programs import wire
from exec_daemon.programs.nursery import canary, cgroup, confine, trees
from exec_daemon.programs.nursery.brood import Brood
from exec_daemon.programs.nursery.running import reserve_numbers
from exec_daemon.programs.nursery.spawner import Life, serve

# How long killed processes may take to end when the nursery itself does.
_LAST_S: Final = 5.0
# How often is looked whether those that were killed are gone.
_LOOK_MS: Final = 1


class Nursery:
    """Does what the daemon asks for on `control`, and tells of each spawner that is gone."""

    def __init__(self, control: socket.socket, brood: Brood) -> None:
        self._control = control
        self._inbox = wire.Inbox(control)
        self._brood = brood
        self._lifeline, self._held = os.pipe2(os.O_CLOEXEC)
        self._woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def serve(self) -> None:
        """Until the daemon is gone."""
        poller = select.poll()
        poller.register(self._control.fileno(), select.POLLIN)
        poller.register(self._woken, select.POLLIN)
        while True:
            ready = {each for each, _ in poller.poll(_LOOK_MS if self._brood.has_ending else None)}
            if self._control.fileno() in ready and not self._obey():
                return
            if self._woken in ready:
                os.read(self._woken, 4096)
            for number in self._brood.gone():
                wire.send(self._control, wire.pack({"gone": number}))

    def close(self) -> None:
        """Kills all and waits until nothing is left."""
        until_s = time.monotonic() + _LAST_S
        self._brood.end_all()
        while self._brood.is_busy and time.monotonic() < until_s:
            time.sleep(_LOOK_MS / 1000)
            list(self._brood.gone())

    def _obey(self) -> bool:
        packet, descriptors = self._inbox.receive()
        if not packet:
            return False
        header = wire.unpack(packet)
        if "end" in header:
            self._brood.end(header["end"])
            return True
        with socket.socket(fileno=descriptors[0]) as end:
            self._start(end, header)
        return True

    def _start(self, end: socket.socket, header: Mapping[str, Any]) -> None:
        number: int = header["spawn"]
        try:
            self._brood.start(number, partial(self._live, end, header["profile"]))
        except OSError as failed:
            with suppress(OSError):
                wire.send(end, wire.pack({"refused": f"no spawner: {failed.strerror or failed}"}))
            wire.send(self._control, wire.pack({"gone": number}))

    def _live(self, end: socket.socket, profile: dict[str, Any], group: cgroup.Group | None) -> NoReturn:
        """What a spawner does, in its own process."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _close_all_but({0, 1, 2, end.fileno(), self._lifeline} | ({group.kill} if group else set()))
        reserve_numbers()
        trees.adopt_orphans()
        if group is not None:
            group.enter()
        try:
            layers = confine.confine(profile, _counted(profile, group))
        except (confine.Refused, OSError) as refused:
            wire.send(end, wire.pack({"refused": str(refused)}))
            os._exit(1)
        try:
            wire.send(end, wire.pack({"layers": layers}))
        except OSError:  # whoever wanted it was cancelled meanwhile
            os._exit(1)
        serve(end, Life(self._brood.tree, self._lifeline, group))


def _counted(profile: Mapping[str, Any], group: cgroup.Group | None) -> dict[str, str]:
    """The layer that counts the processes of each program by itself; RLIMIT_NPROC counts those of a user."""
    held = group.limit(profile["processes"]) if group is not None and profile["processes"] else None
    return {} if held is None else {"pids": held}


def _close_all_but(kept: set[int]) -> None:
    first = 0
    for number in [*sorted(kept), os.sysconf("SC_OPEN_MAX")]:
        if first < number:  # an empty range closes all there are: its end is unsigned
            os.closerange(first, number)
        first = number + 1


def _groups() -> str | None:
    """A folder for the cgroups of our spawners; None where we may make none."""
    own = cgroup.own_folder()
    if own is None:
        return None
    try:
        folder = cgroup.claim(own)
    except OSError:
        return None
    cgroup.count_below(own)
    cgroup.count_below(folder)
    return folder


def main() -> None:
    """Runs until the daemon closes its end of the control socket, or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(control.fileno(), False)  # noqa: FBT003 - positional only
    trees.adopt_orphans()
    groups = _groups()
    tree, reasons = canary.choose(groups, sys.argv[2:])
    wire.send(control, wire.pack({"tree": tree, "reasons": reasons}))
    nursery = Nursery(control, Brood(tree, groups))
    try:
        nursery.serve()
    except OSError:  # the daemon went away while it was told something
        pass
    finally:
        nursery.close()
        if groups is not None:
            with suppress(OSError):
                os.rmdir(groups)
