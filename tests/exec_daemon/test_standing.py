"""What asks for a person's word, and what the asker is told until it has come. Pure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exec_daemon.access.approval import marked_by
from exec_daemon.access.grants import Grant
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rules import Barred, Facts
from exec_daemon.access.stack import Grants
from exec_daemon.approvals.standing import standing
from exec_daemon.store.permissions import Approval, ApprovalState, AskedCall
from messaging import ErrorCode

HERON, ADA = Identity(Role.AGENT, "heron"), Identity(Role.OPERATOR, "ada")
CALL = AskedCall(
    identity="agent/heron",
    asker="agent/heron",
    call_id="c1",
    op="dm.send",
    args={},
    side_effecting=True,
    digest="d",
    marked_by="the op dm.send itself",
)
ASKED = Approval(
    id="job-1", call=CALL, asked_at="2026-12-01T09:00:00.000Z", expires_at="2026-12-02T09:00:00.000Z"
)


@pytest.mark.parametrize(
    ("approval", "code", "said"),
    [
        (ASKED, ErrorCode.APPROVAL_PENDING, "until 2026-12-02T09:00:00.000Z. Do not repeat it"),
        (replace(ASKED, state=ApprovalState.EXPIRED), ErrorCode.APPROVAL_EXPIRED, "Nothing was done."),
        (
            replace(ASKED, state=ApprovalState.DENIED, decided_by="operator/ada"),
            ErrorCode.APPROVAL_DENIED,
            "dm.send was denied by operator/ada.",
        ),
        (
            replace(ASKED, state=ApprovalState.DENIED, decided_by="operator/ada", reason="not now"),
            ErrorCode.APPROVAL_DENIED,
            "dm.send was denied by operator/ada: not now",
        ),
    ],
)
def test_the_asker_is_told_how_it_stands(approval: Approval, code: ErrorCode, said: str) -> None:  # O-36
    told = standing(approval)
    assert told is not None
    assert (told.code, told.details["job_id"]) == (code, "job-1")
    assert said in told.message


def test_of_an_approved_call_its_job_says_how_it_went() -> None:
    assert standing(replace(ASKED, state=ApprovalState.APPROVED)) is None


@pytest.mark.parametrize(
    ("who", "facts", "marked", "where"),
    [
        (HERON, Facts(), False, None),
        (HERON, Facts(), True, "the op dm.send itself"),
        (ADA, Facts(), True, None),
        (HERON, Facts(barred=Barred(mark="secret", where="bar", asks=True)), False, "bar"),
        (HERON, Facts(barred=Barred(mark="secret", where="bar", asks=False)), False, None),
    ],
)
def test_a_person_is_asked_for_what_is_marked_or_barred(
    who: Identity, facts: Facts, marked: bool, where: str | None
) -> None:
    assert marked_by(who, "dm.send", facts, marked=marked) == where


@pytest.mark.parametrize(
    ("globs", "where"), [(("dm.*",), 'box.toml: [grants."agent/heron"] approval'), (("cron.*",), None)]
)
def test_a_grant_asks_for_a_person_by_the_name_of_the_op(globs: tuple[str, ...], where: str | None) -> None:
    facts = Facts(grants=Grants({"agent/heron": Grant(approval=globs)}).of(HERON))
    assert marked_by(HERON, "dm.send", facts, marked=False) == where
