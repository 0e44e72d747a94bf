"""Events over a real NATS server: late readers, restarts, kills, and stopping a job (M-60 to M-69)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest

from messaging import EventType, JobEvent
from messaging.sinks import NatsSink, NatsTarget, SinkBroken, Spool, SpoolingSink, Undelivered, request_cancel
from messaging.sinks.nats_control import answer_control
from messaging.sources import await_job, nats_events
from tests.integration._nats_chaos import chaos
from tests.integration._nats_server import NatsServer, nats_server
from tests.messaging._events import event, story
from tests.patience import PATIENCE_S


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with nats_server(tmp_path) as running:
        yield running


def sink_of(server: NatsServer, job_id: str = "job-1", **more: object) -> NatsSink:
    return NatsSink(NatsTarget(url=server.url, job_id=job_id, **more))  # type: ignore[arg-type]


async def publish(server: NatsServer, events: list[JobEvent], **more: object) -> None:
    sink = sink_of(server, events[0].job_id, **more)
    for one in events:
        await sink.emit(one)
    await sink.close()


async def read(server: NatsServer, job_id: str = "job-1") -> list[JobEvent]:
    history = await await_job(nats_events(server.url, job_id), job_id, timeout_s=PATIENCE_S)
    return list(history.events)


async def test_events_are_stored_on_the_jobs_subject_under_their_key(
    server: NatsServer,
) -> None:  # M-60, M-61
    await publish(server, story(3))
    client = await nats.connect(server.url)
    context = client.jetstream()
    found = await context.stream_info("JOBS")
    assert (found.config.subjects, str(found.config.storage)) == (["jobs.*.events"], "file")
    stored = [await context.get_msg("JOBS", number) for number in (1, 2, 3)]
    assert [message.subject for message in stored] == ["jobs.job-1.events"] * 3
    assert [(message.headers or {})["Nats-Msg-Id"] for message in stored] == ["job-1:0", "job-1:1", "job-1:2"]
    assert [message.data for message in stored] == [one.encode() for one in story(3)]
    await client.close()


async def test_an_event_that_is_sent_twice_is_stored_once(server: NatsServer) -> None:  # M-61
    await publish(server, story(3))
    await publish(server, story(3))
    client = await nats.connect(server.url)
    assert (await client.jetstream().stream_info("JOBS")).state.messages == 3
    await client.close()


async def test_who_comes_after_the_end_gets_everything(server: NatsServer) -> None:  # M-63
    await publish(server, story(30))
    await publish(server, story(5, "job-2"))
    assert await read(server) == story(30)
    assert await read(server, "job-2") == story(5, "job-2")


async def test_who_comes_before_the_beginning_gets_everything_too(server: NatsServer) -> None:  # M-62
    await publish(server, story(2, "other"))  # the stream exists
    reading = asyncio.create_task(read(server))
    await asyncio.sleep(0.1)
    await publish(server, story(10))
    assert await reading == story(10)


async def test_events_survive_a_kill_of_the_broker(server: NatsServer) -> None:  # M-64
    await publish(server, story(10))
    server.kill()
    server.start()
    assert await read(server) == story(10)


async def test_a_job_goes_on_over_a_kill_of_the_broker(server: NatsServer) -> None:  # M-67
    sink = sink_of(server)
    told = story(6)
    for one in told[:3]:
        await sink.emit(one)
    server.kill()
    late = asyncio.create_task(sink.emit(told[3]))
    await asyncio.sleep(0.2)
    assert not late.done()
    server.start()
    await late
    for one in told[4:]:
        await sink.emit(one)
    await sink.close()
    assert await read(server) == told


async def test_without_a_broker_events_are_kept_and_none_is_lost(
    server: NatsServer, tmp_path: Path
) -> None:  # M-67
    server.kill()
    spool = Spool(tmp_path / "spool")
    sink = SpoolingSink(sink_of(server, patience_s=0.3), spool)
    told = story(3)
    for one in told[:2]:
        await sink.emit(one)
    assert spool.events("job-1") == told[:2]
    server.start()
    await sink.emit(told[2])
    await sink.close()
    assert spool.jobs() == []
    assert await read(server) == told


async def test_a_broker_that_stays_away_is_an_undelivered_event(server: NatsServer) -> None:
    server.kill()
    sink = sink_of(server, patience_s=0.3)
    with pytest.raises(Undelivered, match="no NATS server answers"):
        await sink.emit(event(0, EventType.ACCEPTED))
    await sink.close()


async def test_a_subject_of_ones_own_needs_no_stream(server: NatsServer) -> None:  # M-69
    client = await nats.connect(server.url)
    heard = await client.subscribe("callbacks.job-1")
    await client.flush()
    await publish(server, story(3), subject="callbacks.job-1")
    assert [(await heard.next_msg(5)).data for _ in range(3)] == [one.encode() for one in story(3)]
    await client.close()


async def test_nothing_is_connected_before_the_first_event(server: NatsServer) -> None:  # M-69
    server.kill()
    await sink_of(server).close()


async def test_a_job_is_told_to_stop_and_says_that_it_heard(server: NatsServer) -> None:  # M-65
    sink, reasons = sink_of(server), list[str | None]()

    def cancel(reason: str | None) -> bool:
        reasons.append(reason)
        return len(reasons) == 1

    await sink.listen(cancel)
    assert await request_cancel(server.url, "job-1", "enough") == {"ok": True}
    again = await request_cancel(server.url, "job-1")
    assert again == {"ok": False, "error": {"code": "already_terminal"}}
    assert reasons == ["enough", None]
    await sink.close()


async def test_nobody_who_listens_is_an_error(server: NatsServer) -> None:  # M-65
    with pytest.raises(SinkBroken, match="does not listen"):
        await request_cancel(server.url, "job-9", timeout_s=1)


@pytest.mark.parametrize("content", [b"", b"x", b"[]", b'{"type":"pause"}', b'{"type":1}', b"\xff"])
def test_what_is_no_cancel_is_ignored(content: bytes) -> None:  # M-65
    assert answer_control(content, lambda _: pytest.fail("cancelled")) is None


def test_a_reason_that_is_no_text_is_none() -> None:  # M-65
    answer = answer_control(json.dumps({"type": "cancel", "reason": 3}).encode(), lambda r: r is None)
    assert answer == {"ok": True}


async def test_kills_of_the_broker_lose_nothing_and_double_nothing(
    server: NatsServer,
) -> None:  # M-62, M-64, M-67
    outcome = await chaos(server, jobs=10, events=200, kills=2)
    assert outcome.problems == []
    assert outcome.kills == 2
    assert outcome.events == 200
