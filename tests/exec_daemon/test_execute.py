"""The way of one call, with ops made for the test and the store in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.access.grants import Rates
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rates import Buckets
from exec_daemon.access.tokens import Asker
from exec_daemon.artifacts import Artifacts
from exec_daemon.calls.execute import Executor, Pending, Rehearsed
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.calls.registry import registry
from exec_daemon.ops import ALLOWLIST
from exec_daemon.settings import DaemonLimits
from exec_daemon.store import (
    Agent,
    AppendMessage,
    NewThread,
    Outcome,
    StoreFull,
    random_id,
)
from exec_daemon.store.memory import MemoryStore
from messaging import (
    AuthorKind,
    Call,
    CallError,
    CallRequest,
    ErrorCode,
    JobState,
    MessageKind,
    NewMessage,
    Result,
    error,
)

OPERATOR = Asker(Identity(Role.OPERATOR, "local"))
HERON = Asker(Identity(Role.AGENT, "heron"))
HARVESTER = Asker(Identity(Role.HARVESTER, "local"))


class Args(Arguments):
    text: str = "x"


def op(run: Callable[[Args, OpContext], Any], **more: Any) -> Op:
    fields: dict[str, Any] = {"name": "test.op", "summary": "For a test.", "side_effecting": True}
    return Op(**(fields | {"arguments": Args, "example": {}, "run": run} | more))


async def no_box(_: str, __: str | int | None, ___: Identity) -> Any:
    return {"available": True}


def executor(store: MemoryStore, *ops: Op, limits: DaemonLimits | None = None) -> Executor:
    return Executor(
        registry=registry(ops or ALLOWLIST),
        store=store,
        buckets=Buckets(lambda: 0.0),
        limits=limits or DaemonLimits(),
        box=no_box,
        keep=Artifacts(Path("unused"), (), most_bytes=0, room_bytes=0),
        new_id=random_id,
    )


def request(
    name: str = "test.op", call_id: str | None = "c1", *, dry_run: bool = False, **args: Any
) -> CallRequest:
    return CallRequest(call=Call(name, args, call_id), dry_run=dry_run)


async def result(running: Executor, asked: CallRequest, asker: Asker = OPERATOR) -> Result:
    ended = await running.call(asker, asked)
    assert isinstance(ended, Result)
    return ended


def code(ended: Result) -> ErrorCode:
    assert ended.error is not None, ended
    return ended.error.code


async def echo(args: Args, _: OpContext) -> Ended:
    return Success({"text": args.text})


async def test_a_call_gives_its_result_once_and_the_same_again_as_a_replay(
    store: MemoryStore,
) -> None:  # O-16, D127
    runs = 0

    async def counting(args: Args, _: OpContext) -> Ended:
        nonlocal runs
        runs += 1
        return Success({"run": runs})

    running = executor(store, op(counting))
    first = await result(running, request())
    again = await result(running, request())
    assert (first.data, first.replayed) == ({"run": 1}, False)
    assert (again.data, again.replayed, again.job_id) == ({"run": 1}, True, first.job_id)


async def test_the_same_id_with_other_arguments_is_a_conflict(store: MemoryStore) -> None:  # O-34, D085
    running = executor(store, op(echo))
    await result(running, request(text="a"))
    assert code(await result(running, request(text="b"))) is ErrorCode.DUPLICATE_ID


async def test_call_ids_are_counted_per_identity(store: MemoryStore) -> None:  # O-33, D089
    running = executor(store, op(echo, name="dm.read"))
    mine = await result(running, request("dm.read"), OPERATOR)
    other = await result(running, request("dm.read", text="other"), HERON)
    assert mine.job_id != other.job_id
    assert not other.replayed


async def test_a_call_without_an_id_is_given_one_and_told(store: MemoryStore) -> None:
    ended = await result(executor(store, op(echo)), request(call_id=None))
    assert ended.call_id
    assert ended.call_id.startswith("call-")


async def test_a_duplicate_in_flight_joins_and_runs_nothing(store: MemoryStore) -> None:  # O-16, O-34
    runs, started, go = 0, asyncio.Event(), asyncio.Event()

    async def slow(_: Args, __: OpContext) -> Ended:
        nonlocal runs
        runs += 1
        started.set()
        await go.wait()
        return Success(runs)

    running = executor(store, op(slow))
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(result(running, request())) for _ in range(5)]
        await started.wait()
        go.set()
    assert [call.result().data for call in calls] == [1] * 5
    assert sum(call.result().replayed for call in calls) == 4


async def test_a_caller_that_leaves_stops_nothing(store: MemoryStore) -> None:
    go = asyncio.Event()

    async def slow(_: Args, __: OpContext) -> Ended:
        await go.wait()
        return Success("done")

    running = executor(store, op(slow))
    caller = asyncio.create_task(running.call(OPERATOR, request()))
    await asyncio.sleep(0.01)
    caller.cancel()
    go.set()
    await running.jobs.drain(5)
    assert (await result(running, request())).data == "done"


async def test_a_caller_that_does_not_want_to_wait_gets_the_job(store: MemoryStore) -> None:
    go = asyncio.Event()

    async def slow(_: Args, __: OpContext) -> Ended:
        await go.wait()
        return Success("done")

    running = executor(store, op(slow))
    pending = await running.call(OPERATOR, request(), wait_s=0.0)
    assert isinstance(pending, Pending)
    assert pending.job.state is JobState.RUNNING
    go.set()
    await running.jobs.drain(5)
    job = await store.job(pending.job.id)
    assert job
    assert job.state is JobState.SUCCEEDED


async def test_a_dry_run_decides_and_writes_nothing(store: MemoryStore) -> None:  # O-31
    running = executor(store)
    would = await running.call(OPERATOR, request("dm", dry_run=True, recipient="heron", body="x"))
    assert isinstance(would, Rehearsed)
    assert would.to_json()["would"] == {
        "op": "dm.send",
        "args": {"to": "heron", "text": "x"},
        "side_effecting": True,
    }
    assert await store.jobs() == []
    assert await store.audit() == []


@pytest.mark.parametrize(
    ("asker", "asked", "refusal"),
    [
        (OPERATOR, request("no.such"), ErrorCode.UNKNOWN_OP),
        (OPERATOR, request("dm.send", to="heron"), ErrorCode.INVALID_ARGS),
        (OPERATOR, request("dm.send", to="heron", recipient="wren", text="x"), ErrorCode.INVALID_ARGS),
        (OPERATOR, request("box.exec", action="reboot"), ErrorCode.UNKNOWN_ACTION),
        (HARVESTER, request("tools.list"), ErrorCode.FORBIDDEN),
        (Asker(Identity(Role.VIEWER, "v")), request("dm.send", to="heron", text="x"), ErrorCode.FORBIDDEN),
        (Asker(HERON.identity, ("dm.read",)), request("tools.list"), ErrorCode.FORBIDDEN),
    ],
)
async def test_what_is_refused_leaves_no_row(
    store: MemoryStore, asker: Asker, asked: CallRequest, refusal: ErrorCode
) -> None:  # O-30, O-13, O-34
    assert code(await result(executor(store), asked, asker)) is refusal
    assert await store.jobs() == []
    assert await store.audit() == []


async def test_an_executed_call_is_audited_with_its_outcome(store: MemoryStore) -> None:  # O-34
    await result(executor(store, op(echo, name="tools.list")), request("tools.list"), HERON)
    lines = await store.audit()
    assert {(line.identity, line.op) for line in lines} == {("agent/heron", "tools.list")}
    assert "succeeded" in {line.outcome for line in lines}


async def test_a_fault_of_an_op_is_an_incident_without_its_insides(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: Args, __: OpContext) -> Ended:
        raise RuntimeError("password=hunter2")

    ended = await result(executor(store, op(broken)), request())
    assert code(ended) is ErrorCode.INTERNAL_ERROR
    assert ended.error
    assert "hunter2" not in str(ended.to_json())
    assert ended.error.details["incident"] in caplog.text


async def test_an_op_that_takes_too_long_ends_as_a_timeout(store: MemoryStore) -> None:  # O-32
    async def endless(_: Args, __: OpContext) -> Ended:
        await asyncio.Event().wait()
        raise AssertionError

    read = executor(store, op(endless, side_effecting=False, time_limit_s=0.01))
    ended = await result(read, request())
    assert ended.error
    assert (ended.error.code, ended.error.retryable) == (ErrorCode.TIMEOUT, True)
    write = executor(store, op(endless, time_limit_s=0.01))
    ended = await result(write, request(call_id="c2"))
    assert ended.error
    assert not ended.error.retryable


async def test_a_retryable_end_frees_the_call_id(store: MemoryStore) -> None:  # O-35
    ends: list[Ended] = [error(ErrorCode.BUSY, "later"), Success("now")]

    async def busy_once(_: Args, __: OpContext) -> Ended:
        return ends.pop(0)

    running = executor(store, op(busy_once))
    assert code(await result(running, request())) is ErrorCode.BUSY
    assert (await result(running, request())).data == "now"


async def test_a_cancelled_job_ends_cancelled(store: MemoryStore) -> None:
    async def endless(_: Args, __: OpContext) -> Ended:
        await asyncio.Event().wait()
        raise AssertionError

    running = executor(store, op(endless))
    pending = await running.call(OPERATOR, request(), wait_s=0.01)
    assert isinstance(pending, Pending)
    await running.jobs.cancel(pending.job.id)
    await running.jobs.cancel(pending.job.id)
    job = await store.job(pending.job.id)
    assert job
    assert job.error
    assert job.error["code"] == ErrorCode.CANCELLED


async def test_effects_happen_exactly_when_the_job_succeeds(store: MemoryStore) -> None:  # docs/why/once.md
    await store.create_thread(NewThread(id="t", title="t"))

    async def writes_to(thread: str) -> Ended:
        new = NewMessage(
            thread=thread, author="x", author_kind=AuthorKind.SYSTEM, kind=MessageKind.NOTICE, body="b"
        )
        return Success("written", (AppendMessage(new),))

    async def run(args: Args, _: OpContext) -> Ended:
        return await writes_to(args.text)

    running = executor(store, op(run))
    assert (await result(running, request(text="t"))).ok
    assert len(await store.messages("t")) == 1
    failed = await result(running, request(call_id="c2", text="gone"))
    assert code(failed) is ErrorCode.NOT_FOUND
    assert [job.state for job in await store.jobs(state=JobState.RUNNING)] == []


class FullOnce(MemoryStore):
    """A store whose disk is full when the first job ends."""

    full = True

    async def finish(self, job_id: str, outcome: Outcome, effects: Any = ()) -> Any:
        if self.full:
            raise StoreFull("no space")
        return await super().finish(job_id, outcome, effects)


async def test_a_job_whose_end_could_not_be_stored_runs_again_with_the_same_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = FullOnce()
    running = executor(store, op(echo))
    with pytest.raises(StoreFull):
        await running.call(OPERATOR, request())
    store.full = False
    ended = await result(running, request())
    assert ended.data == {"text": "x"}
    assert len(await store.jobs()) == 1
    assert "could not be stored" in caplog.text


async def test_a_job_that_may_have_had_its_effect_is_not_run_again() -> None:
    store = FullOnce()
    running = executor(store, op(echo, effects_inside=False))
    with pytest.raises(StoreFull):
        await running.call(OPERATOR, request())
    store.full = False
    assert isinstance(await running.call(OPERATOR, request()), Pending)


async def test_calls_are_counted_for_reads_and_writes_apart(store: MemoryStore) -> None:  # O 7.5
    limits = DaemonLimits(rates=dict.fromkeys(Role, Rates(reads_per_min=2, writes_per_min=1)))
    running = executor(
        store, op(echo, name="dm.read", side_effecting=False), op(echo, name="dm.send"), limits=limits
    )
    for number, (name, passes) in enumerate(
        [("dm.read", True), ("dm.send", True), ("dm.read", True), ("dm.read", False), ("dm.send", False)]
    ):
        ended = await result(running, request(name, f"c{number}"), HERON)
        assert ended.ok is passes
    limited = (await result(running, request("dm.send", "c9"), HERON)).error
    assert limited
    assert (limited.code, limited.retryable) == (ErrorCode.RATE_LIMITED, True)
    assert limited.details["retry_after_s"] == 60.0
    assert await store.job("c9") is None


async def recorded(store: MemoryStore, author: str = "heron") -> CallRequest:
    await store.create_thread(NewThread(id="t", title="t", agent="heron"))
    appended = await store.append(
        NewMessage(
            thread="t", author=author, author_kind=AuthorKind.AGENT, kind=MessageKind.TEXT, body="[TOOL …]"
        )
    )
    return CallRequest(
        call=Call("tools.list", {}, "c1"), thread="t", reply=appended.message.id, on_behalf_of="heron"
    )


async def test_a_call_on_behalf_runs_as_the_agent(store: MemoryStore) -> None:  # O-33
    ended = await result(executor(store), await recorded(store), HARVESTER)
    assert ended.ok
    job = await store.job(ended.job_id or "")
    assert job
    assert (job.identity, job.thread) == ("agent/heron", "t")
    assert "dm.send" in ended.data["allowed_for_you"]
    assert "job.cancel" not in ended.data["allowed_for_you"]


@pytest.mark.parametrize("asker", [OPERATOR, HERON])
async def test_nobody_else_acts_on_behalf(store: MemoryStore, asker: Asker) -> None:  # O-33
    assert code(await result(executor(store), await recorded(store), asker)) is ErrorCode.FORBIDDEN


async def test_a_name_in_the_request_proves_nothing(store: MemoryStore) -> None:  # O-33
    request_of_wren = await recorded(store, author="wren")
    assert code(await result(executor(store), request_of_wren, HARVESTER)) is ErrorCode.FORBIDDEN


async def test_a_pair_that_answers_itself_without_end_is_slowed_down(store: MemoryStore) -> None:  # O-85
    for name in ("heron", "wren", "owl"):
        await store.add_agent(Agent(name=name, thread=name))
    limits = DaemonLimits(dm_pair_per_min=3, rates=dict.fromkeys(Role, Rates()))
    running = executor(store, limits=limits)
    for number in range(3):
        assert (await result(running, request("dm.send", f"c{number}", to="wren", text="x"), HERON)).ok
    assert code(await result(running, request("dm.send", "c3", to="wren", text="x"), HERON)) is (
        ErrorCode.RATE_LIMITED
    )
    assert (await result(running, request("dm.send", "c4", to="owl", text="x"), HERON)).ok
    assert len(await store.messages("wren")) == 3


def test_an_error_of_a_call_reads_back() -> None:
    failed = error(ErrorCode.BUSY, "later", details={"retry_after_s": 1})
    assert CallError.from_json(failed.to_json()) == failed


async def test_an_op_that_waits_for_nothing_has_ended_when_its_call_returns(store: MemoryStore) -> None:
    running = executor(store, op(echo, name="tools.list", side_effecting=False, at_once=True))
    first = await result(running, request("tools.list"))
    assert (first.data, first.replayed) == ({"text": "x"}, False)
    assert (await result(running, request("tools.list"))).replayed
    assert [job.state for job in await store.jobs()] == [JobState.SUCCEEDED]


async def test_a_fault_of_an_op_that_runs_at_once_is_an_error_of_its_call(store: MemoryStore) -> None:
    async def broken(_: Args, __: OpContext) -> Ended:
        raise RuntimeError

    running = executor(store, op(broken, name="tools.list", side_effecting=False, at_once=True))
    assert code(await result(running, request("tools.list"))) is ErrorCode.INTERNAL_ERROR


def test_what_changes_something_does_not_run_at_once() -> None:
    with pytest.raises(ValueError, match="at once"):
        registry((op(echo, at_once=True),))


async def test_the_same_id_with_another_op_is_a_conflict(store: MemoryStore) -> None:  # D085
    running = executor(store, op(echo, name="dm.read"), op(echo, name="job.get"))
    await result(running, request("dm.read"))
    assert code(await result(running, request("job.get"))) is ErrorCode.DUPLICATE_ID
    assert len(await store.jobs()) == 1


async def test_a_clock_that_jumps_changes_no_duration_and_forgets_no_call() -> None:  # D094
    times = iter(f"2026-12-{day:02d}T09:00:00.000Z" for day in (5, 1, 9, 2, 8, 3, 7, 4, 6))
    store = MemoryStore(clock=lambda: next(times))
    running = executor(store, op(echo))
    first = await result(running, request())
    again = await result(running, request())
    assert 0 <= first.duration_ms < 10_000
    assert (again.replayed, again.job_id) == (True, first.job_id)
