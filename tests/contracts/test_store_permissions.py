"""Grants, approvals and marks: what any store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exec_daemon.store import Approval, ApprovalState, AskedCall, New, Outcome, Store, Word
from messaging import Job
from tests.contracts.samples import at, job

CALL = AskedCall(
    identity="agent/heron",
    asker="harvester/local",
    call_id="c1",
    op="swarm.spawn",
    args={"prompt": "tidy up", "n": 10**30},
    side_effecting=True,
    digest="d",
    marked_by="box.toml: [approvals] ops",
    scopes=("swarm.*",),
    thread="t1",
    reply="m1",
    on_behalf_of="heron",
)
YES = Word(state=ApprovalState.APPROVED, by="operator/local")


async def asked(store: Store, call: AskedCall = CALL) -> Approval:
    found = await store.ask(call, at(999))
    assert isinstance(found, Approval)
    return found


async def test_the_last_grant_of_a_subject_holds(store: Store) -> None:
    await store.set_grant("agent/heron", {"deny": ["dm.*"]}, "operator/local")
    await store.set_grant("agent", {"allow": ["tools.list"]}, "operator/local")
    latest = await store.set_grant("agent/heron", {"deny": []}, "operator/ann")
    assert [record.subject for record in await store.grants()] == ["agent", "agent/heron"]
    assert (await store.grants())[1] == latest
    assert (latest.rules, latest.set_by) == ({"deny": []}, "operator/ann")


async def test_a_grant_is_removed_once(store: Store) -> None:
    await store.set_grant("agent", {}, "operator/local")
    assert await store.remove_grant("agent")
    assert not await store.remove_grant("agent")
    assert await store.grants() == []


async def test_a_call_asks_once_and_nothing_of_it_is_lost(store: Store) -> None:  # O-36
    first = await asked(store)
    assert (first.call, first.expires_at, first.state) == (CALL, at(999), ApprovalState.PENDING)
    assert await asked(store, replace(CALL, args={"other": 1})) == first
    assert await store.approval(first.id) == first
    assert await store.approval("nobody") is None
    assert (await asked(store, replace(CALL, identity="agent/wren"))).id != first.id


async def test_a_call_that_has_run_asks_nobody(store: Store) -> None:
    begun = await store.begin(job("c1", identity="agent/heron"))
    assert isinstance(begun, New)
    await store.finish(begun.job.id, Outcome(data=1))
    found = await store.ask(CALL, at(999))
    assert isinstance(found, Job)
    assert (found.id, found.result) == (begun.job.id, 1)


async def test_who_asked_and_what_was_said_first_stands_in_the_audit_once(store: Store) -> None:  # D108
    first = await asked(store)
    await asked(store)
    for by in ("operator/ann", "operator/bob"):
        await store.answer_approval(first.id, replace(YES, by=by))
    lines = [
        (line.op, line.identity, line.asked_by, line.call_id, line.args_digest)
        for line in reversed(await store.audit())
    ]
    assert lines == [
        ("approval.asked", "agent/heron", "harvester/local", first.id, "d"),
        ("approval.approved", "operator/ann", None, first.id, "d"),
    ]
    assert (await store.check_audit()).broken is None


@pytest.mark.parametrize("state", [ApprovalState.APPROVED, ApprovalState.DENIED, ApprovalState.EXPIRED])
async def test_the_first_word_counts(store: Store, state: ApprovalState) -> None:  # O-36
    first = await asked(store)
    said = await store.answer_approval(first.id, Word(state=state, by="operator/ann", reason="so"))
    assert said is not None
    assert (said.state, said.decided_by, said.reason) == (state, "operator/ann", "so")
    assert said.decided_at
    assert await store.answer_approval(first.id, YES) == said
    assert await store.answer_approval("nobody", YES) is None


async def test_what_is_not_told_yet_is_found_again(store: Store) -> None:
    first, second = await asked(store), await asked(store, replace(CALL, call_id="c2"))
    await store.answer_approval(first.id, YES)
    await store.link_approval(first.id, "job-9")
    assert [(one.id, one.job_id) for one in await store.unsettled()] == [
        (first.id, "job-9"),
        (second.id, None),
    ]
    await store.settle_approval(first.id)
    assert [one.id for one in await store.unsettled()] == [second.id]


async def test_approvals_are_listed_newest_first_by_state_and_identity(store: Store) -> None:
    ids = [(await asked(store, replace(CALL, call_id=f"c{n}"))).id for n in range(3)]
    other = await asked(store, replace(CALL, identity="agent/wren"))
    await store.answer_approval(ids[0], YES)
    pending = await store.approvals(ApprovalState.PENDING)
    assert [one.id for one in pending] == [other.id, ids[2], ids[1]]
    assert [one.id for one in await store.approvals(None, "agent/heron", 2)] == [ids[2], ids[1]]


async def test_old_ones_are_forgotten_once_they_are_told(store: Store) -> None:
    told, untold = await asked(store), await asked(store, replace(CALL, call_id="c2"))
    for one in (told, untold):
        await store.answer_approval(one.id, YES)
    await store.settle_approval(told.id)
    assert await store.forget_approvals(at(0)) == 0
    assert await store.forget_approvals(at(9999)) == 1
    assert [one.id for one in await store.approvals()] == [untold.id]


async def test_marks_are_found_in_their_thread_and_those_of_no_thread_everywhere(store: Store) -> None:
    for thread, mark in (
        ("t1", "dm.read"),
        ("t1", "dm.read"),
        ("t2", "box.exec:logs"),
        ("", "box.exec:tmux"),
    ):
        await store.add_mark("agent/heron", thread, mark)
    assert await store.marks("agent/heron", "t1") == ["box.exec:tmux", "dm.read"]
    assert await store.marks("agent/heron", "t3") == ["box.exec:tmux"]
    assert await store.marks("agent/heron", None) == ["box.exec:logs", "box.exec:tmux", "dm.read"]
    assert await store.marks("agent/wren", None) == []
