"""What runs of agents cost, in memory."""

from __future__ import annotations

from collections.abc import Iterable

from exec_daemon.store.memory.state import MemoryPart
from exec_daemon.store.values import AgentRun, LastRun, Spending


class MemorySpending(MemoryPart):
    """The `AgentRuns` part of the port."""

    async def add_run(self, run: AgentRun) -> bool:
        at = self._clock()
        if run.key in self._tables.runs:
            return False
        self._tables.runs[run.key] = (at, run)
        return True

    async def spending(self, since: str, agent: str | None = None) -> list[Spending]:
        rows = [run for at, run in self._tables.runs.values() if at >= since and agent in (None, run.agent)]
        names = sorted({(run.agent, run.model) for run in rows})
        return [_together([run for run in rows if (run.agent, run.model) == name]) for name in names]

    async def last_runs(self) -> list[LastRun]:
        last: dict[str, LastRun] = {}
        for at, run in sorted(self._tables.runs.values(), key=lambda kept: (kept[0], kept[1].key)):
            last[run.agent] = LastRun(agent=run.agent, at=at, adapter=run.adapter, session=run.session)
        return [last[agent] for agent in sorted(last)]


def _together(runs: list[AgentRun]) -> Spending:
    return Spending(
        agent=runs[0].agent,
        model=runs[0].model,
        runs=len(runs),
        tokens=_sum(one for run in runs for one in (run.input_tokens, run.output_tokens)),
        cost_microusd=_sum(run.cost_microusd for run in runs),
    )


def _sum(amounts: Iterable[int | None]) -> int | None:
    """Of what was reported; None where nothing was."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None
