"""`Programs`: runs programs, each in a spawner that has the program's profile around it."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from exec_daemon.programs.errors import NO_ROOM, Overloaded, Unconfined, Unusable
from exec_daemon.programs.find import Found, found
from exec_daemon.programs.link import NurseryLink, SpawnerLink, read_descriptor, start_nursery
from exec_daemon.programs.nursery.output import HALF_BYTES
from exec_daemon.programs.order import Answer, Printed, answer_in, order
from exec_daemon.programs.program import Capped, Profile, Program, Ran
from exec_daemon.programs.turns import Turns

log = logging.getLogger(__name__)

# What execve(2) says of a file that is no program, and of arguments that are too many.
_NO_PROGRAM: Final = {
    errno.ENOEXEC: "is no program for this machine",
    errno.EACCES: "may not be run from inside its sandbox",
    errno.EPERM: "may not be run from inside its sandbox",
    errno.ENOENT: "has no interpreter here, or its working folder is missing",
    errno.ENOTDIR: "has no working folder",
    errno.E2BIG: "cannot take so much",
}
# A spawner's own CPU time counts towards the limit of what it starts, so it does not stay for ever.
_MOST_RUNS: Final = 1000
# A spawner answers at the time limit; one that does not within this is stuck, and killed.
_LATE_S: Final = 5.0


# What follows where a layer is missing, and the way out.
_LACKING: Final = {
    "landlock": "no Landlock, so programs may read and write what their user may: it needs Linux 5.13 with "
    "`landlock` in the kernel parameter lsm=",
    "seccomp": "no seccomp filter, so programs may make any system call: it needs CONFIG_SECCOMP_FILTER",
}
_LOOSE: Final = "not confined, as its settings say"


@dataclass(frozen=True, slots=True)
class Standing:
    """How programs are kept in check on this machine, for the log and the doctor."""

    tree: str
    reasons: tuple[str, ...]
    layers: dict[str, str]
    confined: bool

    def __str__(self) -> str:
        return ", ".join(
            (f"trees end by {self.tree}", *(f"{name}: {how}" for name, how in self.layers.items()))
        )

    def to_json(self) -> dict[str, Any]:
        """`{trees, layers, lacks}`."""
        return {"trees": self.tree, "layers": self.layers, "lacks": list(self.lacks)}

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is missing around programs, in words for the operator."""
        lacking = (text for layer, text in _LACKING.items() if layer not in self.layers)
        return (*self.reasons, *(lacking if self.confined else (_LOOSE,)))


