"""The grants that hold for an identity, the strongest first, each with the place where it stands. Pure.

For each field the first grant that says something decides: identity before role, and at each of the two the
store before `box.toml`; what is built in comes last. `deny` and `approval` are no such fields: any grant of
the stack that names an op decides, so that what one place forbids no other can permit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.access.grants import ROLE_GRANTS, ROLE_RATES, Grant, Rates
from exec_daemon.access.identity import Identity, Role


class Place(StrEnum):
    """Where a grant was written down."""

    STORE = "store"
    FILE = "box.toml"
    POLICY = "policy"
    BUILT_IN = "built-in"


# How a person finds the key again. No path: what an agent reads names none (D138).
_WRITTEN: Final[Mapping[Place, Callable[[str, str], str]]] = MappingProxyType(
    {
        Place.STORE: lambda subject, key: f"store: grant {subject}, {key}",
        Place.FILE: lambda subject, key: f"box.toml: [grants.{_toml_key(subject)}] {key}",
        Place.POLICY: lambda _subject, _key: "box.toml: [approvals] ops",
        Place.BUILT_IN: lambda subject, key: f"built-in: role {subject}, {key}",
    }
)


def _toml_key(subject: str) -> str:
    return f'"{subject}"' if "/" in subject else subject


@dataclass(frozen=True, slots=True)
class Placed:
    """A grant, of whom it speaks (`agent`, `agent/heron`) and where it stands."""

    place: Place
    subject: str
    grant: Grant

    def at(self, key: str) -> str:
        """Where one key of it stands, for a person: `box.toml: [grants.agent] deny`."""
        return _WRITTEN[self.place](self.subject, key)


# The keys of which the first grant that says something decides; of the others any grant does.
_FIRST: Final = tuple(key.name for key in fields(Grant) if key.name not in ("deny", "approval"))


@dataclass(frozen=True, slots=True)
class Stack:
    """The grants of one identity, the strongest first. Put together once, since each call looks at it.

    `said` has by key the first grant that says something; `denying` and `asking` those that name ops at all.
    `rates` are the reads and writes a minute, each number by the first grant that says one.
    """

    placed: tuple[Placed, ...] = ()
    said: Mapping[str, Placed] = field(init=False)
    denying: tuple[Placed, ...] = field(init=False)
    asking: tuple[Placed, ...] = field(init=False)
    rates: Rates = field(init=False)
    # What `rules.plainly_allowed` has found out; with other grants there is another stack.
    plainly: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        weakest_first = [
            (key, placed)
            for placed in reversed(self.placed)
            for key in _FIRST
            if getattr(placed.grant, key) is not None
        ]
        object.__setattr__(self, "said", dict(weakest_first))
        object.__setattr__(self, "denying", tuple(one for one in self.placed if one.grant.deny))
        object.__setattr__(self, "asking", tuple(one for one in self.placed if one.grant.approval))
        reads, writes = (self._number(key) for key in ("reads_per_minute", "writes_per_minute"))
        object.__setattr__(self, "rates", Rates(reads_per_min=reads, writes_per_min=writes))

    def _number(self, key: str) -> int:
        placed = self.said.get(key)
        return 0 if placed is None else int(getattr(placed.grant, key))


NO_GRANTS: Final = Stack()


def saying(stack: Stack, key: str) -> Placed | None:
    """The first grant that says something about `key`."""
    return stack.said.get(key)


def built_in(role: Role, rates: Mapping[Role, Rates] = ROLE_RATES) -> Placed:
    """What the role has without anybody's word."""
    theirs = rates.get(role, Rates())
    numbers: dict[str, Any] = {
        "reads_per_minute": theirs.reads_per_min,
        "writes_per_minute": theirs.writes_per_min,
        "rates": MappingProxyType({}),
    }
    return Placed(Place.BUILT_IN, str(role), replace(ROLE_GRANTS[role], **numbers))


class Grants:
    """All grants of a daemon. Those of the store are replaced while it runs.

    `approval` are the ops that a person approves for everybody who is no operator.
    """

    def __init__(
        self,
        file: Mapping[str, Grant] = MappingProxyType({}),
        rates: Mapping[Role, Rates] = ROLE_RATES,
        approval: tuple[str, ...] = (),
    ) -> None:
        self._rates = rates
        self._asking = Grant(approval=approval)
        self._placed = {Place.FILE: dict(file), Place.STORE: dict[str, Grant]()}
        self._stacks: dict[Identity, Stack] = {}

    def replace_stored(self, stored: Mapping[str, Grant]) -> None:
        """From now on these are what the store says."""
        self._placed[Place.STORE] = dict(stored)
        self._stacks.clear()

    def of(self, identity: Identity) -> Stack:
        """The stack of an identity."""
        stack = self._stacks.get(identity)
        if stack is None:
            if len(self._stacks) >= _MOST_STACKS:
                self._stacks.clear()
            stack = self._stacks[identity] = self._stacked(identity)
        return stack

    def everything(self) -> tuple[Placed, ...]:
        """All that was written down, of the store first, then what is built in."""
        written = [
            Placed(place, subject, grant)
            for place in (Place.STORE, Place.FILE)
            for subject, grant in sorted(self._placed[place].items())
        ]
        return (*written, *(built_in(role, self._rates) for role in Role))

    def _stacked(self, identity: Identity) -> Stack:
        written = [
            Placed(place, subject, self._placed[place][subject])
            for subject in (str(identity), str(identity.role))
            for place in (Place.STORE, Place.FILE)
            if subject in self._placed[place]
        ]
        asking = () if identity.role is Role.OPERATOR else (Placed(Place.POLICY, "", self._asking),)
        return Stack((*written, *asking, built_in(identity.role, self._rates)))


# More identities than any one machine has; then the cache starts over.
_MOST_STACKS: Final = 10_000
