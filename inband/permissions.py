"""`[grants]`, `[approvals]` and `[chain]` in `box.toml`: who may do what (docs/grants.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from exec_daemon.access.approval import ApprovalPolicy
from exec_daemon.access.chain import ChainPolicy, Then
from exec_daemon.access.grant_rules import Wrong, problems, read
from exec_daemon.access.grants import matches
from exec_daemon.access.policy import Policy
from patterns import vocabulary

Tables = Mapping[str, Mapping[str, Any]]


class Named(Protocol):
    """Settings by name."""

    def __getitem__(self, name: str) -> Any: ...


def grants_problem(grants: Tables) -> Wrong | None:
    """What is wrong first, or None."""
    return next((wrong for subject, rules in grants.items() for wrong in problems(subject, rules)), None)


def after_problem(after: Sequence[str]) -> str | None:
    """The first entry that names a read of the box which does not exist."""
    for entry in after:
        op, _, action = entry.partition(":")
        known = op == "box.exec" and any(matches((action,), name) for name in vocabulary().box_actions)
        if action and not known:
            return f"{entry!r} is no read; write an op, or box.exec:ACTION with one of the 27 actions"
    return None


def then_problem(then: str) -> str | None:
    """What `then` must be."""
    return None if then in tuple(Then) else f"must be one of {', '.join(Then)}, not {then!r}"


def policy(settings: Named) -> Policy:
    """The policy of settings in which nothing is wrong."""
    return Policy(
        grants={subject: read(rules) for subject, rules in settings["grants"].items()},
        approvals=ApprovalPolicy(
            ops=tuple(settings["approvals.ops"]), expire_s=settings["approvals.expire_s"]
        ),
        chain=ChainPolicy(
            after=tuple(settings["chain.after"]),
            bar=tuple(settings["chain.bar"]),
            then=Then(settings["chain.then"]),
        ),
    )


def pins_problem(pins: Mapping[str, str]) -> str | None:
    """The first pin that is no digest."""
    wrong = next((op for op, digest in pins.items() if not re.fullmatch(r"[0-9a-f]{64}", digest)), None)
    if wrong is None:
        return None
    return f"`{wrong}` must be 64 hexadecimal digits; `box ops --format pins` prints them"
