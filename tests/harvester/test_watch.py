"""The watcher's parts against doubles: order, progress, and what happens when something fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvester.client import DaemonClient, Replies, RetryPolicy
from harvester.connector import MemoryThreads, Outgoing
from harvester.errors import Refused, Unauthenticated, Unavailable
from harvester.harvest import Harvester
from harvester.lanes import Lanes
from harvester.progress import Progress
from harvester.session import Session
from harvester.watch import Watcher
from messaging import CallRequest, ErrorCode, Message, Result, error
from tests.patience import PATIENCE_S

URL = "https://box.test"
# Longer than anything here takes; a test that reaches it has failed.


def send(text: str) -> str:
    return f'[TOOL dm.send {{"to":"ada","text":"{text}"}}]'


@dataclass
class Daemon:
    """Runs each call id once; `before` may raise or wait."""

    before: Callable[[CallRequest], None] = lambda _request: None
    ran: list[str] = field(default_factory=list)
    answers: dict[str | None, Result] = field(default_factory=dict)

    def call(self, request: CallRequest) -> Result:
        self.before(request)
        if request.call.call_id not in self.answers:
            self.ran.append(request.call.args["text"])
            self.answers[request.call.call_id] = Result(op=request.call.op, data={})
        return self.answers[request.call.call_id]


class Stopping(MemoryThreads):
    """Sets its event as soon as everything that was appended is behind the cursor."""

    def __init__(self, stop: threading.Event) -> None:
        super().__init__()
        self.stop = stop
        self.last_reply = 0

    def reply(self, thread: str, body: str) -> Message:
        message = self.append(thread, body)
        self.last_reply = message.position
        return message

    def replies(self, after: int, wait_s: float) -> Replies:
        assert wait_s <= PATIENCE_S
        return super().replies(after, min(wait_s, 0.01))

    def set_cursor(self, position: int) -> None:
        assert position > self.position
        super().set_cursor(position)
        if position >= self.last_reply:
            self.stop.set()


def watch(threads: Stopping, daemon: Daemon, workers: int = 3) -> None:
    fresh = Harvester(caller=daemon, threads=threads)
    Session(threads, lambda: fresh, workers=workers, wait_s=0.01).run(threads.stop)


@pytest.fixture
def threads() -> Stopping:
    return Stopping(threading.Event())


def results(threads: MemoryThreads) -> list[str | None]:
    return [one.in_reply_to for one in threads.log if not one.is_reply]


def test_every_reply_is_answered_once_and_the_cursor_ends_behind_the_last(threads: Stopping) -> None:
    daemon = Daemon()
    replies = [threads.reply(f"t{number % 3}", send(str(number))) for number in range(9)]
    watch(threads, daemon)
    assert sorted(daemon.ran) == sorted(str(number) for number in range(9))
    assert sorted(filter(None, results(threads))) == sorted(one.id for one in replies)
    assert threads.position >= replies[-1].position


def test_a_thread_keeps_its_order_while_another_waits(threads: Stopping) -> None:
    gate = threading.Event()

    def before(request: CallRequest) -> None:
        if request.call.args["text"] == "slow":
            assert gate.wait(PATIENCE_S)
        if request.call.args["text"] == "b2":
            gate.set()

    daemon = Daemon(before)
    for thread, text in (("a", "slow"), ("a", "a2"), ("b", "b1"), ("b", "b2")):
        threads.reply(thread, send(text))
    watch(threads, daemon)
    assert [text for text in daemon.ran if text in ("slow", "a2")] == ["slow", "a2"]
    assert [text for text in daemon.ran if text in ("b1", "b2")] == ["b1", "b2"]


def test_a_reply_on_which_we_fail_is_logged_told_and_left_behind(
    threads: Stopping, caplog: pytest.LogCaptureFixture
) -> None:
    def before(request: CallRequest) -> None:
        if request.call.args["text"] == "poison":
            raise ZeroDivisionError

    daemon = Daemon(before)
    bad = threads.reply("a", send("poison"))
    threads.reply("a", send("good"))
    with caplog.at_level(logging.INFO):
        watch(threads, daemon)
    assert daemon.ran == ["good"]
    told = next(one for one in threads.log if one.in_reply_to == bad.id)
    assert told.body.startswith("INTERNAL_ERROR: this reply could not be harvested")
    assert f"reply {bad.id} in thread a: not harvested" in caplog.text
    assert "1 calls, 0 failed" in caplog.text
    assert '"to":"ada"' not in caplog.text


def test_a_thread_that_takes_no_messages_does_not_hold_up_the_others() -> None:
    class Closed(Stopping):
        def post(self, outgoing: Outgoing) -> Message:
            if outgoing.thread == "closed":
                raise Refused(error(ErrorCode.NOT_FOUND, "no such thread"), url=URL)
            return super().post(outgoing)

    closed, daemon = Closed(threading.Event()), Daemon()
    closed.reply("closed", send("x"))
    closed.reply("open", send("y"))
    watch(closed, daemon)
    assert sorted(daemon.ran) == ["x", "y"]
    assert len(results(closed)) == 1


@pytest.mark.parametrize(
    "failure",
    [
        Unavailable("gone", url=URL),
        Refused(error(ErrorCode.BUSY, "later"), url=URL),
        Unauthenticated("expired", url=URL),
    ],
)
def test_a_connection_that_ends_leaves_the_rest_for_the_next_session(
    threads: Stopping, failure: Exception
) -> None:
    down = True

    def before(request: CallRequest) -> None:
        if down and request.call.args["text"] == "2":
            raise failure

    daemon = Daemon(before)
    for number in range(1, 4):
        threads.reply("a", send(str(number)))
    with pytest.raises(type(failure)):
        watch(threads, daemon)
    assert (daemon.ran, threads.position) == (["1"], 1)
    down = False
    watch(threads, daemon)
    assert daemon.ran == ["1", "2", "3"]
    assert len(results(threads)) == 3


def test_a_backlog_is_read_no_further_ahead_than_memory_allows(threads: Stopping) -> None:
    daemon = Daemon()
    for number in range(350):
        threads.reply(f"t{number}", send(str(number)))
    watch(threads, daemon)
    assert len(daemon.ran) == 350


@given(st.permutations(range(1, 7)))
def test_progress_moves_over_finished_replies_only(order: list[int]) -> None:
    progress = Progress(0)
    for position in range(1, 7):
        progress.begin(position * 10)
    progress.skip_to(99)
    for index, number in enumerate(order):
        open_ones = [10 * other for other in order[index:]]
        assert progress.done == min(open_ones) - 1
        assert progress.unfinished == len(open_ones)
        progress.finish(number * 10)
    assert progress.done == progress.read == 99


def test_lanes_drop_what_has_not_begun_when_they_close() -> None:
    ran: list[int] = []
    begun, gate = threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        assert gate.wait(PATIENCE_S)
        ran.append(1)

    with Lanes(1) as lanes:
        lanes.put("a", first)
        lanes.put("a", lambda: ran.append(2))
        lanes.put("b", lambda: ran.append(3))
        assert begun.wait(PATIENCE_S)
        threading.Timer(0.05, gate.set).start()
    assert ran[0] == 1
    assert 2 not in ran


class Api:
    """Enough of the daemon's API for a watcher without replies; fails as scripted."""

    def __init__(self, stop: threading.Event, *failures: Exception | httpx2.Response) -> None:
        self.stop = stop
        self.failures = list(failures)
        self.polls = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if self.failures:
            failure = self.failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        if request.url.path == "/replies":
            self.polls += 1
            self.stop.set()
            return httpx2.Response(200, json={"replies": [], "position": 5})
        return httpx2.Response(200, json={"name": "watcher", "position": 0})


