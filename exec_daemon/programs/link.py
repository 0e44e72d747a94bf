"""The daemon's ends of the sockets to the nursery and to each spawner. Lives on the event loop."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from exec_daemon.deadline import Deadline
from exec_daemon.programs import wire
from exec_daemon.programs.errors import Overloaded, ProgramError, Unconfined
from exec_daemon.programs.program import ENVIRONMENT, Profile

# The folder that holds this package. Appended, so that nothing in it hides the standard library.
_ROOT: Final = str(Path(__file__).resolve().parents[2])
_START: Final = (
    f"import sys; sys.path.append({_ROOT!r}); from exec_daemon.programs.nursery.main import main; main()"
)
# A nursery starts in a few hundredths of a second; a spawner that is to be gone in thousandths.
_START_S: Final = 20.0
_GONE_S: Final = 5.0

Packet = tuple[bytes, list[int]]


class _End:
    """One end of a pair: the next packet is given to who waits for it, or kept."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)  # noqa: FBT003 - positional only
        self.socket = end
        self._inbox = wire.Inbox(end)
        self._loop = asyncio.get_running_loop()
        self._packets: deque[Packet] = deque()
        self._waiting: asyncio.Future[Packet] | None = None
        self._deadline = Deadline(self._loop, self._late)
        self._loop.add_reader(end.fileno(), self._read)

    async def next(self, at_most_s: float | None = None) -> Packet:
        """b"" at the end. One may wait at a time. Raises TimeoutError."""
        if self._packets:
            return self._packets.popleft()
        self._waiting = self._loop.create_future()
        self._deadline.within(at_most_s)
        return await self._waiting

    def close(self) -> None:
        """Closes it; nobody may wait for a packet any more."""
        self._deadline.stop()
        if self.socket.fileno() >= 0:
            self._loop.remove_reader(self.socket.fileno())
            self.socket.close()

    def _read(self) -> None:
        try:
            packet = self._inbox.receive()
        except BlockingIOError:
            return
        except OSError:
            packet = (b"", [])
        if not packet[0]:
            self._loop.remove_reader(self.socket.fileno())
        if self._waiting is None or self._waiting.done():
            self._packets.append(packet)
        else:
            self._waiting.set_result(packet)

    def _late(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(TimeoutError())


class SpawnerLink:
    """One spawner. `runs` counts what it has run; `layers` is what is around it."""

    def __init__(self, number: int, profile: Profile, end: socket.socket) -> None:
        self.number = number
        self.profile = profile
        self.runs = 0
        self.layers: dict[str, str] = {}
        self._end = _End(end)

    async def introduction(self) -> None:
        """Waits until it is confined. Raises `Unconfined` or `Overloaded`."""
        packet, _ = await self._end.next()
        header: dict[str, Any] = {"refused": "the spawner ended at once"}
        if packet:
            header = wire.unpack(packet)
        if "refused" in header:
            raise Unconfined(header["refused"])
        self.layers = header["layers"]

    async def ask(self, packet: bytes, descriptors: Sequence[int], at_most_s: float) -> Packet:
        """Its answer; an empty packet where it has ended.

        Raises TimeoutError where there is none in time, another OSError where it cannot be asked.
        """
        self.runs += 1
        wire.send(self._end.socket, packet, descriptors)
        return await self._end.next(at_most_s)

    @property
    def is_closed(self) -> bool:
        return self._end.socket.fileno() < 0

    def close(self) -> None:
        """A spawner nobody is connected to ends with everything it has started."""
        self._end.close()


class NurseryLink:
    """One nursery process. `tree` says how it ends trees, `reasons` why not in a better way."""

    def __init__(self, process: subprocess.Popen[bytes], end: socket.socket) -> None:
        self._process = process
        self._end = _End(end)
        self._numbers = 0
        self._going: dict[int, asyncio.Future[None]] = {}
        self._listener: asyncio.Task[None] | None = None
        self.tree = ""
        self.reasons: tuple[str, ...] = ()

    @property
    def has_ended(self) -> bool:
        return self._listener is not None and self._listener.done()

    async def introduction(self) -> None:
        """Waits until it has tried what the kernel has. Raises `ProgramError`."""
        try:
            packet, _ = await self._end.next(_START_S)
        except TimeoutError:
            packet = b""
        if not packet:
            raise ProgramError("the process that starts programs has ended at once")
        header = wire.unpack(packet)
        self.tree, self.reasons = header["tree"], tuple(header["reasons"])
        self._listener = asyncio.create_task(self._listen())

    async def spawner(self, profile: Profile) -> SpawnerLink:
        """A new one. Raises `Unconfined`, or `Overloaded` where the machine has no room for it."""
        self._numbers += 1
        number = self._numbers
        try:
            ours, theirs = wire.pair()
            with theirs:
                header = {"spawn": number, "profile": profile.to_json()}
                wire.send(self._end.socket, wire.pack(header), [theirs.fileno()])
        except OSError as failed:
            raise Overloaded(f"no spawner: {failed.strerror}") from None
        self._going[number] = asyncio.get_running_loop().create_future()
        link = SpawnerLink(number, profile, ours)
        try:
            await link.introduction()
        except BaseException:
            link.close()
            raise
        return link

    async def gone(self, link: SpawnerLink, *, kill: bool) -> bool:
        """Waits until nothing is left of a spawner; with `kill` it is ended first. False: not in time."""
        going = self._going.get(link.number)
        if going is None:
            return True
        if kill:
            with suppress(OSError):
                wire.send(self._end.socket, wire.pack({"end": link.number}))
        await asyncio.wait({going}, timeout=_GONE_S)
        return going.done()

    async def close(self) -> None:
        """Ends it with all that it has started."""
        self._end.close()
        if self._listener is not None:
            self._listener.cancel()
        await asyncio.to_thread(self._process.wait)

    async def _listen(self) -> None:
        while True:
            packet, _ = await self._end.next()
            if not packet:
                break
            header = wire.unpack(packet)
            self._gone(header["gone"])
        for number in list(self._going):
            self._gone(number)
        self._process.poll()

    def _gone(self, number: int) -> None:
        going: asyncio.Future[Any] | None = self._going.pop(number, None)
        if going is not None and not going.done():
            going.set_result(None)


async def start_nursery(avoid: Sequence[str] = ()) -> NurseryLink:
    """A nursery that is ready, and ends trees in no way that is to be avoided. Raises `ProgramError`."""
    ours, theirs = wire.pair()
    with theirs:
        process = subprocess.Popen(  # noqa: ASYNC220 - returns as soon as the child is there
            [sys.executable, "-I", "-S", "-c", _START, str(theirs.fileno()), *avoid],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=dict(ENVIRONMENT),
            cwd="/",
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    link = NurseryLink(process, ours)
    try:
        await link.introduction()
    except BaseException:
        await link.close()
        raise
    return link


def read_descriptor(descriptor: int) -> bytes:
    """All of a file that was passed to us; closes it."""
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read()
