"""Workers (O 7.2, D124, D125): what any store promises."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from exec_daemon.store import (
    Agent,
    AppendMessage,
    Excess,
    Exists,
    NewThread,
    Outcome,
    Outdated,
    OverBudget,
    Pruned,
    StepWorkers,
    Store,
)
from exec_daemon.store.timer_values import Post, Timer, TimerState, TimerStep
from exec_daemon.store.worker_port import WORKERS
from exec_daemon.store.worker_values import Budget, Worker, WorkerState, WorkerStep
from tests.contracts.samples import at, job, message
from tests.patience import PATIENCE_S

BUDGET = Budget(since=at(0), most_alive=3, most_started=5, most_of_template=4)


def worker(number: int, **fields: object) -> Worker:
    made = Worker(
        id=f"w-{number}",
        name=f"w-{number}",
        owner="agent/heron",
        root="agent/heron",
        depth=1,
        template="coder",
        runtime="child",
        thread=f"w-{number}",
        job=f"job-w{number}",
        created_at=at(1),
        updated_at=at(1),
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def spawn(*workers: Worker, budget: Budget = BUDGET) -> WorkerStep:
    """With a thread for each, made by the step of a timer as spawning does."""
    steps = tuple(
        TimerStep(
            timer=Timer(
                id=f"tmr-{one.id}",
                name=one.id,
                created_by=one.owner,
                agent=one.id,
                plan={},
                state=TimerState.COMPLETED,
                created_at=at(1),
                updated_at=at(1),
            ),
            was=None,
            threads=(NewThread(id=one.thread, title=one.name, agent=one.id),),
        )
        for one in workers
    )
    return WorkerStep(added=workers, budget=budget, steps=steps)


def after(one: Worker, **fields: object) -> Worker:
    return replace(one, version=one.version + 1, **fields)  # type: ignore[arg-type]


async def test_a_worker_is_found_by_id_and_listed_for_its_owner(store: Store) -> None:
    assert await store.step_workers(spawn(worker(1), worker(2)))
    assert await store.worker("w-1") == worker(1)
    assert await store.worker("w-9") is None
    assert [one.id for one in await store.workers()] == ["w-2", "w-1"]
    assert await store.workers(owner="agent/wren") == []
    assert [one.id for one in await store.workers(limit=1)] == ["w-2"]


async def test_one_that_is_over_is_listed_only_where_somebody_asks_for_it(store: Store) -> None:
    await store.step_workers(spawn(worker(1)))
    over = after(worker(1), state=WorkerState.ENDED, ended_at=at(2))
    assert await store.step_workers(WorkerStep(changed=(over,)))
    assert await store.workers() == []
    assert await store.workers(states=(WorkerState.ENDED,)) == [over]


async def test_a_change_of_an_older_version_changes_nothing(store: Store) -> None:
    await store.step_workers(spawn(worker(1), worker(2)))
    assert await store.step_workers(WorkerStep(changed=(after(worker(1), reason="first"),)))
    late = WorkerStep(
        changed=(after(worker(2), reason="late"), after(worker(1), reason="late")),
        posts=(Post("msg-x", message("w-1", "late")),),
    )
    assert not await store.step_workers(late)
    assert [one.reason for one in await store.workers()] == [None, "first"]
    assert await store.messages("w-1") == []


async def test_a_worker_is_made_once(store: Store) -> None:
    await store.step_workers(spawn(worker(1)))
    with pytest.raises(Exists):
        await store.step_workers(WorkerStep(added=(worker(1),)))


async def test_a_heartbeat_is_no_change(store: Store) -> None:
    await store.step_workers(spawn(worker(1)))
    await store.beat_worker("w-1", at(9))
    await store.beat_worker("w-9", at(9))
    assert await store.worker("w-1") == worker(1, heartbeat_at=at(9))


async def test_one_that_has_been_over_for_long_is_remembered_no_longer(store: Store) -> None:
    await store.step_workers(spawn(worker(1), worker(2), worker(3)))
    ended = [after(worker(1), state=WorkerState.ENDED, ended_at=at(2))]
    ended += [after(worker(2), state=WorkerState.FAILED, ended_at=at(4))]
    assert await store.step_workers(WorkerStep(changed=tuple(ended)))
    assert await store.prune(Excess(jobs_before=at(4))) == Pruned(workers=1)
    assert await store.prune(Excess(jobs_before=at(4))) == Pruned()
    assert await store.worker("w-1") is None
    assert [one.id for one in await store.workers(states=tuple(WorkerState))] == ["w-3", "w-2"]
    assert await store.thread("w-1") is not None


async def test_its_id_names_an_agent_of_the_role_worker(store: Store) -> None:  # O-33
    await store.step_workers(spawn(worker(1)))
    assert await store.agent("w-1") == Agent(name="w-1", thread="w-1", role="worker")
    assert await store.agents() == []
    with pytest.raises(Exists):
        await store.add_agent(Agent(name="w-1", thread="mine"))


async def test_what_passes_the_budget_starts_none_of_them(store: Store) -> None:  # D124
    with pytest.raises(OverBudget, match="0 workers of agent/heron alive, at most 3"):
        await store.step_workers(spawn(*map(worker, range(4))))
    assert await store.workers() == []
    assert await store.thread("w-1") is None


async def test_those_that_ended_count_for_their_hour(store: Store) -> None:  # D125
    for number in range(5):
        await store.step_workers(spawn(worker(number)))
        over = after(worker(number), state=WorkerState.ENDED)
        await store.step_workers(WorkerStep(changed=(over,)))
    with pytest.raises(OverBudget, match="5 workers of agent/heron started in the last hour, at most 5"):
        await store.step_workers(spawn(worker(5)))
    assert await store.step_workers(spawn(worker(5), budget=replace(BUDGET, since=at(2))))


async def test_a_template_has_a_number_for_all_roots(store: Store) -> None:  # D124
    for number in range(4):
        await store.step_workers(spawn(worker(number, root=f"agent/a{number}")))
    with pytest.raises(OverBudget, match="4 workers of the template coder alive, at most 4"):
        await store.step_workers(spawn(worker(4, root="agent/wren")))


async def test_fifty_at_once_fill_the_budget_exactly(store: Store) -> None:  # D124
    asked = [store.step_workers(spawn(worker(number))) for number in range(50)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(one is True for one in answers) == 3
    assert all(one is True or isinstance(one, OverBudget) for one in answers)
    assert len(await store.workers()) == 3


async def begun(store: Store) -> str:
    started = await store.begin(job("call-1", op="swarm.spawn", effects_inside=True))
    return started.job.id


async def test_as_an_effect_it_happens_with_the_end_of_the_job(store: Store) -> None:
    job_id = await begun(store)
    with store.subscribe(WORKERS) as changes:
        await store.finish(job_id, Outcome(data={}), [StepWorkers(spawn(worker(1)))])
        assert await changes.wait(PATIENCE_S)
    assert await store.worker("w-1") == worker(1)


async def test_an_effect_that_comes_too_late_leaves_the_job_running(store: Store) -> None:
    await store.step_workers(spawn(worker(1)))
    job_id = await begun(store)
    late = WorkerStep(changed=(replace(worker(1), version=3),))
    with pytest.raises(Outdated):
        await store.finish(job_id, Outcome(data={}), [AppendMessage(message("w-1", "x")), StepWorkers(late)])
    assert await store.messages("w-1") == []
