"""What every connector keeps: the order of replies, and that a key makes a post happen once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harvester.connector import Connector, DaemonThreads, MemoryThreads, Outgoing
from harvester.container.groups import Group
from messaging import AuthorKind, Message, MessageKind
from messaging.ipc import Changes
from tests.harvester.container._host import Host
from tests.patience import AGES_S, PATIENCE_S, meanwhile
from tests.soak._parts import Parts


@dataclass(frozen=True)
class Place:
    """A connector, and how an agent (`reply`) or a person (`remark`) writes into the threads behind it."""

    threads: Connector
    reply: Callable[[str, str], Message]
    remark: Callable[[str, str], object]
    # A reply that nobody has looked for yet, where that is not the same; may be made by another thread.
    write: Callable[[str, str], object] | None = None


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    with Parts(tmp_path_factory.mktemp("connector"), watching=False) as parts:
        with parts.client() as client:
            for name in ("heron", "ada"):
                client.add_agent(name)
        yield parts


def in_a_directory(root: Path) -> Iterator[Place]:
    """Replies are files that an agent writes; what a person says stands in the record."""
    host = Host(root)
    for name in ("heron", "ada"):
        host.register(Group(jid=f"tg:{name}", folder=name, name=name))

    def reply(thread: str, body: str) -> Message:
        host.say(thread, f"tg:{thread}", body)
        threads.replies(0, 0.0)
        return [one for one in host.desk.memory.log if one.is_reply][-1]

    with Changes() as changes:
        threads = host.threads(changes)
        yield Place(
            threads,
            reply,
            lambda thread, body: host.desk.memory.append(
                thread, body, author="local", author_kind=AuthorKind.HUMAN
            ),
            lambda thread, body: host.say(thread, f"tg:{thread}", body),
        )
    host.ledger.close()


@pytest.fixture(params=["memory", "daemon", "directory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "directory":
        yield from in_a_directory(tmp_path)
        return
    if request.param == "memory":
        memory = MemoryThreads()
        yield Place(
            memory,
            lambda thread, body: memory.append(thread, body, author=thread),
            lambda thread, body: memory.append(thread, body, author="local", author_kind=AuthorKind.HUMAN),
        )
        return
    parts: Parts = request.getfixturevalue("daemon")
    with parts.client() as operator, parts.client("harvester") as harvester:
        yield Place(
            DaemonThreads(harvester, request.node.name.split("[")[0]),
            lambda thread, body: operator.post_message(thread, body, as_agent=thread).message,
            operator.post_message,
        )


def behind(place: Place) -> int:
    """The position behind everything that other tests have written."""
    position = -1
    while (found := place.threads.replies(max(0, position), 0.0)).position != position:
        position = found.position
    return position


def result_of(reply: Message, body: str = "done", key: str | None = None) -> Outgoing:
    return Outgoing(thread=reply.thread, body=body, in_reply_to=reply.id, key=key or f"result:{reply.id}")


def test_replies_of_all_threads_come_in_one_order_and_remarks_do_not(place: Place) -> None:
    # O-15
    start = behind(place)
    first = place.reply("heron", "one")
    place.remark("heron", "a person's word")
    second = place.reply("ada", "two")
    found = place.threads.replies(start, 0.0)
    assert [(one.id, one.thread, one.body) for one in found.messages] == [
        (first.id, "heron", "one"),
        (second.id, "ada", "two"),
    ]
    assert first.position < second.position <= found.position
    assert place.threads.replies(first.position, 0.0).messages == (second,)
    assert place.threads.replies(found.position, 0.0).messages == ()


def test_waiting_ends_when_a_reply_arrives(place: Place) -> None:
    start = behind(place)
    began = time.monotonic()
    with meanwhile(0.1, lambda: (place.write or place.reply)("heron", "late")):
        found = place.threads.replies(start, AGES_S)
    assert [one.body for one in found.messages] == ["late"]
    assert time.monotonic() - began < PATIENCE_S


def test_a_post_is_by_the_system_and_answers_its_reply(place: Place) -> None:
    # O-17, O-18
    reply = place.reply("heron", "do")
    posted = place.threads.post(result_of(reply))
    assert (posted.author_kind, posted.kind, posted.body) == (AuthorKind.SYSTEM, MessageKind.RESULT, "done")
    assert (posted.thread, posted.in_reply_to, posted.is_reply) == ("heron", reply.id, False)


def test_a_second_post_with_the_key_gives_back_the_first(place: Place) -> None:
    # O-16
    reply = place.reply("heron", "do")
    first = place.threads.post(result_of(reply))
    assert place.threads.post(result_of(reply, "done, told otherwise")) == first
    other = place.threads.post(result_of(reply, key="another"))
    found = place.threads.messages("heron", reply.seq, 10)
    assert [one.id for one in found] == [first.id, other.id]


def test_a_page_of_a_thread_begins_behind_a_message_and_ends_at_the_limit(place: Place) -> None:
    replies = [place.reply("heron", str(number)) for number in range(3)]
    page = place.threads.messages("heron", replies[0].seq, 1)
    assert [one.id for one in page] == [replies[1].id]


def test_a_cursor_begins_at_nothing_and_is_kept(place: Place) -> None:
    assert place.threads.cursor() == 0
    place.threads.set_cursor(7)
    assert place.threads.cursor() == 7
