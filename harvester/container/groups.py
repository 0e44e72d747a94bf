"""Groups: a chat, its folder, and the agent that is its identity with the daemon. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from messaging.container import is_folder

# Folders have no dots, so a dot tells a group's further lanes apart from groups (T-12).
LANE: Final = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One chat (`jid`) that is bound to a folder. Several chats may share one."""

    jid: str
    folder: str
    name: str
    trigger: str = ""
    is_main: bool = False
    requires_trigger: bool = True
    container_config: dict[str, Any] = field(default_factory=dict)

    @property
    def agent(self) -> str:
        """Its name with the daemon, where names are in small letters."""
        return agent_of(self.folder)

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


def agent_of(folder: str) -> str:
    """The agent that a folder's files are by."""
    return folder.lower()


def lane_of(folder: str, thread: str) -> str:
    """The lane for a thread of a group's agent: its own for the home, a further one for any other (T-12)."""
    return folder if thread == agent_of(folder) else f"{folder}{LANE}{thread}"


def folder_of(lane: str) -> str:
    """The group that a lane belongs to."""
    return lane.partition(LANE)[0]


@dataclass(frozen=True, slots=True)
class Source:
    """Whose directory a file lay in: all that is known of its author (T-38)."""

    folder: str
    is_main: bool

    @property
    def agent(self) -> str:
        """Its identity with the daemon."""
        return agent_of(self.folder)


class Groups:
    """All groups, as they are known at one instant."""

    def __init__(self, groups: Iterable[Group] = ()) -> None:
        self._by_jid = {group.jid: group for group in groups}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_jid.values())

    def of_jid(self, jid: str) -> Group | None:
        """The group of a chat."""
        return self._by_jid.get(jid)

    def of_agent(self, agent: str) -> Group | None:
        """A group of the agent."""
        return next((group for group in self if group.agent == agent), None)

    def source(self, lane: str) -> Source | None:
        """Who writes into the lane's directory; None where no group is registered."""
        folder = folder_of(lane)
        mine = [group for group in self if group.folder == folder and is_folder(folder)]
        return Source(folder, any(group.is_main for group in mine)) if mine else None
