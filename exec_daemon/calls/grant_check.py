"""Do the rules of `box.toml` name ops that there are? Asked once, at start (D007)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from exec_daemon.access.grant_rules import strangers, written
from exec_daemon.access.grants import matches
from exec_daemon.access.policy import Policy
from exec_daemon.calls.registry import Registry
from exec_daemon.errors import RuleUnusable

# What carries words of their caller to where they are read without the marks of this thread.
_CARRIERS: Final = ("dm.send", "cron.create", "cron.update", "swarm.spawn", "swarm.send")


def check_grants(policy: Policy, registry: Registry) -> None:
    """Raises `RuleUnusable` for the first glob that names no op."""
    for place, problem in _problems(policy, registry.grantable):
        text = f"box.toml: {place}: {problem} `python -m exec_daemon --list-ops` lists the ops."
        raise RuleUnusable(text, place)


def ways_around(policy: Policy, registry: Registry) -> list[str]:
    """Ops by which what was read gets into another thread or to another agent, and which are not barred."""
    chain = policy.chain
    if not chain.active:
        return []
    return [name for name in _CARRIERS if name in registry.grantable and not matches(chain.bar, name)]


def _problems(policy: Policy, known: list[str]) -> Iterator[tuple[str, str]]:
    for subject, grant in policy.grants.items():
        for wrong in strangers(subject, written(grant), known):
            yield "[grants]", str(wrong)
    chain = (*policy.chain.bar, *(entry.partition(":")[0] for entry in policy.chain.after))
    for place, globs in (("[chain]", chain), ("[approvals] ops", policy.approvals.ops)):
        for wrong in strangers(place, {"deny": globs}, known):
            yield place, wrong.problem
