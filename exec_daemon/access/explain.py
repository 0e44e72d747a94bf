"""The answer of `box why`: the decision, what each rule says, and where each of them stands. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exec_daemon.access.approval import marked_by
from exec_daemon.access.decide import decide, verdicts
from exec_daemon.access.identity import Identity
from exec_daemon.access.rules import Facts
from exec_daemon.access.stack import Stack, saying


def explained(
    identity: Identity, op: str, args: Mapping[str, Any], facts: Facts, *, marked: bool = False
) -> dict[str, Any]:
    """`{identity, op, allowed, rule, reason, where, approval, rules, rates}`.

    `approval` is the place of the rule by which a person has to approve the call; `marked` is the op's flag.
    """
    decision = decide(identity, op, args, facts)
    return {
        "identity": str(identity),
        "op": op,
        "allowed": decision.allowed,
        "rule": decision.rule,
        "reason": decision.reason,
        "where": decision.where,
        "approval": marked_by(identity, op, facts, marked=marked),
        "rules": [
            {"rule": rule, "holds": verdict.objection is None, "where": verdict.where}
            for rule, verdict in verdicts(identity, op, args, facts)
        ],
        "rates": _rates(facts.grants),
    }


def _rates(stack: Stack) -> list[dict[str, Any]]:
    """Each number that limits the identity, 0 for no limit."""
    found = [(key, saying(stack, key)) for key in ("reads_per_minute", "writes_per_minute")]
    plain = [
        {"what": key, "per_minute": getattr(placed.grant, key), "where": placed.at(key)}
        for key, placed in found
        if placed is not None
    ]
    by_glob = [placed for placed in (saying(stack, "rates"),) if placed is not None]
    return plain + [
        {"what": glob, "per_minute": number, "where": placed.at("rates")}
        for placed in by_glob
        for glob, number in (placed.grant.rates or {}).items()
    ]
