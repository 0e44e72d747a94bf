"""Does a person have to approve this call first? Pure (O-36, docs/grants.md)."""

from __future__ import annotations

from dataclasses import dataclass

from exec_daemon.access.grants import matches
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rules import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """`ops` are globs over names of ops, for everybody but operators; a call waits `expire_s` seconds."""

    ops: tuple[str, ...] = ()
    # Long enough for a person who sleeps; what was asked is checked again when it is approved.
    expire_s: int = 24 * 3600


def marked_by(identity: Identity, op: str, facts: Facts, *, marked: bool) -> str | None:
    """The place of the rule that asks for a person's word; None where none does. Any rule is enough.

    An operator is such a person, so it asks nobody, unless a grant of operators says so: then another one
    has to approve. `marked` is the op's own flag.
    """
    if facts.barred is not None and facts.barred.asks:
        return facts.barred.where
    for placed in facts.grants.asking:
        if matches(placed.grant.approval, op):
            return placed.at("approval")
    return f"the op {op} itself" if marked and identity.role is not Role.OPERATOR else None
