"""The journal (docs/why/once.md, O-16, O-34): what any store promises."""

from __future__ import annotations

import asyncio

import pytest

from exec_daemon.store import (
    AppendMessage,
    Conflict,
    Done,
    Exists,
    JobEnded,
    New,
    NoSuchJob,
    NoSuchThread,
    Outcome,
    Running,
    Store,
)
from messaging import ErrorCode, EventType, Job, JobState, read_event
from tests.contracts.samples import at, failure, job, message, thread

BIG = 2**80 + 1


async def begun(store: Store, call_id: str = "c1", **fields: object) -> Job:
    answer = await store.begin(job(call_id, **fields))
    assert isinstance(answer, New)
    return answer.job


async def test_a_new_call_is_journaled_as_running(store: Store) -> None:
    made = await begun(store, thread="ops", reply="msg-7", on_behalf_of="heron", args={"n": BIG, "x": [1.5]})
    assert made == Job(
        id="job-1",
        op="dm.send",
        args={"n": BIG, "x": [1.5]},
        call_id="c1",
        identity="agent/heron",
        state=JobState.RUNNING,
        created_at=at(0),
        side_effecting=True,
        thread="ops",
        reply="msg-7",
    )
    assert await store.job("job-1") == made
    assert await store.job("job-2") is None


async def test_the_first_event_of_a_job_is_accepted(store: Store) -> None:
    made = await begun(store)
    (event,) = await store.events(made.id)
    assert (event.seq, event.type, event.ts) == (0, EventType.ACCEPTED, at(0))
    assert event.payload == {"url": f"/jobs/{made.id}", "op": "dm.send"}  # M-05


async def test_the_same_call_joins_the_one_that_runs(store: Store) -> None:  # O-16
    made = await begun(store)
    assert await store.begin(job()) == Running(made)
    assert await store.jobs() == [made]


async def test_the_same_call_gets_the_stored_end(store: Store) -> None:  # O-16, O-34
    made = await begun(store)
    ended = await store.finish(made.id, Outcome(data={"ok": [1]}, duration_ms=2.5))
    assert await store.begin(job()) == Done(ended)
    assert (ended.state, ended.result, ended.error) == (JobState.SUCCEEDED, {"ok": [1]}, None)
    assert (ended.ended_at, ended.duration_ms) == (at(1), 2.5)


@pytest.mark.parametrize("finished", [False, True])
async def test_a_call_id_for_other_content_is_a_conflict(store: Store, finished: bool) -> None:  # O-34
    made = await begun(store)
    if finished:
        made = await store.finish(made.id, Outcome())
    assert await store.begin(job(args={"to": "wren"})) == Conflict(made)
    assert await store.jobs() == [made]


async def test_a_call_id_belongs_to_its_identity(store: Store) -> None:
    await begun(store)
    await begun(store, identity="agent/crane")
    assert [j.identity for j in await store.jobs()] == ["agent/crane", "agent/heron"]


async def test_a_call_begins_once_when_many_ask_at_once(store: Store) -> None:
    answers = await asyncio.gather(*[store.begin(job()) for _ in range(20)])
    assert [type(answer) for answer in answers] == [New] + [Running] * 19
    assert len(await store.jobs()) == 1


async def test_a_final_error_is_the_answer_for_ever(store: Store) -> None:
    made = await begun(store)
    ended = await store.finish(made.id, Outcome(error=failure(ErrorCode.NOT_FOUND)))
    assert ended.error == failure(ErrorCode.NOT_FOUND).to_json()
    assert await store.begin(job()) == Done(ended)


async def test_a_retryable_error_lets_the_call_run_again(store: Store) -> None:
    first = await begun(store)
    await store.finish(first.id, Outcome(error=failure(ErrorCode.BUSY)))
    second = await begun(store)
    assert second.id != first.id
    ended = await store.finish(second.id, Outcome(data=1))
    assert await store.begin(job()) == Done(ended)
    assert [j.state for j in await store.jobs()] == [JobState.SUCCEEDED, JobState.FAILED]


async def test_effects_come_with_the_end(store: Store) -> None:
    await store.create_thread(thread("crane"))
    made = await begun(store)
    effects = (AppendMessage(message("crane", "one"), id="msg-mine"), AppendMessage(message("crane", "two")))
    await store.finish(made.id, Outcome(data={"message": "msg-mine"}), effects)
    first, second = await store.messages("crane")
    assert (first.id, first.body) == ("msg-mine", "one")
    assert (second.id, second.body) == ("msg-1", "two")


