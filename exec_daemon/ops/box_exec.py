"""`box.exec`: one of the 27 reads of the machine; nothing here changes anything (O-40)."""

from __future__ import annotations

from pydantic import Field

from exec_daemon.op import Arguments, Ended, Op, OpContext, Success
from messaging import CallError
from patterns import vocabulary

_ACTIONS = tuple((action.name, action.argument) for action in vocabulary().box_actions.values())


class Args(Arguments):
    """`actions` of the op's entry says which action takes which argument."""

    action: str = Field(min_length=1, max_length=64, description="one of the 27 actions")
    arg: str | int | None = Field(default=None, description="the action's argument, where it takes one")


async def run(args: Args, context: OpContext) -> Ended:
    """Reads, within the scope of the asker (O-46)."""
    reading = await context.box(args.action, args.arg, context.identity)
    return reading if isinstance(reading, CallError) else Success(reading)


OP = Op(
    name="box.exec",
    summary="Look at the machine: one of 27 read-only actions, such as health, disk, jobs or logs UNIT.",
    side_effecting=False,
    arguments=Args,
    example={"action": "disk"},
    run=run,
    actions=_ACTIONS,
)
