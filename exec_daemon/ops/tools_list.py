"""`tools.list`: every op with its flag, the same for everybody, and which the asker may call (O-50)."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, TypedDict

from pydantic import Field

from exec_daemon.calls.op import Arguments, Op, OpContext, Success
from messaging import OpInfo
from messaging.ops import catalogue


class Args(Arguments):
    """`filter` is a part of a name or a glob over names; `verbose: false` leaves schema and example out."""

    filter: str | None = Field(default=None, max_length=64, description="part of an op's name, or a glob")
    verbose: bool = Field(default=True, description="false: only name, flag and summary")


class Tools(TypedDict):
    """`ops` is the list of `--list-ops`, byte for byte (O-51); `digest` is over all ops, listed or not."""

    ops: list[dict[str, Any]]
    allowed_for_you: list[str]
    digest: str


# No name of an op has any of these.
_GLOB: Final = frozenset("*?[")


def _wanted(infos: tuple[OpInfo, ...], pattern: str | None) -> Sequence[OpInfo]:
    if pattern is None:
        return infos
    if not _GLOB.intersection(pattern):
        return [info for info in infos if pattern in info.name]
    return [info for info in infos if fnmatchcase(info.name, pattern)]


def _shown(info: OpInfo, *, verbose: bool) -> dict[str, Any]:
    if verbose:
        return info.to_json()
    return {"op": info.name, "side_effecting": info.side_effecting, "summary": info.summary}


def listed(infos: tuple[OpInfo, ...]) -> list[dict[str, Any]]:
    """All of them, whole: what the call without arguments shows."""
    return [_shown(info, verbose=True) for info in infos]


async def run(args: Args, context: OpContext) -> Success:
    """Lists the registry."""
    infos = _wanted(context.ops, args.filter)
    allowed = [info.name for info in infos if context.may(info.name)]
    shown = [_shown(info, verbose=args.verbose) for info in infos]
    return Success(Tools(ops=shown, allowed_for_you=allowed, digest=catalogue(context.ops)))


OP = Op(
    name="tools.list",
    summary="List every op with its flag, arguments and an example; allowed_for_you says which you may call.",
    side_effecting=False,
    arguments=Args,
    example={},
    run=run,
    at_once=True,
)
