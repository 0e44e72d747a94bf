"""May this identity run this op with these arguments? Pure: no clock, no store, no transport (O-33, O-52).

`RULES` are asked in order; the first that objects decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rules import RULES, Facts, Question, Verdict, plainly_allowed
from exec_daemon.access.stack import Place, Stack, built_in
from messaging import Message


@dataclass(frozen=True, slots=True)
class Decision:
    """`rule` names what decided, `reason` is for the asker, `where` says where the rule stands."""

    allowed: bool
    rule: str
    reason: str
    where: str = ""


def _question(identity: Identity, op: str, args: Mapping[str, Any], facts: Facts) -> Question:
    stack = facts.grants if facts.grants.placed else Stack((built_in(identity.role),))
    return Question(identity, op, args, facts, stack)


def objection(identity: Identity, op: str, args: Mapping[str, Any], facts: Facts) -> Decision | None:
    """The decision against a call; None for one that is allowed, where nobody asks why."""
    if not facts.scopes and facts.barred is None and plainly_allowed(facts.grants, op):
        return None
    return _objection(_question(identity, op, args, facts))


def _objection(ask: Question) -> Decision | None:
    for rule, judge in RULES:
        verdict = judge(ask)
        if verdict.objection is not None:
            return Decision(allowed=False, rule=rule, reason=verdict.objection, where=verdict.where)
    return None


def decide(identity: Identity, op: str, args: Mapping[str, Any], facts: Facts) -> Decision:
    """The decision on one call. `args` may be empty where only the op is asked about."""
    ask = _question(identity, op, args, facts)
    return _objection(ask) or _allowed(ask)


def _allowed(ask: Question) -> Decision:
    allowing = ask.saying("allow")
    whose = "role" if allowing.place is Place.BUILT_IN else "grant of"
    reason = f"the {whose} {allowing.subject} includes {ask.op}"
    return Decision(allowed=True, rule="grant allow", reason=reason, where=allowing.at("allow"))


def verdicts(
    identity: Identity, op: str, args: Mapping[str, Any], facts: Facts
) -> tuple[tuple[str, Verdict], ...]:
    """What each rule says, also behind the one that decides: the answer of `box why`."""
    ask = _question(identity, op, args, facts)
    return tuple((rule, judge(ask)) for rule, judge in RULES)


@dataclass(frozen=True, slots=True)
class Claim:
    """A harvester's word that the agent `author` wrote the message `reply` in `thread`."""

    author: str
    thread: str | None
    reply: str | None


def decide_on_behalf(identity: Identity, claim: Claim, record: Message | None) -> Decision:
    """May `identity` act for the agent? Only the store's `record` of the reply can prove it (O-33)."""
    if identity.role is not Role.HARVESTER:
        return Decision(
            allowed=False, rule="behalf role", reason=f"{identity} may not act on behalf of others"
        )
    proven = (
        record is not None
        and record.is_reply
        and (record.author, record.thread, record.id) == (claim.author, claim.thread, claim.reply)
    )
    if not proven:
        reason = f"no reply {claim.reply} of {claim.author} is recorded in thread {claim.thread}"
        return Decision(allowed=False, rule="behalf record", reason=reason)
    return Decision(allowed=True, rule="behalf record", reason=f"{claim.author} wrote {claim.reply}")
