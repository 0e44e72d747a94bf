"""The callback sink against receivers that behave as networks do (M-26, M-31, M-35 to M-43)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from messaging import verify, verify_webhook
from messaging.sinks import (
    Callback,
    CallbackSink,
    Retries,
    SinkBroken,
    Spool,
    SpoolingSink,
    Undelivered,
    resend,
)
from tests.integration._receiver import Answer, Asked, Receiver, nobody
from tests.messaging._events import event, story

Answers = Callable[[int, Asked], Answer]


def scripted(*answers: Answer) -> Answers:
    """The n-th request gets the n-th answer, later ones 202."""
    return lambda number, _: answers[number - 1] if number <= len(answers) else Answer()


class Trial:
    """A sink that leads to `receiver`; the pauses that it made are noted, not waited for."""

    def __init__(self, receiver: Receiver, **settings: object) -> None:
        self.receiver = receiver
        self.pauses: list[float] = []
        self.sink = CallbackSink(
            Callback(url=receiver.url, **settings),  # type: ignore[arg-type]
            sleep=self._pause,
            uniform=lambda _low, high: high,
        )

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    @property
    def keys(self) -> list[str]:
        return [asked.headers["idempotency-key"] for asked in self.receiver.requests]


@asynccontextmanager
async def trial(answers: Answers = lambda _n, _a: Answer(), **settings: object) -> AsyncIterator[Trial]:
    with Receiver(answers) as receiver:
        made = Trial(receiver, **settings)
        yield made
        await made.sink.close()


async def test_each_event_is_one_signed_post() -> None:  # M-26, M-36, M-37
    async with trial(secret="s3cret") as made:
        for one in story(3):
            await made.sink.emit(one)
        for one, asked in zip(story(3), made.receiver.requests, strict=True):
            assert asked.body == one.encode()
            assert asked.headers["content-type"] == "application/json"
            assert asked.headers["idempotency-key"] == one.key
            assert verify("s3cret", asked.body, asked.headers["x-signature"])
            assert "webhook-id" not in asked.headers


async def test_without_a_secret_there_is_no_signature() -> None:  # M-36
    async with trial() as made:
        await made.sink.emit(event(0))
        assert "x-signature" not in made.receiver.requests[0].headers


async def test_standard_webhooks_are_an_option() -> None:
    async with trial(secret="s3cret", standard_webhooks=True) as made:
        await made.sink.emit(event(0))
        asked = made.receiver.requests[0]
        assert verify_webhook("s3cret", asked.headers, asked.body, time.time())


async def test_500_then_200_is_the_same_request_again() -> None:  # M-37, M-39, M-40, M-42
    async with trial(scripted(Answer(500), Answer(503)), secret="s") as made:
        await made.sink.emit(event(0))
        first, second, third = made.receiver.requests
        assert first.body == second.body == third.body
        assert first.headers == second.headers == third.headers
        assert made.pauses == [0.2, 0.4]


async def test_after_the_last_attempt_it_says_how_many_there_were() -> None:  # M-38, M-40
    async with trial(lambda _n, _a: Answer(500)) as made:
        with pytest.raises(Undelivered, match="after 3 attempts: HTTP 500") as raised:
            await made.sink.emit(event(0))
        assert (raised.value.key, raised.value.attempts) == ("job-1:0", 3)
        assert len(made.receiver.requests) == 3


async def test_a_reset_connection_is_tried_again() -> None:  # M-40
    async with trial(scripted(Answer(0))) as made:
        await made.sink.emit(event(0))
        assert made.keys == ["job-1:0", "job-1:0"]


async def test_a_receiver_that_does_not_answer_in_time_is_tried_again() -> None:  # M-41
    async with trial(scripted(Answer(wait_s=1.0)), timeout_s=0.5) as made:
        await made.sink.emit(event(0))
        assert made.keys == ["job-1:0", "job-1:0"]


async def test_nobody_there_is_an_undelivered_event() -> None:  # M-40
    with nobody() as url:
        sink = CallbackSink(Callback(url=url, retries=Retries(attempts=2, base_s=0.001)))
        with pytest.raises(Undelivered, match="after 2 attempts: ConnectError"):
            await sink.emit(event(0))
        await sink.close()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:  # M-35, D096
    with Receiver() as elsewhere:
        async with trial(lambda _n, _a: Answer(status, Location=elsewhere.url)) as made:
            with pytest.raises(Undelivered, match=f"HTTP {status}"):
                await made.sink.emit(event(0))
        assert elsewhere.requests == []


@pytest.mark.parametrize("status", [400, 401, 404, 409, 413])
async def test_a_refusal_is_final(status: int) -> None:  # M-41
    async with trial(lambda _n, _a: Answer(status)) as made:
        with pytest.raises(Undelivered, match="after 1 attempts"):
            await made.sink.emit(event(0))
        assert made.pauses == []


async def test_429_waits_as_long_as_it_is_told() -> None:  # M-39, M-41
    async with trial(scripted(Answer(429, Retry_After="7"))) as made:
        await made.sink.emit(event(0))
        assert made.pauses == [7.0]


async def test_what_an_event_holds_changes_nothing_about_where_it_goes() -> None:  # M-31
    with Receiver() as elsewhere:
        async with trial() as made:
            await made.sink.emit(event(0, url=elsewhere.url, callback_url=elsewhere.url))
            assert len(made.receiver.requests) == 1
        assert elsewhere.requests == []


async def test_a_proxy_of_the_environment_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:  # M-33
    with Receiver() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        async with trial() as made:
            await made.sink.emit(event(0))
            assert len(made.receiver.requests) == 1
        assert proxy.requests == []


async def test_a_bad_stretch_loses_nothing_and_keeps_the_order(tmp_path: Path) -> None:  # M-43
    down = scripted(*[Answer(503)] * 3)
    async with trial(down) as made:
        now = [100.0]
        sink = SpoolingSink(made.sink, Spool(tmp_path / "spool"), lambda: now[0])
        for one in story(5)[:3]:
            await sink.emit(one)  # the first is tried and kept, the others are kept behind it
        assert made.keys == ["job-1:0"] * 3
        now[0] += 5.0
        for one in story(5)[3:]:
            await sink.emit(one)
        assert made.keys[3:] == [f"job-1:{number}" for number in range(5)]
        assert Spool(tmp_path / "spool").jobs() == []


async def test_a_terminal_event_is_tried_at_once(tmp_path: Path) -> None:  # M-43
    async with trial(scripted(*[Answer(503)] * 3)) as made:
        sink = SpoolingSink(made.sink, Spool(tmp_path / "spool"), lambda: 100.0)
        for one in story(3):
            await sink.emit(one)
        assert made.keys[3:] == ["job-1:0", "job-1:1", "job-1:2"]


async def test_what_stayed_behind_can_be_sent_later_by_another_process(tmp_path: Path) -> None:  # M-43
    spool = Spool(tmp_path / "spool")
    async with trial(lambda _n, _a: Answer(503)) as made:
        sink = SpoolingSink(made.sink, spool)
        for one in story(3):
            await sink.emit(one)
        with pytest.raises(Exception, match="after 3 attempts"):
            await sink.close()
    assert spool.jobs() == ["job-1"]
    assert spool.events("job-1") == story(3)
    async with trial(scripted(Answer(), Answer(404))) as made:
        partly = await resend(spool, "job-1", made.sink)
        assert (partly.sent, partly.left) == (1, 2)
        assert spool.events("job-1") == story(3)[1:]
        assert (await resend(spool, "job-1", made.sink)).sent == 2
    assert spool.jobs() == []


async def test_only_files_of_a_spool_are_its_jobs(tmp_path: Path) -> None:  # M-43
    spool = Spool(tmp_path / "spool")
    await spool.add(event(0))
    (tmp_path / "spool" / "folder.ndjson").mkdir()
    (tmp_path / "spool" / "link.ndjson").symlink_to("/etc/passwd")
    with (tmp_path / "spool" / "job-1.ndjson").open("ab") as file:
        file.write(b"\xff\xfe\n{}\n[1\n" + event(1).encode()[:30])
    assert spool.jobs() == ["job-1"]
    assert spool.events("job-1") == [event(0)]
    with pytest.raises(SinkBroken, match="Is a directory"):
        spool.events("folder")


async def test_a_spool_that_others_can_read_is_refused(tmp_path: Path) -> None:  # M-43
    (tmp_path / "spool").mkdir(mode=0o755)
    with pytest.raises(Exception, match="not ours alone"):
        await Spool(tmp_path / "spool").add(event(0))
