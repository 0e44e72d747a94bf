"""The decision, over the whole table of roles and ops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.access.decide import Claim, Decision, decide, decide_on_behalf, objection, verdicts
from exec_daemon.access.grants import Grant
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rules import BY_ARGUMENTS, Barred, Facts, plainly_allowed
from exec_daemon.access.stack import Grants
from messaging import AuthorKind, Message, MessageKind
from patterns import vocabulary

OPERATOR = Identity(Role.OPERATOR, "local")
HERON = Identity(Role.AGENT, "heron")
WORKER = Identity(Role.WORKER, "w1")
HARVESTER = Identity(Role.HARVESTER, "local")

READS = {"box.exec", "tools.list", "dm.read", "cron.list", "job.get"}
CRON = {"cron.create", "cron.update", "cron.pause", "cron.resume", "cron.cancel"}
# O 7.5, written down once more by hand.
MAY = {
    Role.OPERATOR: set(vocabulary().known_ops),
    Role.AGENT: READS | CRON | {"dm.send", "job.cancel", "swarm.spawn"},
    Role.WORKER: {"dm.send", "box.exec", "tools.list"},
    Role.VIEWER: READS,
    Role.HARVESTER: set(),
}


def granted(grant: Grant, subject: str = "agent") -> Facts:
    return Facts(grants=Grants({subject: grant}).of(HERON))


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("op", vocabulary().known_ops)
def test_each_role_may_do_what_the_table_of_roles_says_and_nothing_else(role: Role, op: str) -> None:
    decision = decide(Identity(role, "x"), op, {}, Facts())  # O-33, O-52, O 7.5
    assert decision.allowed is (op in MAY[role])
    assert decision.rule == "grant allow"
    assert decision.reason


@given(st.sampled_from([role for role in Role if role is not Role.OPERATOR]), st.text(max_size=20))
def test_an_op_that_nobody_thought_of_is_denied(role: Role, suffix: str) -> None:  # O-33 default deny
    assert not decide(Identity(role, "x"), f"new.op{suffix}", {}, Facts()).allowed


def test_a_token_can_narrow_what_its_bearer_may_do() -> None:
    facts = Facts(scopes=("tools.*", "dm.read"))
    assert decide(OPERATOR, "tools.list", {}, facts).allowed
    refused = decide(OPERATOR, "dm.send", {"to": "heron"}, facts)
    assert refused == Decision(
        allowed=False,
        rule="token scope",
        reason="the token is limited to tools.*, dm.read",
        where="token: scopes",
    )


def test_a_scope_never_widens_the_role() -> None:
    assert not decide(Identity(Role.VIEWER, "x"), "dm.send", {}, Facts(scopes=("*",))).allowed


def test_a_denial_wins_over_an_allowance() -> None:
    facts = granted(Grant(allow=("*",), deny=("dm.*",), recipients=("*",)))
    assert decide(HERON, "dm.send", {"to": "wren"}, facts).rule == "grant deny"
    assert decide(HERON, "tools.list", {}, facts).allowed


def test_a_worker_writes_to_its_owner_only() -> None:  # O 7.5
    assert decide(WORKER, "dm.send", {"to": "heron"}, Facts(owner="heron")).allowed
    assert decide(WORKER, "dm.send", {"to": "wren"}, Facts(owner="heron")).rule == "grant recipients"
    assert not decide(WORKER, "dm.send", {"to": "heron"}, Facts()).allowed


def test_recipients_are_globs() -> None:  # O-85
    facts = granted(Grant(allow=("dm.send",), recipients=("team-*",)))
    assert decide(HERON, "dm.send", {"to": "team-a"}, facts).allowed
    assert not decide(HERON, "dm.send", {"to": "boss"}, facts).allowed


def reply(**changes: object) -> Message:
    fields: dict[str, object] = {
        "id": "m1",
        "thread": "t1",
        "seq": 1,
        "position": 1,
        "author": "heron",
        "author_kind": AuthorKind.AGENT,
        "kind": MessageKind.TEXT,
        "body": "",
        "created_at": "2026-12-01T09:00:00.000Z",
    }
    return Message(**(fields | changes))  # type: ignore[arg-type]


CLAIM = Claim("heron", "t1", "m1")


def test_a_harvester_acts_for_the_recorded_author_of_a_reply() -> None:  # O-33
    assert decide_on_behalf(HARVESTER, CLAIM, reply()).allowed


@pytest.mark.parametrize(
    "record",
    [
        None,
        reply(author="wren"),
        reply(thread="t2"),
        reply(id="m2"),
        reply(author_kind=AuthorKind.HUMAN),
        reply(author_kind=AuthorKind.SYSTEM),
        reply(kind=MessageKind.DM),
        reply(kind=MessageKind.RESULT),
    ],
)
def test_no_claim_is_believed_that_the_record_does_not_prove(record: Message | None) -> None:  # O-33
    decision = decide_on_behalf(HARVESTER, CLAIM, record)
    assert (decision.allowed, decision.rule) == (False, "behalf record")


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.HARVESTER])
def test_only_a_harvester_acts_for_others(role: Role) -> None:
    decision = decide_on_behalf(Identity(role, "heron"), CLAIM, reply())
    assert (decision.allowed, decision.rule) == (False, "behalf role")


NAMED = st.sampled_from(["to", "target", "action", "arg"])
ARGS = st.dictionaries(NAMED, st.sampled_from(["x", "heron", "disk"]))
GLOBS = st.lists(st.sampled_from(["*", "dm.*", "cron.*", "box.exec", "tools.list", "heron"]), max_size=2)
SAID = st.none() | GLOBS.map(tuple)
GRANTS = st.builds(Grant, deny=GLOBS.map(tuple), allow=SAID, recipients=SAID, wakes=SAID, box=SAID)


@given(GRANTS, st.sampled_from(sorted(vocabulary().known_ops)), ARGS)
def test_an_op_that_is_plainly_allowed_is_allowed_by_each_rule_whatever_its_arguments(
    grant: Grant, op: str, args: dict[str, str]
) -> None:
    facts = granted(grant)
    plain = plainly_allowed(facts.grants, op)
    assert plain is plainly_allowed(facts.grants, op)
    assert decide(HERON, op, args, facts).allowed or not plain
    assert (objection(HERON, op, args, facts) is None) is decide(HERON, op, args, facts).allowed


class Anything(dict[str, str]):
    """Arguments of every name, none of which any grant has heard of."""

    def get(self, key: str, default: object = None) -> str:
        return f"no {key}"

    __getitem__ = get

    def __contains__(self, key: object) -> bool:
        return True


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("op", sorted({*vocabulary().known_ops, "deploy.status", "github.search"}))
def test_rules_look_at_the_arguments_of_those_ops_alone_of_which_it_is_known(op: str, role: Role) -> None:
    """A rule that looks at more would not be asked where the op is plainly allowed."""
    known = Grant(allow=("*",), recipients=("heron",), wakes=("heron",), box=("disk",))
    who, facts = Identity(role, "heron"), granted(known)
    alike = verdicts(who, op, {}, facts) == verdicts(who, op, Anything(), facts)
    assert alike is (op not in BY_ARGUMENTS)


def test_what_a_token_or_a_chain_forbids_is_not_plainly_allowed() -> None:
    stack = Grants().of(OPERATOR)
    assert plainly_allowed(stack, "tools.list")
    barred = Barred(mark="dm.read", where="here")
    for facts in (Facts(scopes=("dm.*",), grants=stack), Facts(barred=barred, grants=stack)):
        assert objection(OPERATOR, "tools.list", {}, facts) is not None
