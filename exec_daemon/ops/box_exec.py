"""`box.exec`: one of the 27 reads of the machine; nothing here changes anything (O-40)."""

from __future__ import annotations

from pydantic import Field

from exec_daemon.box.arguments import check as check_argument
from exec_daemon.box.refusals import unknown_action
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.store.values import KeepArtifact
from messaging import CallError, artifact_in
from patterns import vocabulary

_ACTIONS = tuple((action.name, action.argument) for action in vocabulary().box_actions.values())


class Args(Arguments):
    """`actions` of the op's entry says which action takes which argument."""

    # The schema tells the 27, `check` refuses others: UNKNOWN_ACTION says more than a schema error would.
    action: str = Field(
        description="one of the 27 actions", json_schema_extra={"enum": [name for name, _ in _ACTIONS]}
    )
    arg: str | int | None = Field(default=None, description="the action's argument, where it takes one")


def check(args: Args) -> CallError | None:
    """UNKNOWN_ACTION with the 27, or INVALID_ARGS, before anything is touched (O-41, O-42, O-43)."""
    from exec_daemon.box import BY_NAME, BoxError  # loads all reads; listing the ops needs none

    chosen = BY_NAME.get(args.action)
    if chosen is None:
        return unknown_action(args.action, BY_NAME).error
    try:
        check_argument(chosen.name, chosen.argument, args.arg)
    except BoxError as refused:
        return refused.error
    return None


async def run(args: Args, context: OpContext) -> Ended:
    """Reads, within the scope of the asker (O-46). The whole of what was cut belongs to this job."""
    reading = await context.box(args.action, args.arg, context.identity)
    if isinstance(reading, CallError):
        return reading
    whole = artifact_in(reading)
    return Success(reading, () if whole is None else (KeepArtifact(whole),))


OP = Op(
    name="box.exec",
    summary="Look at the machine: one of 27 read-only actions, such as health, disk, jobs or logs UNIT.",
    side_effecting=False,
    arguments=Args,
    example={"action": "disk"},
    run=run,
    check=check,
    actions=_ACTIONS,
)
