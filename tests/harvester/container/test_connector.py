"""A conversation that lives in a directory: files in, follow-ups out, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harvester.connector import Outgoing
from harvester.container.connector import IpcThreads
from harvester.container.ledger import Lane
from harvester.harvest import Harvester
from messaging import AuthorKind, CallRequest, Message, MessageKind, Result
from messaging.ipc import Changes
from tests.harvester.container._host import FAMILY, Host


@pytest.fixture
def changes() -> Iterator[Changes]:
    with Changes(poll_s=0.01) as changes:
        yield changes


@pytest.fixture
def threads(host: Host, changes: Changes) -> IpcThreads:
    return host.threads(changes)


class Echo:
    """Runs calls by giving back their arguments."""

    def __init__(self) -> None:
        self.asked: list[CallRequest] = []

    def call(self, request: CallRequest) -> Result:
        self.asked.append(request)
        return Result(op=request.call.op, call_id=request.call.call_id, data=dict(request.call.args))


def system(host: Host, body: str, **more: Any) -> Message:
    return host.desk.memory.append("family", body, author="timer", author_kind=AuthorKind.SYSTEM, **more)


def test_a_directive_in_a_file_is_harvested_and_its_result_is_a_follow_up(
    host: Host, threads: IpcThreads
) -> None:
    # T-25, O-17
    host.say("family", FAMILY, 'look: [TOOL box.exec {"action":"health"}]')
    (reply,) = threads.replies(0, 0.0).messages
    caller = Echo()
    done = Harvester(caller=caller, threads=threads).harvest(reply)
    assert [(one.call.op, one.on_behalf_of, one.reply) for one in caller.asked] == [
        ("box.exec", "family", reply.id)
    ]
    assert done.posted is not None
    assert host.told("family") == [done.posted.body]
    assert threads.replies(reply.position, 0.0).messages == ()


def test_what_others_say_in_the_thread_reaches_the_agent_in_order_and_once(
    host: Host, threads: IpcThreads
) -> None:
    # T-25, T-28
    host.say("family", FAMILY, "my own words")
    host.desk.memory.append("family", "hello", author="local", author_kind=AuthorKind.HUMAN)
    threads.replies(0, 0.0)
    system(host, "wake up", kind=MessageKind.ENVELOPE)
    host.desk.memory.append("family", "psst", author="ada", kind=MessageKind.DM)
    again = host.again()
    with Changes() as changes:
        fresh = again.threads(changes)
        fresh.replies(0, 0.0)
        fresh._looked_at = float("-inf")
        fresh.replies(0, 0.0)
    assert again.told("family") == ["hello", "wake up", "Message from ada:\npsst"]


def test_the_question_for_a_verdict_reaches_the_agent_and_what_people_are_told_does_not(
    host: Host, threads: IpcThreads
) -> None:
    # O-84, O 7.6
    system(host, "Job job-1 (disks) still has no verdict.", kind=MessageKind.NOTICE)
    host.desk.memory.append(
        "family",
        "its container failed",
        author="harvester",
        author_kind=AuthorKind.SYSTEM,
        kind=MessageKind.NOTICE,
    )
    threads.replies(0, 0.0)
    assert host.told("family") == ["Job job-1 (disks) still has no verdict."]


def test_each_thread_beside_the_home_has_a_lane_of_its_own_and_answers_go_into_it(
    host: Host, threads: IpcThreads
) -> None:
    # T-12
    host.desk.memory.append(
        "family-run1", "wake up", author="timer", author_kind=AuthorKind.SYSTEM, kind=MessageKind.ENVELOPE
    )
    host.desk.memory.append("family-aside", "a word", author="local", author_kind=AuthorKind.HUMAN)
    threads.replies(0, 0.0)
    assert host.told("family") == []
    assert (host.told("family.family-run1"), host.told("family.family-aside")) == (["wake up"], ["a word"])
    assert [host.ledger.lane(f"family.family-{name}") for name in ("run1", "aside")] == [
        Lane("family-run1", is_task=True),
        Lane("family-aside", is_task=False),
    ]
    host.say("family.family-run1", FAMILY, "[RESULT] PASS")
    (reply,) = threads.replies(0, 0.0).messages
    assert (reply.thread, reply.author) == ("family-run1", "family")
    threads.post(Outgoing(thread=reply.thread, body="noted", in_reply_to=reply.id, key="k"))
    assert host.told("family.family-run1") == ["wake up", "noted"]


def test_replies_of_agents_that_have_no_directory_are_passed_over(host: Host, threads: IpcThreads) -> None:
    host.desk.memory.append("heron", "elsewhere", author="heron")
    assert threads.replies(0, 0.0) == ((), 1)


def test_a_result_is_told_once_however_often_it_is_posted(host: Host, threads: IpcThreads) -> None:
    # O-16
    host.say("family", FAMILY, "do")
    (reply,) = threads.replies(0, 0.0).messages
    outgoing = Outgoing(thread="family", body="done", in_reply_to=reply.id, key="result:1")
    assert threads.post(outgoing) == threads.post(outgoing)
    assert host.told("family") == ["done"]


def test_a_full_lane_is_told_later_and_nothing_is_lost(host: Host, changes: Changes) -> None:
    # T-28
    small = replace(host.follow_ups, most=2)
    threads = IpcThreads(host.desk.memory, host.sweep, small, changes)
    for number in range(3):
        system(host, str(number))
    threads.replies(0, 0.0)
    assert host.told("family") == ["0", "1"]
    waiting = host.ledger.unanswered("family")
    host.follow_ups.answered("family", [waiting[0].name])
    threads._looked_at = float("-inf")
    threads.replies(0, 0.0)
    assert [one.text for one in host.ledger.unanswered("family")] == ["1", "2"]


def test_a_link_in_the_place_of_input_keeps_nobody_else_waiting(
    host: Host, threads: IpcThreads, tmp_path: Path
) -> None:
    # T-40
    victim = tmp_path / "victim"
    victim.mkdir()
    place = host.layout.ipc("family") / "input"
    place.rmdir()
    place.symlink_to(victim)
    system(host, "for family")
    host.desk.memory.append("work", "for work", author="local", author_kind=AuthorKind.HUMAN)
    threads.replies(0, 0.0)
    assert host.told("work") == ["for work"]
    assert list(victim.iterdir()) == []


class Died(BaseException):
    """The host's process, at this instant."""


@pytest.mark.parametrize("step", ["add_follow_up", "mark", "set_position"])
@pytest.mark.parametrize("before", [True, False])
def test_a_host_that_dies_while_it_delivers_loses_and_repeats_nothing(
    host: Host, threads: IpcThreads, step: str, before: bool
) -> None:
    # T-28, T-42
    system(host, "one")
    act = getattr(host.ledger, step)

    def dies(*arguments: Any) -> Any:
        if before:
            raise Died
        act(*arguments)
        raise Died

    setattr(host.ledger, step, dies)
    with pytest.raises(Died):
        threads.replies(0, 0.0)
    taken = host.told("family")
    for file in (host.layout.ipc("family") / "input").glob("*.json"):
        file.unlink()  # the agent took it
    again = host.again()
    with Changes() as changes:
        fresh = again.threads(changes)
        fresh.replies(0, 0.0)
    assert [*taken, *again.told("family")] == ["one"]
