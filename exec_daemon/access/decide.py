"""May this identity run this op with these arguments? Pure: no clock, no store, no transport (O-33, O-52).

`RULES` are asked in order; the first that objects decides. The last asks for an allowance, so what no
rule speaks about is denied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exec_daemon.access.grants import ROLE_GRANTS, Grant, matches
from exec_daemon.access.identity import Identity, Role
from messaging import Message


@dataclass(frozen=True, slots=True)
class Decision:
    """`rule` names what decided, `reason` is for the asker."""

    allowed: bool
    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the decision may know beyond the call.

    `scopes` are the op globs that the asker's token is limited to, none when it is not. `owner` is the
    agent that a worker belongs to. `grant` stands in for the role's own where an operator set one.
    """

    scopes: tuple[str, ...] = ()
    owner: str | None = None
    grant: Grant | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    identity: Identity
    op: str
    args: Mapping[str, Any]
    facts: Facts
    grant: Grant


def _scope(ask: _Question) -> str | None:
    if not ask.facts.scopes or matches(ask.facts.scopes, ask.op):
        return None
    return f"the token is limited to {', '.join(ask.facts.scopes)}"


def _deny(ask: _Question) -> str | None:
    return f"{ask.op} is denied to {ask.identity}" if matches(ask.grant.deny, ask.op) else None


def _recipient(ask: _Question) -> str | None:
    recipient = ask.args.get("to")
    if ask.op != "dm.send" or recipient is None:
        return None
    mine = tuple(glob.replace("{owner}", ask.facts.owner or "") for glob in ask.grant.recipients)
    return None if matches(mine, str(recipient)) else f"{ask.identity} may not send to {recipient}"


def _allow(ask: _Question) -> str | None:
    if matches(ask.grant.allow, ask.op):
        return None
    return f"the role {ask.identity.role} does not include {ask.op}"


RULES: tuple[tuple[str, Callable[[_Question], str | None]], ...] = (
    ("token scope", _scope),
    ("grant deny", _deny),
    ("grant allow", _allow),
    ("grant recipients", _recipient),
)


def decide(identity: Identity, op: str, args: Mapping[str, Any], facts: Facts) -> Decision:
    """The decision on one call. `args` may be empty where only the op is asked about."""
    ask = _Question(identity, op, args, facts, facts.grant or ROLE_GRANTS[identity.role])
    for rule, objects in RULES:
        reason = objects(ask)
        if reason is not None:
            return Decision(allowed=False, rule=rule, reason=reason)
    return Decision(allowed=True, rule="grant allow", reason=f"the role {identity.role} includes {op}")


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
