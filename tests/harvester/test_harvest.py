"""One reply through parse, calls, rendering and posting, against doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from harvester.client import DaemonClient
from harvester.connector import MemoryThreads
from harvester.errors import Unavailable
from harvester.harvest import Harvester, harvest_reply
from harvester.parse import Parsed
from harvester.rounds import KnownReplies
from messaging import AuthorKind, CallRequest, ErrorCode, Message, MessageKind, Result, error

SEND = '[TOOL dm.send {"to":"ada","text":"hi"}]'
LOOK = '[TOOL box.exec {"action":"disk"}]'


@dataclass
class Daemon:
    """Answers each call id once and from memory after that, as the journal does."""

    asked: list[CallRequest] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    answers: dict[str | None, Result] = field(default_factory=dict)
    ends: Callable[[CallRequest], Any] = lambda _request: {"done": True}

    def call(self, request: CallRequest) -> Result:
        self.asked.append(request)
        call = request.call
        if call.call_id not in self.answers:
            end = self.ends(request)
            self.ran.append(call.op)
            self.answers[call.call_id] = Result(op=call.op, job_id=f"j{len(self.ran)}", data=end)
        return self.answers[call.call_id]


def harvester(threads: MemoryThreads, daemon: Daemon, **settings: Any) -> Harvester:
    return Harvester(caller=daemon, threads=threads, **settings)


def posts(threads: MemoryThreads) -> list[Message]:
    return [one for one in threads.log if one.author_kind is AuthorKind.SYSTEM]


def test_calls_run_in_order_for_the_author_and_one_message_answers_in_the_thread() -> None:
    # O-07, O-17, O-33, O-84
    threads, daemon = MemoryThreads(), Daemon()
    reply = threads.append("ops", f"{LOOK}\n\n{SEND}", author="heron")
    done = harvester(threads, daemon).harvest(reply)
    assert daemon.ran == ["box.exec", "dm.send"]
    assert {(one.thread, one.reply, one.on_behalf_of) for one in daemon.asked} == {("ops", reply.id, "heron")}
    assert posts(threads) == [done.posted]
    assert done.posted is not None
    assert (done.posted.thread, done.posted.in_reply_to) == ("ops", reply.id)
    assert (done.posted.kind, done.posted.author_kind) == (MessageKind.RESULT, AuthorKind.SYSTEM)
    assert done.posted.body.index("#1 box.exec disk · ok") < done.posted.body.index("#2 dm.send ada · ok")


def test_calls_in_a_native_dialect_go_the_same_way_where_it_is_asked_for() -> None:
    # O-07, O-33
    threads, daemon = MemoryThreads(), Daemon()
    call = '<tool_call>{"name": "dm_send", "arguments": {"to": "ada", "text": "hi"}}</tool_call>'
    reply = threads.append("ops", f"<think>\n{SEND}\n</think>\nI tell her.\n{call}\n{LOOK}", author="heron")
    assert harvester(threads, daemon).harvest(reply).parsed.calls[0].call.op == "box.exec"
    daemon.ran.clear()
    harvester(threads, daemon, dialect="auto").harvest(reply)
    assert daemon.ran == ["dm.send", "box.exec"]


def test_a_reply_that_is_read_again_repeats_nothing() -> None:
    # O-16
    threads, daemon = MemoryThreads(), Daemon()
    reply = threads.append("ops", SEND)
    first = harvester(threads, daemon).harvest(reply)
    second = harvester(threads, daemon).harvest(reply)
    assert daemon.ran == ["dm.send"]
    assert first.posted == second.posted
    assert len(posts(threads)) == 1


@pytest.mark.parametrize("text", ["no calls here", '[TOOL dm.send {"to": ada}]', "[DM hello]", ""])
def test_prose_and_broken_calls_leave_no_trace(text: str) -> None:
    # O-10, O-09
    threads, daemon = MemoryThreads(), Daemon()
    done = harvester(threads, daemon).harvest(threads.append("ops", text))
    assert (done.results, done.posted, daemon.asked, len(threads.log)) == ((), None, [], 1)


@pytest.mark.parametrize(
    ("author_kind", "kind"),
    [
        (AuthorKind.SYSTEM, MessageKind.RESULT),
        (AuthorKind.SYSTEM, MessageKind.ENVELOPE),
        (AuthorKind.HUMAN, MessageKind.TEXT),
        (AuthorKind.AGENT, MessageKind.DM),
    ],
)
def test_only_an_agents_own_text_is_harvested(author_kind: AuthorKind, kind: MessageKind) -> None:
    # O-15
    threads, daemon = MemoryThreads(), Daemon()
    message = threads.append("ops", SEND, author_kind=author_kind, kind=kind)
    done = harvester(threads, daemon).harvest(message)
    assert (done.parsed.calls, daemon.asked, len(threads.log)) == ((), [], 1)


def test_a_refused_call_is_posted_and_the_next_one_still_runs() -> None:
    # O-13
    threads, daemon = MemoryThreads(), Daemon()
    reply = threads.append("ops", f"[TOOL no.such {{}}]\n\n{LOOK}")
    first = error(ErrorCode.UNKNOWN_OP, "there is no op no.such")
    call_id = harvester(threads, daemon)._parse(reply, reply.body).calls[0].call.call_id
    daemon.answers[call_id] = Result(op="no.such", error=first)
    done = harvester(threads, daemon).harvest(reply)
    assert [result.ok for result in done.results] == [False, True]
    assert done.posted is not None
    assert "UNKNOWN_OP: there is no op no.such" in done.posted.body


def test_nothing_is_posted_when_the_daemon_goes_away_between_two_calls() -> None:
    threads = MemoryThreads()
    up = False

    def ends(request: CallRequest) -> Any:
        if request.call.op == "dm.send" and not up:
            raise Unavailable("gone", url="https://box.test")
        return {}

    daemon = Daemon(ends=ends)
    reply = threads.append("ops", f"{LOOK}\n\n{SEND}")
    with pytest.raises(Unavailable):
        harvester(threads, daemon).harvest(reply)
    assert posts(threads) == []
    up = True
    harvester(threads, daemon).harvest(reply)
    assert daemon.ran == ["box.exec", "dm.send"]
    assert len(posts(threads)) == 1


def test_a_limit_alone_is_posted_too() -> None:
    # GRAMMAR 5.4
    threads, daemon = MemoryThreads(), Daemon()
    reply = threads.append("ops", "\n\n".join([LOOK] * 17))
    done = harvester(threads, daemon).harvest(reply)
    assert len(done.results) == 16
    assert done.posted is not None
    assert done.posted.body.split("\n")[-1].startswith("TOO_MANY_CALLS: ")


def rounds(threads: MemoryThreads, daemon: Daemon, count: int) -> list[Message]:
    """An agent that answers each result with another call."""
    replies = []
    for _ in range(count):
        replies.append(threads.append("ops", SEND))
        harvester(threads, daemon).harvest(replies[-1])
    return replies


def test_after_eight_rounds_nothing_is_called_and_one_notice_says_so() -> None:
    # O-16, O-84, GRAMMAR 5.4
    threads, daemon = MemoryThreads(), Daemon()
    rounds(threads, daemon, 11)
    assert {one.thread for one in posts(threads)} == {"ops"}
    assert len(daemon.ran) == 8
    assert len(posts(threads)) == 9
    assert posts(threads)[-1].body == (
        "TOO_MANY_ROUNDS: nothing was called: 8 rounds without a message from a person or a timer"
    )


@pytest.mark.parametrize(
    ("author_kind", "kind", "starts_anew"),
    [
        (AuthorKind.HUMAN, MessageKind.TEXT, True),
        (AuthorKind.SYSTEM, MessageKind.ENVELOPE, True),
        (AuthorKind.SYSTEM, MessageKind.WORK_ORDER, True),
        (AuthorKind.AGENT, MessageKind.DM, False),
        (AuthorKind.SYSTEM, MessageKind.NOTICE, False),
    ],
)
def test_a_person_or_a_timer_starts_a_new_count_another_agent_does_not(
    author_kind: AuthorKind, kind: MessageKind, starts_anew: bool
) -> None:
    # O-16, O-85: two agents that write to each other do not keep each other going
    threads, daemon = MemoryThreads(), Daemon()
    rounds(threads, daemon, 8)
    threads.append("ops", "go on", author_kind=author_kind, kind=kind)
    rounds(threads, daemon, 9)
    assert len(daemon.ran) == (16 if starts_anew else 8)
    assert len([one for one in posts(threads) if "TOO_MANY_ROUNDS" in one.body]) == 1


def test_replies_without_calls_and_other_threads_are_no_rounds() -> None:
    threads, daemon = MemoryThreads(), Daemon()
    for _ in range(300):
        threads.append("ops", "thinking aloud")
        threads.append("other", SEND)
    rounds(threads, daemon, 8)
    assert len(daemon.ran) == 8


def test_the_count_of_a_reply_is_the_same_when_it_is_read_again_later() -> None:
    threads, daemon = MemoryThreads(), Daemon()
    replies = rounds(threads, daemon, 9)
    threads.append("ops", "go on", author_kind=AuthorKind.HUMAN)
    assert harvester(threads, daemon).harvest(replies[8]).results == ()
    assert len(harvester(threads, daemon).harvest(replies[0]).results) == 1
    assert len(daemon.ran) == 8


def test_a_whole_harvest_through_the_client_asks_for_the_registry_first() -> None:
    # O-17
    asked: list[str] = []
    posted = {"id": "m2", "thread": "ops", "seq": 2, "position": 2, "author": "system", "created_at": "T"}
    posted |= {"author_kind": "system", "kind": "directive_result", "body": "…", "in_reply_to": "msg_1"}

    def daemon(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.method} {request.url.path}")
        if request.url.path == "/exec":
            return httpx2.Response(200, json={"ok": True, "op": "dm.send", "job_id": "j1", "result": {}})
        bodies = {"/ops": {"ops": []}, "/threads/ops/messages": posted}
        return httpx2.Response(201, json=bodies[request.url.path])

    reply = MemoryThreads().append("ops", SEND)
    with DaemonClient("https://box.test", "t", "unused", transport=httpx2.MockTransport(daemon)) as client:
        done = harvest_reply(client, reply)
    assert asked == ["GET /ops", "POST /exec", "POST /threads/ops/messages"]
    assert done.posted is not None
    assert done.posted.id == "m2"


def test_rounds_are_counted_over_pages_that_end_early() -> None:
    class Short(MemoryThreads):
        def messages(self, thread: str, after: int, limit: int) -> Sequence[Message]:
            return super().messages(thread, after, min(limit, 3))

    threads, daemon = Short(), Daemon()
    threads.append("ops", "go", author="ada", author_kind=AuthorKind.HUMAN)
    replies = [threads.append("ops", SEND) for _ in range(12)]
    done = [harvester(threads, daemon).harvest(reply) for reply in replies]
    assert [bool(one.results) for one in done] == [True] * 8 + [False] * 4


def test_no_reply_is_read_twice_to_count_rounds() -> None:
    read: list[str] = []

    class Reading(Harvester):
        def _parse(self, message: Message, text: str) -> Parsed:
            read.append(message.id)
            return super()._parse(message, text)

    threads, daemon, known = MemoryThreads(), Daemon(), KnownReplies()
    for number in range(30):
        reply = threads.append("ops", SEND if number % 10 == 9 else "prose")
        Reading(caller=daemon, threads=threads, known=known).harvest(reply)
    assert len(read) == 30


def test_only_the_newest_replies_are_known() -> None:
    known = KnownReplies(most=2)
    for reply in "abc":
        known.note(reply, calls=True)
    assert [known.calls(reply) for reply in "abc"] == [None, True, True]