def watcher(api: Api) -> Watcher:
    def connect() -> DaemonClient:
        transport = httpx2.MockTransport(api)
        return DaemonClient(URL, "token", "unused", retry=RetryPolicy(attempts=1), transport=transport)

    return Watcher(connect, wait_s=0.0, uniform=lambda _low, _high: 0.0)


def test_a_daemon_that_is_away_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    stop = threading.Event()
    api = Api(stop, *[httpx2.ConnectError("down")] * 9)
    watcher(api).run(stop)
    assert api.polls == 1
    assert caplog.text.count("waiting for the daemon") == 1  # not for each attempt


def test_a_daemon_that_only_starts_later_is_not_worth_a_word(caplog: pytest.LogCaptureFixture) -> None:
    stop = threading.Event()
    watcher(Api(stop, *[httpx2.ConnectError("down")] * 4)).run(stop)
    assert caplog.text == ""


def test_a_token_that_is_not_taken_ends_the_watcher() -> None:
    stop = threading.Event()
    refused = httpx2.Response(401, json={"code": "UNAUTHENTICATED", "detail": "expired"})
    with pytest.raises(Unauthenticated):
        watcher(Api(stop, refused)).run(stop)


def test_a_watcher_that_is_told_to_stop_does_not_begin() -> None:
    stop = threading.Event()
    stop.set()
    api = Api(stop)
    watcher(api).run(stop)
    assert api.polls == 0


def test_a_bug_in_a_notice_ends_the_session_instead_of_hanging_it() -> None:
    class Torn(Stopping):
        def post(self, outgoing: Outgoing) -> Message:
            raise RuntimeError("torn")

    torn = Torn(threading.Event())
    torn.reply("a", send("x"))
    with pytest.raises(RuntimeError, match="torn"):
        watch(torn, Daemon())
