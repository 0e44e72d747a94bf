"""Gates: programs of the operator's that say whether a timer wakes its agent, and with what (T-75 to T-78).

Whatever is not a clear yes wakes nobody, and a gate that did not decide says why.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from exec_daemon.programs import Overloaded, Program, ProgramError, Ran
from messaging import redact
from messaging.container import ScriptResult, script_result

log = logging.getLogger(__name__)

# T-76.
MOST_BYTES: Final = 1 << 20
# It goes into the agent's message, which has to be read in one go (O-85) and still be one message.
_MOST_DATA_BYTES: Final = 64 * 1024

RunProgram = Callable[[Program], Awaitable[Ran]]


async def _nowhere(_program: Program) -> Ran:
    raise ProgramError("this daemon runs no programs")


@dataclass(frozen=True, slots=True)
class Gates:
    """`programs` by the gate's name, and what runs them; where all places are taken, again after `room_s`."""

    programs: Mapping[str, Program] = field(default_factory=lambda: MappingProxyType({}))
    run: RunProgram = _nowhere
    room_s: float = 2.0

    def limit_s(self, name: str) -> float:
        """The longest that it may take to decide."""
        program = self.programs.get(name)
        return program.time_limit_s if program else 0.0

    async def ask(self, name: str) -> ScriptResult:
        """The gate's decision; never raises for what the program does."""
        program = self.programs.get(name)
        if program is None:  # it was taken out of box.toml: nothing passes a gate that is not there
            return _undecided(f"there is no gate {name} in box.toml")
        while True:
            try:
                return decision(program, await self.run(program))
            except Overloaded:
                await asyncio.sleep(self.room_s)
            except ProgramError as fault:
                log.warning("the gate %s has not run: %s", name, fault)
                return _undecided(f"the gate {name} cannot run here; the daemon's log says why")


def decision(program: Program, ran: Ran) -> ScriptResult:
    """What a program that has ended says."""
    if ran.timed_out:
        return _undecided(f"it ran over {program.time_limit_s:g} s")
    if not ran.ok:
        return _undecided(f"it ended with {_how(ran)}")
    if ran.stdout.printed_bytes > MOST_BYTES:
        return _undecided(f"it printed over {MOST_BYTES:,} bytes")
    output = ran.stdout.head if ran.stdout.whole is None else ran.stdout.whole
    return _fitting(script_result(redact(output.decode("utf-8", "replace"))))


def _how(ran: Ran) -> str:
    said = ran.stderr.text.strip().splitlines()
    code = f"signal {ran.signal}" if ran.exit is None else f"exit code {ran.exit}"
    return code + (f": {redact(said[-1])}" if said else "")


def _fitting(said: ScriptResult) -> ScriptResult:
    size = len(json.dumps(said.data, ensure_ascii=False).encode("utf-8", "replace"))
    if said.wake_agent and size > _MOST_DATA_BYTES:
        return _undecided(f"its data has {size:,} bytes, and a message takes {_MOST_DATA_BYTES:,}")
    return said


def _undecided(why: str) -> ScriptResult:
    return ScriptResult(wake_agent=False, reason=why)
