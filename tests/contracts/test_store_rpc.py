"""What a client of the RPC finds again (J-07, J-12, J-15): what any store promises."""

from __future__ import annotations

from dataclasses import replace

from exec_daemon.store import RpcAnswer, RpcTask, Store
from tests.contracts.samples import at

ANSWER = RpcAnswer(identity="operator/local", id="r1", digest="d", answer={"ok": True, "n": 10**30}, at=at(5))
TASK = RpcTask(identity="operator/local", id="t1", provider="heron", model=None, folder="/srv", state="ready")


async def keep(store: Store, kept: RpcAnswer, since: str = "", most: int = 100) -> None:
    await store.keep_rpc_answer(kept, since=since, most=most)


async def test_an_answer_is_found_by_identity_and_id(store: Store) -> None:  # J-07, J-12
    await keep(store, ANSWER)
    assert await store.rpc_answer("operator/local", "r1") == ANSWER
    assert await store.rpc_answer("operator/local", "r2") is None
    assert await store.rpc_answer("agent/heron", "r1") is None


async def test_a_later_answer_stands_in_for_an_earlier_one(store: Store) -> None:
    await keep(store, ANSWER)
    later = replace(ANSWER, digest="e", answer={"ok": False}, at=at(6))
    await keep(store, later)
    assert await store.rpc_answer("operator/local", "r1") == later


async def test_old_answers_of_the_same_identity_go(store: Store) -> None:  # J-12
    others = replace(ANSWER, identity="agent/heron", at=at(0))
    for kept in (replace(ANSWER, id="old", at=at(1)), others, replace(ANSWER, id="young", at=at(3))):
        await keep(store, kept)
    await keep(store, ANSWER, since=at(3))
    assert await store.rpc_answer("operator/local", "old") is None
    assert await store.rpc_answer("operator/local", "young") is not None
    assert await store.rpc_answer("agent/heron", "r1") == others


async def test_the_oldest_go_where_there_are_too_many(store: Store) -> None:  # J-12
    for number in range(6):
        await keep(store, replace(ANSWER, id=f"r{number}", at=at(number)), most=3)
    left = [n for n in range(6) if await store.rpc_answer("operator/local", f"r{n}")]
    assert left == [3, 4, 5]


async def test_a_task_is_kept_as_it_stood_last(store: Store) -> None:  # J-15
    await store.keep_rpc_task(replace(TASK, id="t2"))
    await store.keep_rpc_task(TASK)
    await store.keep_rpc_task(replace(TASK, identity="agent/heron"))
    stopped = replace(TASK, state="stopped", model="large")
    await store.keep_rpc_task(stopped)
    assert await store.rpc_tasks("operator/local") == [stopped, replace(TASK, id="t2")]
    assert await store.rpc_tasks("viewer/v") == []