async def test_ending_twice_has_no_second_effect(store: Store) -> None:
    await store.create_thread(thread("crane"))
    made = await begun(store)
    ended = await store.finish(made.id, Outcome(data=1), [AppendMessage(message("crane"))])
    again = await store.finish(made.id, Outcome(data=2), [AppendMessage(message("crane"))])
    assert again == ended
    assert len(await store.messages("crane")) == 1
    assert [e.type for e in await store.events(made.id)] == [EventType.ACCEPTED, EventType.SUCCEEDED]


async def test_of_many_ends_at_once_one_counts(store: Store) -> None:
    await store.create_thread(thread("crane"))
    made = await begun(store)
    ends = [
        store.finish(made.id, Outcome(data=number), [AppendMessage(message("crane"))]) for number in range(20)
    ]
    assert {ended.result for ended in await asyncio.gather(*ends)} == {0}
    assert len(await store.messages("crane")) == 1


@pytest.mark.parametrize(
    ("effect", "problem"),
    [
        (AppendMessage(message("nowhere")), NoSuchThread),
        (AppendMessage(message("crane"), id="msg-taken"), Exists),
    ],
)
async def test_an_effect_that_fails_leaves_the_job_running_and_no_trace(
    store: Store, effect: AppendMessage, problem: type[Exception]
) -> None:
    await store.create_thread(thread("crane"))
    first = await begun(store, "c0")
    await store.finish(first.id, Outcome(), [AppendMessage(message("crane"), id="msg-taken")])
    made = await begun(store)
    with pytest.raises(problem):
        await store.finish(made.id, Outcome(), [AppendMessage(message("crane")), effect])
    assert await store.job(made.id) == made
    assert [m.id for m in await store.messages("crane")] == ["msg-taken"]


async def test_a_failed_end_has_neither_data_nor_effects(store: Store) -> None:
    made = await begun(store)
    refused = failure(ErrorCode.NOT_FOUND)
    with pytest.raises(ValueError, match="neither data nor effects"):
        await store.finish(made.id, Outcome(error=refused), [AppendMessage(message("crane"))])
    with pytest.raises(ValueError, match="neither data nor effects"):
        await store.finish(made.id, Outcome(error=refused, data=1))
    assert await store.job(made.id) == made


async def test_what_is_not_json_never_ends_a_job(store: Store) -> None:
    made = await begun(store)
    for value in (float("nan"), {1, 2}):
        with pytest.raises((ValueError, TypeError)):
            await store.finish(made.id, Outcome(data=value))
    assert await store.job(made.id) == made


async def test_a_job_that_does_not_exist_has_no_end(store: Store) -> None:
    with pytest.raises(NoSuchJob) as refused:
        await store.finish("job-9", Outcome())
    assert refused.value.subject == "job-9"


READ = {"op": "tools.list", "side_effecting": False, "fresh": True}


async def test_a_read_that_ran_at_once_is_journaled_with_its_end(store: Store) -> None:
    ended = await store.record(job("c1", **READ), "job-9", Outcome(data=[1], text="[1]"), at(-1))
    assert (ended.id, ended.state, ended.result) == ("job-9", JobState.SUCCEEDED, [1])
    assert (ended.created_at, ended.ended_at) == (at(-1), at(0))
    assert await store.job("job-9") == ended
    assert await store.begin(job("c1", op="tools.list", side_effecting=False)) == Done(ended)
    first, last = await store.events("job-9")
    assert (first.seq, first.type, first.ts) == (0, EventType.ACCEPTED, at(-1))
    assert (last.seq, last.type, last.ts, last.payload["result"]) == (1, EventType.SUCCEEDED, at(0), [1])
    assert [event.seq for event in await store.events("job-9", after=0)] == [1]
    assert await store.events("job-9", after=1) == []
    (line,) = await store.audit()
    assert (line.job_id, line.op, line.outcome) == ("job-9", "tools.list", "succeeded")


async def test_a_read_that_failed_at_once_gives_its_call_free_where_it_may_be_repeated(store: Store) -> None:
    for number, code in enumerate((ErrorCode.BUSY, ErrorCode.NOT_FOUND)):
        outcome = Outcome(error=failure(code))
        await store.record(job(f"c{number}", **READ), f"job-{number + 7}", outcome, at(0))
    assert isinstance(await store.begin(job("c0", op="tools.list", side_effecting=False)), New)
    assert isinstance(await store.begin(job("c1", op="tools.list", side_effecting=False)), Done)


