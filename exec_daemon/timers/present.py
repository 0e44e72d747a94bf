"""What the store has of a timer and of who is woken, at this moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from exec_daemon.store.port import Store
from exec_daemon.store.sources import NewId
from exec_daemon.store.timer_values import Timer
from exec_daemon.timers.look import Address, Look, moment
from messaging import OpInfo

# The registry as the agent of this name may use it, for its envelope.
OpsFor = Callable[[str], Awaitable[Sequence[OpInfo]]]
# May the maker of this timer still wake its agent?
MayWake = Callable[[Timer], bool]
# A step is made from what there is, and again where another was faster. A timer or a worker changes a few
# times a second at most; who loses so often meets a fault of ours.
TRIES: Final = 8


async def look_at(store: Store, timer_id: str, now: str, new_id: NewId) -> Look | None:
    """The timer with its runs under way; None for no timer."""
    timer = await store.timer(timer_id)
    if timer is None:
        return None
    runs = await store.standing_runs(timer_id)
    return Look(timer=timer, runs=runs, now=moment(now), new_id=new_id)


async def address_of(store: Store, agent: str, ops_for: OpsFor) -> Address | None:
    """Where the agent is woken; None for no agent."""
    found = await store.agent(agent)
    return None if found is None else Address(found.thread, await ops_for(found.name))
