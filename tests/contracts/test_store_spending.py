"""What runs of agents cost (A-02, A-03): what any store promises."""

from __future__ import annotations

from typing import Any

from exec_daemon.store import AgentRun, LastRun, Spending, Store
from tests.contracts.samples import at


def run(key: str, agent: str = "heron", model: str = "m", **more: Any) -> AgentRun:
    return AgentRun(key=key, agent=agent, model=model, **more)


async def test_a_run_is_counted_once(store: Store) -> None:
    assert await store.add_run(run("r1", input_tokens=3))
    assert not await store.add_run(run("r1", input_tokens=3))
    assert [sums.tokens for sums in await store.spending(at(0))] == [3]


async def test_sums_are_by_agent_and_model(store: Store) -> None:
    await store.add_run(run("r1", input_tokens=3, output_tokens=4, cost_microusd=12_300))
    await store.add_run(run("r2", input_tokens=1, cost_microusd=1))
    await store.add_run(run("r3", model="n", output_tokens=5))
    await store.add_run(run("r4", agent="crane", cache_read_tokens=9))
    heron = [
        Spending(agent="heron", model="m", runs=2, tokens=8, cost_microusd=12_301),
        Spending(agent="heron", model="n", runs=1, tokens=5, cost_microusd=None),
    ]
    crane = Spending(agent="crane", model="m", runs=1, tokens=None, cost_microusd=None)
    assert await store.spending(at(0)) == [crane, *heron]
    assert await store.spending(at(0), "heron") == heron
    assert await store.spending(at(0), "nobody") == []


async def test_what_is_older_is_left_out(store: Store) -> None:
    for second in range(3):
        await store.add_run(run(f"r{second}", input_tokens=1))
    assert [sums.runs for sums in await store.spending(at(1))] == [2]
    assert await store.spending(at(3)) == []


async def test_the_last_run_of_each_agent_tells_its_session(store: Store) -> None:
    #
    assert await store.last_runs() == []
    await store.add_run(run("r2", adapter="claude", session="s-1"))
    await store.add_run(run("r1", adapter="codex", session="s-2"))
    await store.add_run(run("r3", agent="crane"))
    assert await store.last_runs() == [
        LastRun(agent="crane", at=at(2), adapter=None, session=None),
        LastRun(agent="heron", at=at(1), adapter="codex", session="s-2"),
    ]
