"""Reads in threads: their time limit, and a store that does not answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.scope import sees_job, sees_thread
from exec_daemon.box import BoxContext, FactsUnavailable, Scope
from exec_daemon.box_reads import BoxReads
from exec_daemon.store import NewJob, NewThread, StoreFull, utc_now
from exec_daemon.store.memory import MemoryStore
from exec_daemon.store.timer_values import RunState, Timer, TimerRun, TimerState, TimerStep
from exec_daemon.store_facts import FactsFromStore, scope_of
from messaging import CallError, ErrorCode, Thread
from tests.patience import PATIENCE_S

HERON = Identity(Role.AGENT, "heron")


@pytest.fixture
def go() -> Iterator[threading.Event]:
    """Lets hanging reads go on; set at the end, so that no thread stays."""
    event = threading.Event()
    yield event
    event.set()


def hanging(go: threading.Event) -> Callable[[Scope], BoxContext]:
    return lambda _: BoxContext(clock=lambda: float(go.wait(PATIENCE_S)))


async def test_a_read_that_hangs_ends_as_a_retryable_timeout(go: threading.Event) -> None:  # O 7.1, O-32
    ended = await BoxReads(hanging(go), limit_s=0.05)("info", None, HERON)
    assert isinstance(ended, CallError)
    assert (ended.code, ended.retryable) == (ErrorCode.TIMEOUT, True)


async def test_reads_that_hang_take_a_bounded_number_of_threads(go: threading.Event) -> None:
    reads, before = BoxReads(hanging(go), limit_s=0.05), threading.active_count()
    ends = await asyncio.gather(*(reads("info", None, HERON) for _ in range(40)))
    assert {end.code for end in ends} == {ErrorCode.TIMEOUT}
    assert threading.active_count() - before <= 8


async def test_places_come_back_when_reads_end(go: threading.Event) -> None:
    reads = BoxReads(hanging(go), limit_s=30)
    waiting = asyncio.gather(*(reads("info", None, HERON) for _ in range(20)))
    await asyncio.sleep(0)
    go.set()
    assert [type(end) for end in await waiting] == [dict] * 20


async def test_a_read_that_hangs_does_not_keep_the_process_from_ending(go: threading.Event) -> None:
    await BoxReads(hanging(go), limit_s=0.01)("info", None, HERON)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "box-read")


async def test_a_refused_read_is_an_error_of_the_call() -> None:
    ended = await BoxReads(lambda scope: BoxContext(scope=scope), limit_s=5)("cpu", "x", HERON)
    assert isinstance(ended, CallError)
    assert ended.code is ErrorCode.INVALID_ARGS


class Full(MemoryStore):
    """A store whose disk does not serve."""

    async def thread(self, thread_id: str) -> Thread | None:
        raise StoreFull("no space", thread_id)


async def test_facts_that_the_store_cannot_give_are_unavailable() -> None:
    facts = FactsFromStore(Full(), asyncio.get_running_loop())
    with pytest.raises(FactsUnavailable):
        await asyncio.to_thread(facts.thread, "t", Scope())


@pytest.mark.parametrize(
    ("role", "scope"),
    [
        (Role.OPERATOR, None),
        (Role.VIEWER, None),
        (Role.HARVESTER, None),
        (Role.AGENT, "agent/x"),
        (Role.WORKER, "worker/x"),
    ],
)
def test_the_scope_of_a_read_follows_from_the_role(role: Role, scope: str | None) -> None:  # O-46
    assert scope_of(Identity(role, "x")).identity == scope


async def test_what_the_store_does_not_hold_is_none(store: MemoryStore) -> None:  # O-45
    facts = FactsFromStore(store, asyncio.get_running_loop())
    missing: list[Callable[[], object]] = [
        lambda: facts.worker("w", Scope()),
        lambda: facts.timer("t", Scope()),
        lambda: facts.agent("nobody"),
        lambda: facts.job("job-0", Scope()),
        lambda: facts.thread("none", Scope()),
    ]
    assert [await asyncio.to_thread(ask) for ask in missing] == [None] * len(missing)


async def test_a_timer_is_shown_to_who_made_it(store: MemoryStore) -> None:  # O-46
    facts = FactsFromStore(store, asyncio.get_running_loop())
    timer = Timer(
        id="tmr-1",
        name="disks",
        created_by="agent/heron",
        agent="heron",
        plan={"schedule": "5m", "tz": "UTC"},
        state=TimerState.ACTIVE,
        created_at=utc_now(),
        updated_at=utc_now(),
        next_at="2020-01-01T00:00:00.000Z",
    )
    due, ended = "2019-12-31T23:55:00.000Z", RunState.ENDED
    run = TimerRun(timer="tmr-1", due=due, at=due, state=ended, outcome="PASS", job="job-1")
    await store.step_timer(TimerStep(timer=timer, was=None, added=(run,)))
    assert await asyncio.to_thread(facts.timers, Scope("agent/wren")) == []
    assert await asyncio.to_thread(facts.timer, "tmr-1", Scope("agent/wren")) is None
    for name, scope in (("tmr-1", Scope()), ("disks", Scope("agent/heron"))):
        shown = await asyncio.to_thread(facts.timer, name, scope)
        assert shown is not None
        assert (shown.id, shown.last_verdict, shown.stale, len(shown.runs)) == ("tmr-1", "PASS", True, 1)


@pytest.mark.parametrize("role", Role)
async def test_a_read_sees_the_threads_and_jobs_that_the_api_shows(
    role: Role, store: MemoryStore
) -> None:  # O-46
    who = Identity(role, "heron")
    facts, scope = FactsFromStore(store, asyncio.get_running_loop()), scope_of(who)
    for name in ("heron", "wren", None):
        thread = await store.create_thread(NewThread(id=f"of-{name}", title="", agent=name))
        found = await asyncio.to_thread(facts.thread, thread.id, scope)
        assert (found is not None) is sees_thread(who, thread)
        listed = await asyncio.to_thread(facts.threads, scope, 9)
        assert (thread in listed) is sees_thread(who, thread)
    for number, identity in enumerate((str(who), "agent/wren", "operator/heron")):
        new = NewJob(
            identity=identity, call_id=f"c{number}", digest="d", op="x", args={}, side_effecting=False
        )
        job = (await store.begin(new)).job
        found_job = await asyncio.to_thread(facts.job, job.id, scope)
        assert (found_job is not None) is sees_job(who, job)
