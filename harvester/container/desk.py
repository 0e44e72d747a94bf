"""The host's desk at the daemon: what an agent did is recorded as its words, and run in its name.

The record is the proof. A file that lay in a group's directory becomes a message of the group's agent in
its thread; the daemon runs a call on behalf of that agent because its own record says who wrote (O-33). So
a person sees in the thread what was asked, and the agent's grants and rates decide.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Protocol

from harvester.client import DaemonClient
from harvester.container.authorise import Task
from harvester.container.calls import Errand
from harvester.errors import Refused
from harvester.inert import inert
from messaging import AuthorKind, Call, CallRequest, ErrorCode, Message, MessageKind, Result, Thread
from messaging.container import ContainerOutput


@dataclass(frozen=True, slots=True)
class Words:
    """What an agent wrote, and the key that makes its record happen once. `thread` "" is the agent's home.

    `about` is the id of a message that a notice is about.
    """

    agent: str
    text: str
    key: str
    thread: str = ""
    about: str | None = None


class Desk(Protocol):
    """Methods raise `ClientError`; whatever is asked again with the same key happens once."""

    def welcome(self, agent: str) -> None:
        """Make the agent known."""
        ...

    def record(self, words: Words) -> Message:
        """A reply of the agent, whose directives are harvested."""
        ...

    def notice(self, words: Words) -> None:
        """Say in the agent's thread, as the system, what a person should know."""
        ...

    def tell_senders(self, messages: Sequence[str], text: str) -> None:
        """Say it in the home threads of the agents that sent these messages, once for each message."""
        ...

    def spent(self, agent: str, key: str, output: ContainerOutput) -> None:
        """Count what a turn used."""
        ...

    def run(self, agent: str, errand: Errand, key: str) -> Result:
        """Do what the agent's file asks for."""
        ...

    def tasks(self) -> Sequence[Task]:
        """All timers."""
        ...

    def threads(self, agent: str) -> Sequence[Thread]:
        """The threads that the agent answers in, the last active ones."""
        ...


# How the daemon names what a turn used.
_COUNTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cache_read_tokens": "cache_read_input_tokens",
        "cache_write_tokens": "cache_creation_input_tokens",
    }
)


class DaemonDesk:
    """`client` bears a harvester's token, `operator` an operator's: it lists timers and registers agents."""

    def __init__(self, client: DaemonClient, operator: DaemonClient) -> None:
        self._client = client
        self._operator = operator

    def welcome(self, agent: str) -> None:
        """Registering twice is registering once."""
        self._operator.add_agent(agent)

    def record(self, words: Words) -> Message:
        """Into the agent's thread. Home threads have the agent's name: a folder's name has no dots."""
        thread = words.thread or words.agent
        return self._client.post_message(thread, words.text, as_agent=words.agent, key=words.key).message

    def notice(self, words: Words) -> None:
        """Not a reply: nothing in it is harvested."""
        self._client.post_message(
            words.thread or words.agent,
            words.text,
            kind=MessageKind.NOTICE,
            in_reply_to=words.about,
            key=words.key,
        )

    def tell_senders(self, messages: Sequence[str], text: str) -> None:
        """Home threads have their agents' names, unless an operator named another: that one is not told."""
        for message in map(self._client.message, messages):
            if message.kind is MessageKind.DM and message.author_kind is AuthorKind.AGENT:
                said, key = f"{text} It was {message.id}.", f"undelivered:{message.id}"
                with suppress(Refused):
                    self._client.post_message(message.author, said, kind=MessageKind.NOTICE, key=key)

    def spent(self, agent: str, key: str, output: ContainerOutput) -> None:
        """For `box read usage`. A turn that reports nothing is not counted."""
        if output.usage is None:
            return
        counts = {name: getattr(output.usage, theirs) for name, theirs in _COUNTS.items()}
        known = {name: count for name, count in counts.items() if count is not None}
        session = {"session": output.new_session_id[:200]} if output.new_session_id else {}
        self._client.add_run(agent, key, adapter="container", **session, **known)

    def run(self, agent: str, errand: Errand, key: str) -> Result:
        """On behalf of the agent, with the record of its request as the proof."""
        call = replace(errand.call, call_id=key)
        if errand.as_operator:
            return self._operator.call(CallRequest(call=call))
        proof = self.record(Words(agent, _shown(call), f"{key} asked"))
        request = CallRequest(call=call, thread=proof.thread, reply=proof.id, on_behalf_of=agent)
        return self._client.call(request)

    def tasks(self) -> Sequence[Task]:
        """As `cron.list` has them; none where the daemon keeps no timers."""
        result = self._operator.call(CallRequest(call=Call("cron.list", {"limit": _MOST_TIMERS})))
        if result.error is None:
            return tasks_of(result.data)
        if result.error.code is ErrorCode.UNKNOWN_OP:
            return ()
        raise Refused(result.error, url=self._operator.url)

    def threads(self, agent: str) -> Sequence[Thread]:
        """Of the record."""
        return self._client.threads(agent)


@dataclass(frozen=True, slots=True)
class FreshDesk:
    """A desk that is opened for each errand: a daemon that was started again listens elsewhere."""

    open: Callable[[], AbstractContextManager[Desk]]

    def welcome(self, agent: str) -> None:
        """As the desk does it."""
        with self.open() as desk:
            desk.welcome(agent)

    def record(self, words: Words) -> Message:
        """As the desk does it."""
        with self.open() as desk:
            return desk.record(words)

    def notice(self, words: Words) -> None:
        """As the desk does it."""
        with self.open() as desk:
            desk.notice(words)

    def tell_senders(self, messages: Sequence[str], text: str) -> None:
        """As the desk does it."""
        with self.open() as desk:
            desk.tell_senders(messages, text)

    def spent(self, agent: str, key: str, output: ContainerOutput) -> None:
        """As the desk does it."""
        with self.open() as desk:
            desk.spent(agent, key, output)

    def run(self, agent: str, errand: Errand, key: str) -> Result:
        """As the desk does it."""
        with self.open() as desk:
            return desk.run(agent, errand, key)

    def tasks(self) -> Sequence[Task]:
        """As the desk does it."""
        with self.open() as desk:
            return desk.tasks()

    def threads(self, agent: str) -> Sequence[Thread]:
        """As the desk does it."""
        with self.open() as desk:
            return desk.threads(agent)


# As identities are written; who is none of these is a person.
_AGENT: Final = "agent/"
# What `cron.list` gives at most.
_MOST_TIMERS: Final = 500


def tasks_of(listed: Any) -> tuple[Task, ...]:
    """The rows of `cron.list`."""
    rows = listed.get("timers") if isinstance(listed, dict) else None
    return tuple(_task(row) for row in rows or () if isinstance(row, dict) and row.get("id"))


def _task(row: Mapping[str, Any]) -> Task:
    made_by = str(row.get("created_by"))
    maker = made_by.removeprefix(_AGENT) if made_by.startswith(_AGENT) else None
    name, agent = str(row.get("name") or ""), str(row.get("agent") or "")
    return Task(id=str(row["id"]), name=name, agent=agent, maker=maker, row=row)


def _shown(call: Call) -> str:
    """The request as a person reads it in the thread: nothing in it is a directive, wherever it is quoted."""
    return inert(json.dumps({"ipc": call.op, **call.args}, ensure_ascii=False, indent=2))
