"""What an adapter is: a reader of one line, and what its CLI needs besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from harvester.adapters.events import AgentEvent, CostUpdate, Output
from harvester.adapters.failure import FailureKind
from harvester.adapters.fields import Json, line_object, part
from harvester.adapters.usage import Spent

Read: TypeAlias = Callable[[str], tuple[AgentEvent, ...]]
# None: a line of a kind that the adapter does not know.
Rule: TypeAlias = Callable[[Json], Iterable[AgentEvent] | None]
Table: TypeAlias = Mapping[str, Rule]

# Anything that a CLI calls a session; what begins with a dash would be an option.
_SESSION: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,199}")
# What comes of a line that could report costs and does not.
_NO_COST: Final = (CostUpdate(Spent()), CostUpdate(Spent(), running=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """How a CLI is told to go on with a session: `words`, where `{}` is its id, behind the word `behind`.

    Without `behind` they go to the end of the command line.
    """

    words: tuple[str, ...]
    behind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One CLI. `read` is pure, takes any line without its end, and never raises (A-01)."""

    name: str
    command: str  # how the CLI is asked for the lines that `read` understands
    read: Read
    # Does its stream say how a turn ended? Where not, the exit code alone does.
    ends_turns: bool = True
    exit_codes: Mapping[int, FailureKind] = field(default_factory=dict)
    resume: Resume | None = None
    # Must the first line be `ready`, and soon (J-27)?
    introduces_itself: bool = False

    def resumed(self, argv: list[str], session: str) -> list[str]:
        """`argv`, made to go on with `session` (A-08); raises ValueError where that cannot be said."""
        if self.resume is None:
            raise ValueError(f"{self.name}: this CLI cannot be told to resume a session")
        if not _SESSION.fullmatch(session):
            raise ValueError(f"{session[:64]!r} is no session id")
        added = [word.format(session) for word in self.resume.words]
        if self.resume.behind is None:
            return argv + added
        if self.resume.behind not in argv:
            raise ValueError(f"{self.name}: its command line has no {self.resume.behind!r} to resume behind")
        at = argv.index(self.resume.behind) + 1
        return argv[:at] + added + argv[at:]


def silent(_line: Json) -> tuple[AgentEvent, ...]:
    """The rule for lines that say nothing that we need."""
    return ()


def json_lines(table: Table, key: str = "type") -> Read:
    """A reader of JSON objects, by the rule that `table` has for the object's `key`.

    What it has no rule for is kept raw, as is a line that is no object or has no such key.
    """

    def read(line: str) -> tuple[AgentEvent, ...]:
        found = line_object(line)
        name = found.get(key) if found else None
        if found is None or not isinstance(name, str):
            return (Output(line),) if line.strip() else ()
        events = table.get(name, _unknown)(found)
        if events is None:
            return (Output(line, structured=True),)
        return tuple(event for event in events if event not in _NO_COST)

    return read


def by(key: str, table: Table, *, inside: str | None = None) -> Rule:
    """A rule that looks up another key, of the object itself or of the one `inside` it."""

    def rule(found: Json) -> Iterable[AgentEvent] | None:
        looked_at = found if inside is None else part(found, inside)
        name = looked_at.get(key)
        return table.get(name, _unknown)(looked_at) if isinstance(name, str) else None

    return rule


def _unknown(_line: Json) -> None:
    return None
