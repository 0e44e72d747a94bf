"""What is remembered no longer: what any store promises."""

from __future__ import annotations

import pytest

from exec_daemon.store import AuditBreak, Excess, Outcome, Pruned, Store
from messaging import JobState
from tests.contracts.samples import at, job
from tests.contracts.test_store_audit import NOTE
from tests.contracts.test_store_journal import begun


async def ended(store: Store, *names: str, identity: str = "agent/heron") -> None:
    for name in names:
        await store.finish((await begun(store, name, identity=identity)).id, Outcome())


async def names(store: Store, identity: str | None = None) -> list[str]:
    return [one.call_id for one in reversed(await store.jobs(identity))]


async def test_old_jobs_go_with_their_events_and_free_their_call_ids(store: Store) -> None:
    await ended(store, "a", "b", "c")
    first = (await store.jobs())[-1]
    assert await store.prune(Excess(jobs_before=at(4))) == Pruned(jobs=2)
    assert await names(store) == ["c"]
    assert await store.job(first.id) is None
    assert await store.events(first.id) == []
    assert (await begun(store, "a")).state is JobState.RUNNING
    assert await store.prune(Excess(jobs_before=at(4))) == Pruned()


async def test_a_job_that_runs_stays_however_old_it_is(store: Store) -> None:
    running = await begun(store, "a")
    await begun(store, "b", effects_inside=False)
    await ended(store, "c")
    assert (await store.prune(Excess(jobs_before=at(99)))).jobs == 1
    assert await names(store) == ["a", "b"]
    assert (await store.finish(running.id, Outcome())).state is JobState.SUCCEEDED


async def test_an_identity_that_asks_a_lot_pushes_out_nobody_else(store: Store) -> None:  # D093
    await ended(store, "a", "b")
    await ended(store, *[f"n{number}" for number in range(10)], identity="agent/crane")
    assert (await store.prune(Excess(keep_jobs=3))).jobs == 7
    assert await names(store, "agent/heron") == ["a", "b"]
    assert await names(store, "agent/crane") == ["n7", "n8", "n9"]


async def test_nothing_goes_where_everything_is_kept(store: Store) -> None:
    await ended(store, "a")
    assert await store.prune(Excess()) == Pruned()


@pytest.mark.parametrize("excess", [Excess(keep_lines=4), Excess(lines_before=at(12))])
async def test_the_audit_is_whole_after_its_oldest_lines_went(store: Store, excess: Excess) -> None:  # D111
    await ended(store, *[f"c{number}" for number in range(10)])
    gone = (await store.prune(excess)).lines
    assert gone == 6
    found = await store.check_audit()
    assert (found.broken, found.lines, found.last) == (None, 5, 11)
    (newest,) = await store.audit(limit=1)
    assert (newest.op, newest.call_id) == ("audit.prune", "6")
    await store.note(NOTE)
    assert (await store.check_audit()).broken is None


async def test_the_audit_may_be_pruned_again_and_to_its_end(store: Store) -> None:
    for _ in range(3):
        for _ in range(5):
            await store.note(NOTE)
        await store.prune(Excess(lines_before="9"))
        assert (await store.check_audit()).broken is None
    assert len(await store.audit()) == 1
    assert (await store.check_audit({2: "0" * 64})).broken is None  # a line that went can be told no more


async def test_a_hash_that_was_noted_of_a_line_that_is_there_still_counts(store: Store) -> None:
    for _ in range(5):
        await store.note(NOTE)
    await store.prune(Excess(keep_lines=3))
    assert (await store.check_audit({4: "0" * 64})).broken == AuditBreak(
        4, "line 4 has another hash than the one that was noted"
    )


async def test_a_call_that_was_forgotten_is_a_new_one(store: Store) -> None:  # D093
    await ended(store, "a")
    await store.prune(Excess(jobs_before="9"))
    assert type(await store.begin(job("a"))).__name__ == "New"