@pytest.mark.parametrize("wrong", [{"side_effecting": True}, {"fresh": False}])
async def test_what_must_be_journaled_before_it_runs_is_not_recorded_after(
    store: Store, wrong: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match="after it"):
        await store.record(job("c1", **READ | wrong), "job-9", Outcome(data=1), at(0))
    assert await store.jobs() == []


async def test_a_read_whose_result_is_not_json_is_not_recorded(store: Store) -> None:
    with pytest.raises((TypeError, ValueError)):
        await store.record(job("c1", **READ), "job-9", Outcome(data={1}), at(0))
    assert await store.jobs() == []


async def test_events_are_numbered_without_gaps(store: Store) -> None:
    made = await begun(store)
    await store.add_event(made.id, EventType.PROGRESS, {"stage": "run", "pct": 50})
    await store.add_event(made.id, EventType.WARNING, {"message": "slow"})
    await store.finish(made.id, Outcome(error=failure(ErrorCode.TIMEOUT), duration_ms=9.0))
    events = await store.events(made.id)
    assert [e.seq for e in events] == [0, 1, 2, 3]
    assert [str(e.type) for e in events] == ["accepted", "progress", "warning", "failed"]
    assert events[3].payload == failure(ErrorCode.TIMEOUT).to_json() | {"duration_ms": 9.0}  # M-09
    assert [read_event(e.to_json()) for e in events] == events
    assert await store.events(made.id, after=1) == events[2:]


async def test_the_last_event_holds_the_result(store: Store) -> None:
    made = await begun(store)
    ended = await store.finish(made.id, Outcome(data={"n": BIG}, duration_ms=1.0))
    last = (await store.events(made.id))[-1]
    assert (last.type, last.ts) == (EventType.SUCCEEDED, ended.ended_at)
    assert last.payload == {"result": {"n": BIG}, "duration_ms": 1.0}


async def test_nothing_follows_the_end(store: Store) -> None:
    made = await begun(store)
    await store.finish(made.id, Outcome())
    with pytest.raises(JobEnded):
        await store.add_event(made.id, EventType.PROGRESS, {})
    assert len(await store.events(made.id)) == 2


@pytest.mark.parametrize("written", [EventType.ACCEPTED, EventType.SUCCEEDED, EventType.FAILED])
async def test_only_the_journal_writes_first_and_last_events(store: Store, written: EventType) -> None:
    made = await begun(store)
    with pytest.raises(ValueError, match="written by begin and finish"):
        await store.add_event(made.id, written, {})


async def test_events_need_a_job(store: Store) -> None:
    with pytest.raises(NoSuchJob):
        await store.add_event("job-9", EventType.PROGRESS, {})
    assert await store.events("job-9") == []


async def test_jobs_are_listed_newest_first_by_identity_and_state(store: Store) -> None:
    heron, crane = await begun(store, "c1"), await begun(store, "c2", identity="agent/crane")
    last = await store.finish((await begun(store, "c3")).id, Outcome())
    assert await store.jobs() == [last, crane, heron]
    assert await store.jobs(limit=2) == [last, crane]
    assert await store.jobs(identity="agent/heron") == [last, heron]
    assert await store.jobs(state=JobState.RUNNING) == [crane, heron]
    assert await store.jobs(identity="agent/heron", state=JobState.RUNNING) == [heron]


async def test_a_started_daemon_ends_what_ran(store: Store) -> None:
    kinds = {"inside": (True, True), "outside": (True, False), "read": (False, False)}
    for name, (side_effecting, inside) in kinds.items():
        await begun(store, name, side_effecting=side_effecting, effects_inside=inside)
    done = await store.finish((await begun(store, "done")).id, Outcome())
    ended = await store.interrupt_running()
    assert [(j.call_id, j.error["code"], j.error["retryable"]) for j in ended if j.error] == [
        ("inside", "UNAVAILABLE", True),
        ("outside", "INTERRUPTED", False),
        ("read", "UNAVAILABLE", True),
    ]
    assert await store.jobs() == [done, *reversed(ended)]
    assert await store.interrupt_running() == []


async def test_an_interrupted_call_runs_again_only_if_nothing_happened(store: Store) -> None:
    await begun(store, "inside")
    await begun(store, "outside", effects_inside=False)
    _, outside = await store.interrupt_running()
    assert isinstance(await store.begin(job("inside")), New)
    assert await store.begin(job("outside", effects_inside=False)) == Done(outside)
