"""What the daemon does about other programs when it starts: ops that run some, and what keeps them in check.

What the kernel lacks is logged, and `box doctor` says it; what the operator demands and is not there keeps
the daemon from starting (D044).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

from exec_daemon.box.ports import OtherBoxCtl
from exec_daemon.calls.registry import Registry, registry
from exec_daemon.errors import SandboxLacking
from exec_daemon.gate_spec import GateSpec
from exec_daemon.home import Home
from exec_daemon.operator_ops.keys import BUBBLEWRAP
from exec_daemon.operator_ops.op import operator_op
from exec_daemon.operator_ops.spec import OpSpec
from exec_daemon.ops import ALLOWLIST
from exec_daemon.program_spec import ProgramSpec
from exec_daemon.programs import ENVIRONMENT, Network, Profile, Program, ProgramError, Programs, Ran
from exec_daemon.programs.bubblewrap import Room
from exec_daemon.settings import DaemonSettings
from exec_daemon.timers.gates import MOST_BYTES, Gates

log = logging.getLogger(__name__)


def profile_of(spec: ProgramSpec, settings: DaemonSettings, home: Home) -> Profile:
    """What the program of an op or a gate may do."""
    in_bubblewrap = isinstance(spec, OpSpec) and spec.sandbox == BUBBLEWRAP
    return settings.sandbox.profile(
        home.root,
        readable=(*spec.readable, *_own_paths(spec)),
        writable=spec.writable,
        network=spec.network,
        user=spec.user,
        confined=spec.confined and not in_bubblewrap,
    )


def room_of(spec: OpSpec, settings: DaemonSettings, home: Home) -> Room | None:
    """What its program sees in bubblewrap; None for one that our own layers are around."""
    if spec.sandbox != BUBBLEWRAP:
        return None
    return Room(
        readable=(*settings.sandbox.readable, *spec.readable, *_own_paths(spec)),
        writable=(*settings.sandbox.writable, *spec.writable),
        hidden=(str(home.root),),
        network=Network(spec.network or settings.sandbox.network),
        folder=spec.folder,
    )


def _own_paths(spec: ProgramSpec) -> Iterator[str]:
    """What it cannot do without: its program, its folder, and where the paths of an op lead."""
    if spec.argv[0].startswith("/"):
        yield spec.argv[0]
    if spec.folder != "/":
        yield spec.folder
    arguments = spec.arguments if isinstance(spec, OpSpec) else ()
    yield from (argument.below for argument in arguments if argument.below)


def gates_of(settings: DaemonSettings, home: Home, programs: Programs) -> Gates:
    """The gates of timers (T-76, T-78)."""
    known = {name: _gate(spec, settings, home) for name, spec in settings.gates.items()}
    return Gates(known, programs.run)


def _gate(spec: GateSpec, settings: DaemonSettings, home: Home) -> Program:
    return Program(
        argv=spec.argv,
        profile=profile_of(spec, settings, home),
        environment={**ENVIRONMENT, **spec.environment},
        folder=spec.folder,
        time_limit_s=spec.time_limit_s,
        most_whole_bytes=MOST_BYTES,
    )


def all_ops(settings: DaemonSettings, home: Home, programs: Programs) -> Registry:
    """Our own ops, then the operator's in the order of the file."""
    theirs = (
        operator_op(spec, profile_of(spec, settings, home), programs, room_of(spec, settings, home))
        for spec in settings.ops
    )
    return registry((*ALLOWLIST, *theirs))


def listed(specs: tuple[OpSpec, ...]) -> Registry:
    """The same as `all_ops` gives, to be looked at and not to be run."""
    return registry((*ALLOWLIST, *(operator_op(spec, Profile(), Programs()) for spec in specs)))


def other_box_ctl(settings: DaemonSettings, home: Home, programs: Programs) -> OtherBoxCtl | None:
    """The program that answers the reads in place of ours, to be asked from threads."""
    if settings.box_ctl is None:
        return None
    loop, profile = asyncio.get_running_loop(), settings.sandbox.reading(home.root)

    def run(argv: tuple[str, ...], limit_s: float) -> Ran:
        program = Program(argv=argv, profile=profile, time_limit_s=limit_s)
        return asyncio.run_coroutine_threadsafe(programs.run(program), loop).result()

    return OtherBoxCtl(settings.box_ctl, run)


async def take_stock(settings: DaemonSettings, home: Home, programs: Programs) -> None:
    """Tries what keeps programs in check, where there will be any. Raises `SandboxLacking`."""
    specs: tuple[ProgramSpec, ...] = (*settings.ops, *settings.gates.values())
    profiles = {profile_of(spec, settings, home): spec.name for spec in specs}
    if settings.box_ctl is not None:
        profiles[settings.sandbox.reading(home.root)] = "the configured box-ctl"
    if settings.sandbox.require:
        profiles.setdefault(settings.sandbox.profile(home.root), "programs")
    for profile, name in profiles.items():
        try:
            standing = await programs.standing(profile)
        except ProgramError as lacking:
            text = f"{name} cannot run as box.toml demands: {lacking}; `box doctor` says more"
            raise SandboxLacking(text, name) from None
        log.info("programs: %s: %s", name, standing)
        for lack in standing.lacks:
            log.warning("programs: %s: %s", name, lack)
