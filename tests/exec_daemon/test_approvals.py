"""Calls that wait for a person (O-36): asked once, shown whole, decided once, run once, told once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exec_daemon.access.approval import marked_by
from exec_daemon.access.grants import Grant
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rules import Facts
from exec_daemon.access.stack import Grants
from exec_daemon.access.tokens import Asker
from exec_daemon.approvals.asked import shown
from exec_daemon.approvals.asking import MOST_PENDING
from exec_daemon.calls.execute import Rehearsed
from exec_daemon.ops import ALLOWLIST
from exec_daemon.store import Approval, ApprovalState
from messaging import CallError, ErrorCode, MessageKind, Result
from tests.exec_daemon.approving import (
    ANN,
    HARVESTER,
    HERON,
    YES,
    Moment,
    asked,
    delivered,
    dm,
    parts,
    peopled,
    told,
)


def code(said: Any) -> ErrorCode:
    failed = said.error if isinstance(said, Result) else said
    assert isinstance(failed, CallError), said
    return failed.code


async def test_a_marked_call_is_answered_at_once_and_nothing_has_happened() -> None:  # O-36
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    assert (await asked(made, dm(reply))).id == approval.id
    assert await delivered(store) == []
    assert await store.jobs() == []
    assert await told(store) == []


async def test_the_approver_sees_the_whole_of_it() -> None:  # O-36
    store, reply = await peopled()
    long = "x" * 16_000 + "; and rm -rf /"
    approval = await asked(parts(store), dm(reply, text=long))
    seen = shown(approval)
    assert seen["args"] == {"to": "wren", "text": long}
    assert (seen["identity"], seen["asker"]) == ("agent/heron", "harvester/local")
    assert (seen["thread"], seen["reply"]) == ("ops", reply.id)
    assert seen["marked_by"] == "box.toml: [approvals] ops"


async def test_an_approved_call_runs_once_and_its_thread_is_told_once() -> None:  # O-36
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    for _ in range(2):
        said = await made.deciding.approve(ANN, approval.id, approval.call.digest)
        assert isinstance(said, Approval)
        assert (said.state, said.decided_by) == (ApprovalState.APPROVED, "operator/ann")
    await made.settled()
    await made.deciding.look()
    assert await delivered(store) == ["go"]
    (message,) = await told(store)
    assert message.kind is MessageKind.RESULT
    assert message.in_reply_to == reply.id
    assert message.body.startswith(f"dm.send · ok · approved by operator/ann · job {approval.id}\n```")
    again = await made.executor.call(HARVESTER, dm(reply))
    assert isinstance(again, Result)
    assert (again.ok, again.replayed) == (True, True)


async def test_who_was_denied_is_told_why_and_the_call_never_runs() -> None:
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    for _ in range(2):
        assert isinstance(await made.deciding.deny(ANN, approval.id, "not today"), Approval)
    await made.settled()
    (message,) = await told(store)
    assert "APPROVAL_DENIED: dm.send was denied by operator/ann: not today" in message.body
    assert code(await made.executor.call(HARVESTER, dm(reply))) is ErrorCode.APPROVAL_DENIED
    assert (
        code(await made.deciding.approve(ANN, approval.id, approval.call.digest)) is ErrorCode.APPROVAL_DENIED
    )
    assert await delivered(store) == []


async def test_what_nobody_approves_in_time_expires_and_says_so() -> None:
    store, reply = await peopled()
    clock = Moment()
    made = parts(store, clock=clock)
    approval = await asked(made, dm(reply))
    await made.deciding.look()
    assert (await store.approval(approval.id)) == approval
    clock.hour = 11
    await made.deciding.look()
    await made.settled()
    (message,) = await told(store)
    assert "APPROVAL_EXPIRED" in message.body
    assert code(await made.executor.call(HARVESTER, dm(reply))) is ErrorCode.APPROVAL_EXPIRED


async def test_what_has_expired_cannot_be_approved_before_anybody_looked() -> None:
    store, reply = await peopled()
    clock = Moment()
    made = parts(store, clock=clock)
    approval = await asked(made, dm(reply))
    clock.hour = 11
    said = await made.deciding.approve(ANN, approval.id, approval.call.digest)
    assert code(said) is ErrorCode.APPROVAL_EXPIRED
    await made.settled()
    assert await delivered(store) == []


class Hurrying(Moment):
    """A clock on which an hour passes between two looks."""

    def __call__(self) -> str:
        self.hour += 1
        return super().__call__()


async def test_what_expires_while_it_is_approved_is_not_run() -> None:
    store, reply = await peopled()
    clock = Hurrying()
    clock.hour = 7  # asked at 8, to expire at 9
    made = parts(store, clock=clock)
    approval = await asked(made, dm(reply))
    clock.hour = 7  # in time at the first look
    said = await made.deciding.approve(ANN, approval.id, approval.call.digest)
    assert code(said) is ErrorCode.APPROVAL_EXPIRED
    await made.settled()
    assert await delivered(store) == []


async def test_nobody_approves_what_it_asked_for_itself() -> None:  # D081
    store, _ = await peopled()
    made = parts(store, grants={"operator": Grant(approval=("dm.*",))})
    approval = await asked(made, dm(), Asker(ANN))
    for say in (
        made.deciding.approve(ANN, approval.id, approval.call.digest),
        made.deciding.deny(ANN, approval.id, None),
    ):
        refused = await say
        assert isinstance(refused, CallError)
        assert refused.details == {"rule": "approval self"}
    bob = Identity(Role.OPERATOR, "bob")
    assert isinstance(await made.deciding.approve(bob, approval.id, approval.call.digest), Approval)
    await made.settled()
    assert await delivered(store) == ["go"]


async def test_only_what_was_looked_at_can_be_approved() -> None:  # O-36
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    assert code(await made.deciding.approve(ANN, approval.id, "0" * 64)) is ErrorCode.INVALID_REQUEST
    assert code(await made.deciding.approve(ANN, "job-0", "0" * 64)) is ErrorCode.NOT_FOUND
    other = await asked(made, dm(reply, "c2", "stop"))
    assert other.call.digest != approval.call.digest


async def test_an_op_that_changed_since_it_was_asked_is_not_run() -> None:  # D112
    store, reply = await peopled()
    approval = await asked(parts(store), dm(reply))
    changed = tuple(
        replace(op, summary="Something else.") if op.name == "dm.send" else op for op in ALLOWLIST
    )
    later = parts(store, ops=changed)
    said = await later.deciding.approve(ANN, approval.id, approval.call.digest)
    assert code(said) is ErrorCode.OP_CHANGED
    found = await store.approval(approval.id)
    assert found is not None
    assert found.state is ApprovalState.PENDING


async def test_an_op_that_changed_between_the_word_and_the_run_is_not_run() -> None:  # D112
    store, reply = await peopled()
    approval = await asked(parts(store), dm(reply))
    await store.answer_approval(approval.id, YES)  # and there the daemon dies
    changed = tuple(replace(op, definition="another") if op.name == "dm.send" else op for op in ALLOWLIST)
    later = parts(store, ops=changed)
    await later.deciding.look()
    await later.settled()
    assert await delivered(store) == []
    (message,) = await told(store)
    assert "OP_CHANGED" in message.body


async def test_an_approval_gives_nothing_that_grants_have_taken_since() -> None:
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    made.grants.replace_stored({"agent/heron": Grant(deny=("dm.send",))})
    assert code(await made.deciding.approve(ANN, approval.id, approval.call.digest)) is ErrorCode.FORBIDDEN
    assert await delivered(store) == []


async def test_an_approval_holds_for_one_call_of_one_thread() -> None:
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    await made.deciding.approve(ANN, approval.id, approval.call.digest)
    await made.settled()
    again = await asked(made, dm(reply, "c2"))
    elsewhere = await asked(made, dm(None, "c3"), HERON)
    assert len({approval.id, again.id, elsewhere.id}) == 3
    assert len({approval.call.digest, elsewhere.call.digest}) == 2


async def test_the_same_id_with_other_content_is_a_conflict() -> None:  # D085
    store, reply = await peopled()
    made = parts(store)
    await asked(made, dm(reply))
    assert code(await made.executor.call(HARVESTER, dm(reply, text="other"))) is ErrorCode.DUPLICATE_ID


async def test_a_call_that_ran_before_its_op_was_marked_is_answered_as_it_went() -> None:
    store, reply = await peopled()
    first = await parts(store, approval=()).executor.call(HARVESTER, dm(reply))
    made = parts(store)
    again = await made.executor.call(HARVESTER, dm(reply))
    assert isinstance(first, Result)
    assert isinstance(again, Result)
    assert (again.job_id, again.replayed) == (first.job_id, True)
    assert code(await made.executor.call(HARVESTER, dm(reply, text="other"))) is ErrorCode.DUPLICATE_ID
    assert await store.approvals() == []


async def test_nobody_floods_a_person_with_questions() -> None:
    store, reply = await peopled()
    made = parts(store, grants={"agent": Grant(writes_per_minute=0)})
    for number in range(MOST_PENDING):
        await asked(made, dm(reply, f"c{number}"))
    assert code(await made.executor.call(HARVESTER, dm(reply, "one-more"))) is ErrorCode.FORBIDDEN
    await asked(made, dm(reply, "c0"))


async def test_a_dry_run_says_that_a_person_would_be_asked_and_asks_nobody() -> None:
    store, reply = await peopled()
    rehearsed = await parts(store).executor.call(HARVESTER, replace(dm(reply), dry_run=True))
    assert isinstance(rehearsed, Rehearsed)
    assert rehearsed.to_json()["would"]["approval"] == "box.toml: [approvals] ops"
    assert await store.approvals() == []


async def test_a_call_without_an_id_is_given_one_and_asks() -> None:
    store, _ = await peopled()
    approval = await asked(parts(store), dm(call_id=None), HERON)
    assert approval.call.call_id.startswith("call-")


async def test_an_asker_may_take_it_back() -> None:
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    await made.deciding.withdraw(Identity(Role.AGENT, "heron"), approval.id)
    await made.settled()
    assert (
        code(await made.deciding.approve(ANN, approval.id, approval.call.digest)) is ErrorCode.APPROVAL_DENIED
    )


MARKED = [
    (Role.AGENT, (), {}, True, "the op dm.send itself"),
    (Role.OPERATOR, (), {}, True, None),
    (Role.AGENT, ("dm.*",), {}, False, "box.toml: [approvals] ops"),
    (Role.OPERATOR, ("dm.*",), {}, False, None),
    (Role.AGENT, (), {"agent": Grant(approval=("*",))}, False, "box.toml: [grants.agent] approval"),
    (
        Role.OPERATOR,
        (),
        {"operator/x": Grant(approval=("*",))},
        False,
        'box.toml: [grants."operator/x"] approval',
    ),
    (Role.AGENT, ("swarm.*",), {"worker": Grant(approval=("*",))}, False, None),
]


@pytest.mark.parametrize(("role", "ops", "grants", "marked", "where"), MARKED)
def test_any_rule_that_asks_for_a_person_is_enough(
    role: Role, ops: tuple[str, ...], grants: dict[str, Grant], marked: bool, where: str | None
) -> None:
    who = Identity(role, "x")
    facts = Facts(grants=Grants(grants, approval=ops).of(who))
    assert marked_by(who, "dm.send", facts, marked=marked) == where


async def test_what_was_approved_a_moment_ago_is_about_to_run() -> None:
    store, reply = await peopled()
    made = parts(store)
    approval = await asked(made, dm(reply))
    await store.answer_approval(approval.id, YES)
    said = await made.executor.call(HARVESTER, dm(reply))
    assert code(said) is ErrorCode.APPROVAL_PENDING
    assert isinstance(said, Result)
    assert said.error is not None
    assert "is about to run" in said.error.message
    assert await delivered(store) == []
