"""Chains of calls: who has read what others wrote may be kept from sending it on. Pure (docs/grants.md).

Each call may be allowed and the two together still be how data leaks: text that an agent reads talks it into
a call that it would not have made. What it may do after reading can depend on what it has read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from exec_daemon.access.grants import matches
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rules import Barred

# Who acts by what it reads. A person is warned, a harvester does nothing for itself.
READERS: Final = frozenset({Role.AGENT, Role.WORKER})


class Then(StrEnum):
    """What becomes of a call that a chain forbids."""

    REFUSE = "refuse"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainPolicy:
    """After a read that `after` names, what `bar` names is refused in that thread, or needs a person.

    `after` has globs over marks: the op's name, for `box.exec` with the action (`box.exec:logs`). `bar` has
    globs over names of ops. Without either, nothing is noted and nothing forbidden.
    """

    after: tuple[str, ...] = ()
    bar: tuple[str, ...] = ()
    then: Then = Then.REFUSE

    @property
    def active(self) -> bool:
        return bool(self.after and self.bar)


def watches(policy: ChainPolicy, identity: Identity) -> bool:
    """Does the policy speak of this identity?"""
    return policy.active and identity.role in READERS


def mark_of(policy: ChainPolicy, identity: Identity, op: str, args: Mapping[str, Any]) -> str | None:
    """The mark that this call leaves on its thread; None where the policy does not speak of it."""
    if not watches(policy, identity):
        return None
    mark = f"{op}:{args.get('action')}" if op == "box.exec" else op
    return mark if _names(policy.after, mark) else None


def _names(after: tuple[str, ...], mark: str) -> bool:
    """`box.exec` names all of its reads."""
    return matches(after, mark) or matches(after, mark.partition(":")[0])


def concerns(policy: ChainPolicy, identity: Identity, op: str) -> bool:
    """Can what was read before forbid this op to this identity?"""
    return watches(policy, identity) and matches(policy.bar, op)


def barred(policy: ChainPolicy, marks: Iterable[str]) -> Barred | None:
    """What forbids the op, by the marks of its thread; marks that the policy no longer names do not count."""
    found = next((mark for mark in marks if _names(policy.after, mark)), None)
    if found is None:
        return None
    return Barred(mark=found, where="box.toml: [chain] bar", asks=policy.then is Then.APPROVAL)
