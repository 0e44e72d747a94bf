"""`[grants]` and `[approvals]` in `box.toml`: who may do what (docs/grants.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exec_daemon.access.approval import ApprovalPolicy
from exec_daemon.access.grant_rules import Wrong, problems, read
from exec_daemon.access.policy import Policy

Tables = Mapping[str, Mapping[str, Any]]


def grants_problem(grants: Tables) -> Wrong | None:
    """What is wrong first, or None."""
    return next((wrong for subject, rules in grants.items() for wrong in problems(subject, rules)), None)


def policy(grants: Tables, approval: Sequence[str], expire_s: int) -> Policy:
    """The policy of tables in which nothing is wrong."""
    return Policy(
        grants={subject: read(rules) for subject, rules in grants.items()},
        approvals=ApprovalPolicy(ops=tuple(approval), expire_s=expire_s),
    )