class Programs:
    """At most `places` programs at a time; others wait. Lives on one event loop, and starts at first use."""

    def __init__(self, places: int = 16, avoid: tuple[str, ...] = (), late_s: float = _LATE_S) -> None:
        """`avoid` names ways to end trees that are not to be used, for a kernel where one is at fault."""
        self._avoid = avoid
        self._late_s = late_s
        self._places = asyncio.Semaphore(places)
        self._turns = Turns()
        self._most_idle = places
        self._idle: dict[Profile, list[SpawnerLink]] = {}
        self._nursery: NurseryLink | None = None
        self._starting = asyncio.Lock()

    async def run(self, program: Program, stdin: bytes = b"") -> Ran:
        """Runs it to its end. Cancelled, it kills whatever the program has started, and then ends.

        Raises `ProgramError` where it has not run.
        """
        with found(program.argv[0]) as file:
            packet = _packet(program, file, stdin)
            async with self._places:
                turn = await self._turns.next()
                try:
                    return await self._run(program, file, packet)
                finally:
                    turn.end()

    async def standing(self, profile: Profile) -> Standing:
        """What holds for a program with `profile`. Raises `ProgramError`."""
        async with self._places:
            nursery = await self._started()
            spawner = await self._spawner(profile)
            self._keep(spawner)
            return Standing(nursery.tree, nursery.reasons, spawner.layers, profile.confined)

    async def close(self) -> None:
        """Kills what runs, and leaves no process."""
        if self._nursery is not None:
            for spawner in self._all_idle():
                spawner.close()
            self._idle.clear()
            nursery, self._nursery = self._nursery, None
            await nursery.close()

    async def _started(self) -> NurseryLink:
        """The nursery; a new one where there is none any more."""
        if self._nursery is not None and not self._nursery.has_ended:
            return self._nursery
        async with self._starting:
            if self._nursery is not None and self._nursery.has_ended:
                log.error("the process that starts programs has died, and is started again")
                await self.close()
            if self._nursery is None:
                self._nursery = await start_nursery(self._avoid)
            return self._nursery

    async def _spawner(self, profile: Profile) -> SpawnerLink:
        nursery = await self._started()
        if "cgroup" in profile.require and nursery.tree != "cgroup":
            raise Unconfined(f"a cgroup is demanded, and there is none: {'; '.join(nursery.reasons)}")
        waiting = self._idle.get(profile)
        if waiting:
            return waiting.pop()
        if sum(map(len, self._idle.values())) >= self._most_idle:
            next(self._all_idle()).close()
            self._forget_closed()
        return await nursery.spawner(profile)

    def _all_idle(self) -> Iterator[SpawnerLink]:
        return (spawner for spawners in list(self._idle.values()) for spawner in spawners)

    def _forget_closed(self) -> None:
        self._idle = {
            profile: [spawner for spawner in spawners if not spawner.is_closed]
            for profile, spawners in self._idle.items()
        }

    def _keep(self, spawner: SpawnerLink) -> None:
        if spawner.runs >= _MOST_RUNS:
            spawner.close()
        else:
            self._idle.setdefault(spawner.profile, []).append(spawner)

    async def _run(self, program: Program, file: Found, packet: bytes) -> Ran:
        began_s = time.monotonic()
        spawner = await self._spawner(program.profile)
        try:
            answer, whole = await self._asked(spawner, program, file, packet)
        except BaseException:
            await self._end(spawner, kill=True)
            raise
        if answer.spent:
            await self._end(spawner, kill=True)
        else:
            self._keep(spawner)
        return _ran(answer, whole, (time.monotonic() - began_s) * 1000)

    async def _end(self, spawner: SpawnerLink, *, kill: bool) -> None:
        """Waits until nothing is left, also when we are cancelled meanwhile."""
        if self._nursery is None:  # it took all with it
            spawner.close()
            return
        ending = asyncio.ensure_future(self._nursery.gone(spawner, kill=kill))
        try:
            if not await asyncio.shield(ending):
                log.error("processes of a program could not be killed in time; spawner %d", spawner.number)
        finally:
            spawner.close()

    async def _asked(
        self, spawner: SpawnerLink, program: Program, file: Found, packet: bytes
    ) -> tuple[Answer, list[bytes]]:
        """The answer, and the whole of each stream that was cut."""
        try:
            at_most_s = program.time_limit_s + self._late_s
            said, passed = await spawner.ask(packet, [] if file.script else [file.descriptor], at_most_s)
        except TimeoutError:  # it may well have run, so it is told like any that had to be stopped
            log.error("the process that runs %s does not answer", program.argv[0])  # noqa: TRY400 - no fault of ours
            return Answer(spent=True), []
        except OSError as failed:  # a packet that is too long, or a spawner that is gone
            number = errno.E2BIG if failed.errno == errno.EMSGSIZE else errno.EAGAIN
            raise _failure(program.argv[0], number) from None
        if not said:
            return Answer(status=signal.SIGKILL, spent=True), []
        answer = answer_in(said)
        if answer.failed:
            raise _failure(program.argv[0], answer.failed)
        return answer, [read_descriptor(descriptor) for descriptor in passed]


def _failure(name: str, number: int) -> Unusable | Overloaded:
    if number in NO_ROOM:
        return Overloaded(f"no process for {name}: {os.strerror(number)}")
    return Unusable(name, _NO_PROGRAM.get(number, f"cannot be run: {os.strerror(number)}"))


def _packet(program: Program, file: Found, stdin: bytes) -> bytes:
    try:
        return order(
            path=file.script or "",
            folder=program.folder,
            argv=program.argv,
            environment=program.environment,
            stdin=stdin,
            third=program.third,
            limit_s=program.time_limit_s,
            most_whole_bytes=program.most_whole_bytes,
        )
    except ValueError:
        raise Unusable(program.argv[0], "cannot take a word with a NUL in it") from None


def _capped(printed: Printed, wholes: Iterator[bytes]) -> Capped:
    if not printed.cut:
        return Capped(printed.shown)
    whole = next(wholes)
    head = whole[:HALF_BYTES]
    return Capped(head, printed.shown, printed.size - len(head) - len(printed.shown), whole)


def _ran(answer: Answer, wholes: Iterable[bytes], duration_ms: float) -> Ran:
    status, cut = answer.status, iter(wholes)
    return Ran(
        exit=os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
        signal=os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
        timed_out=status is None,
        stdout=_capped(answer.out, cut),
        stderr=_capped(answer.err, cut),
        duration_ms=round(duration_ms, 3),
        left_over=answer.spent and status is not None,
    )
