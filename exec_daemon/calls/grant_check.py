"""Do the rules of `box.toml` name ops that there are? Asked once, at start (D007)."""

from __future__ import annotations

from exec_daemon.access.grant_rules import strangers, written
from exec_daemon.access.policy import Policy
from exec_daemon.calls.registry import Registry
from exec_daemon.errors import RuleUnusable


def check_grants(policy: Policy, registry: Registry) -> None:
    """Raises `RuleUnusable` for the first glob that names no op."""
    known = registry.grantable
    for subject, grant in policy.grants.items():
        for wrong in strangers(subject, written(grant), known):
            raise RuleUnusable(f"box.toml: [grants]: {wrong} `box ops` lists the ops.", subject)
    chain = (*policy.chain.bar, *(entry.partition(":")[0] for entry in policy.chain.after))
    for wrong in strangers("chain", {"deny": chain}, known):
        raise RuleUnusable(f"box.toml: [chain]: {wrong.problem} `box ops` lists the ops.", "chain")
    for wrong in strangers("approvals", {"approval": policy.approvals.ops}, known):
        raise RuleUnusable(
            f"box.toml: [approvals] ops: {wrong.problem} `box ops` lists the ops.", "approvals"
        )
