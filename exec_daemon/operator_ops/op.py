"""An operator's op as an `Op` like our own: the same validation, decision, journal and listing."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from exec_daemon.calls.op import Arguments, Ended, Op, OpContext
from exec_daemon.operator_ops import arguments
from exec_daemon.operator_ops.result import ended
from exec_daemon.operator_ops.spec import OpSpec
from exec_daemon.operator_ops.words import filled
from exec_daemon.programs import (
    ENVIRONMENT,
    Overloaded,
    Profile,
    Program,
    ProgramError,
    Programs,
)
from exec_daemon.programs.bubblewrap import Room
from exec_daemon.programs.find import found
from messaging import CallError, ErrorCode, error, secret_values

log = logging.getLogger(__name__)

# Beyond the program's own limit: for a place to become free, and for what came of it.
_MORE_S: Final = 10.0
# What is kept of a stream that is too long to be shown. All of it is looked through for secrets.
_MOST_WHOLE_BYTES: Final = 4 * 1024 * 1024


def operator_op(spec: OpSpec, profile: Profile, programs: Programs, room: Room | None = None) -> Op:
    """The op, in bubblewrap where there is a `room`.

    What it changes is outside: after a crash nobody knows, and it is never run again.
    """

    secrets = _secrets(spec)

    async def run(args: Arguments, context: OpContext) -> Ended:
        values = arguments.values(spec.arguments, args)
        if isinstance(values, CallError):
            return values
        try:
            program = _boxed(_program(spec, profile, values), room)
            ran = await programs.run(program, _stdin(spec, values))
        except ProgramError as fault:
            return _not_run(spec, fault)
        return await ended(spec, ran, context.keep, secrets)

    return Op(
        name=spec.name,
        summary=spec.summary,
        side_effecting=spec.side_effecting,
        approval=spec.approval,
        definition=repr(spec),
        arguments=arguments.model(spec.arguments),
        example=arguments.example(spec.arguments),
        run=run,
        effects_inside=False,
        time_limit_s=spec.time_limit_s + _MORE_S,
    )


def _program(spec: OpSpec, profile: Profile, values: Mapping[str, str | None]) -> Program:
    return Program(
        argv=filled(spec.argv, values),
        profile=profile,
        environment={**ENVIRONMENT, **spec.environment},
        folder=spec.folder,
        time_limit_s=spec.time_limit_s,
        most_whole_bytes=_MOST_WHOLE_BYTES,
    )


def _boxed(program: Program, room: Room | None) -> Program:
    """Inside the room. Its program is held to the same as one that we start. Raises `ProgramError`."""
    if room is None:
        return program
    with found(program.argv[0]):
        return replace(program, argv=room.argv(program.argv), third=room.filter(), folder="/")


def _stdin(spec: OpSpec, values: Mapping[str, str | None]) -> bytes:
    return "".join(filled([spec.stdin], values)).encode()


def _secrets(spec: OpSpec) -> tuple[str, ...]:
    return secret_values({**os.environ, **spec.environment})


def _not_run(spec: OpSpec, fault: ProgramError) -> CallError:
    """Paths stay in the log (D136)."""
    log.warning("%s has not run: %s", spec.name, fault)
    if isinstance(fault, Overloaded):
        return error(ErrorCode.BUSY, f"There is no room to run {spec.name} now. Try again in a moment.")
    text = f"{spec.name} cannot run on this machine now; the daemon's log says why."
    details: dict[str, Any] = {"reason": type(fault).__name__}
    return error(ErrorCode.UNAVAILABLE, text, details=details)
