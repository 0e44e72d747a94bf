"""What agents use, over days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from exec_daemon.access.scope import sees_all
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.web.asking import read
from exec_daemon.web.plot import plot
from messaging import ErrorCode
from messaging.moment import iso

_DAYS: Final = 14


async def show(ask: Ask) -> dict[str, Any]:
    """The table of `box.exec usage`, and tokens by agent for the last two weeks."""
    reading = await read(ask, "box.exec", {"action": "usage"})
    return {"rows": reading["data"].get("usage", []), "plot": plot(await _days(ask))}


async def _days(ask: Ask) -> list[tuple[str, dict[str, int]]]:
    """Tokens by agent of each day, from sums since each midnight."""
    if not sees_all(ask.identity):
        raise refuse(ErrorCode.FORBIDDEN, f"{ask.identity} sees its own usage by `box.exec usage` only.")
    today = (
        datetime.fromisoformat(ask.services.clock())
        .astimezone(UTC)
        .replace(hour=0, minute=0, second=0, microsecond=0)
    )
    starts = [today - timedelta(days=back) for back in range(_DAYS - 1, -1, -1)]
    since = [await _tokens(ask, start) for start in starts] + [{}]
    return [
        (start.strftime("%Y-%m-%d"), {agent: used - later.get(agent, 0) for agent, used in here.items()})
        for start, here, later in zip(starts, since, since[1:], strict=False)
    ]


async def _tokens(ask: Ask, start: datetime) -> dict[str, int]:
    sums: dict[str, int] = {}
    for each in await ask.services.store.spending(iso(start)):
        sums[each.agent] = sums.get(each.agent, 0) + (each.tokens or 0)
    return sums
