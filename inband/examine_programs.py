"""The doctor's look at programs that the daemon runs: are they there, and what is around them (D044)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from exec_daemon.operator_ops.check import faults, program_faults
from exec_daemon.programs import ProgramError, Programs
from exec_daemon.programs.pool import Standing
from exec_daemon.settings import DaemonSettings


def faulty_ops(settings: DaemonSettings) -> Iterator[str]:
    """Each op of `box.toml` that cannot run, and why."""
    return (str(fault) for fault in faults(settings.ops))


def faulty_gates(settings: DaemonSettings) -> Iterator[str]:
    """Each gate of timers that cannot run, and why."""
    return (str(fault) for spec in settings.gates.values() for fault in program_faults(spec))


def standing(settings: DaemonSettings) -> Standing | str:
    """What holds for a program here, tried; or why none can run."""
    try:
        return asyncio.run(_standing(settings))
    except ProgramError as lacking:
        return str(lacking)


async def _standing(settings: DaemonSettings) -> Standing:
    programs = Programs(1)
    try:
        return await programs.standing(settings.sandbox.profile(settings.home))
    finally:
        await programs.close()
