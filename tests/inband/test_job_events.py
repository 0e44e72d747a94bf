"""`box job watch`, `expect` and `resend` as a person uses them, over each transport (M-20, M-43, M-56)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from messaging import EventType
from messaging.sinks import Callback, CallbackSink, NatsSink, NatsTarget, Spool
from messaging.sources import nats_events
from tests.inband.conftest import Box
from tests.integration._nats_server import nats_server
from tests.integration._receiver import Receiver, nobody
from tests.messaging._events import story
from tests.patience import PATIENCE_S

TOOL = [sys.executable, str(Path(__file__).parents[1] / "integration" / "_tool.py")]


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path / "home")


def with_variables(box: Box, **variables: str) -> Box:
    return Box(box.home, variables)


def tool(what: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    clean = {"PATH": os.environ["PATH"]}
    return subprocess.run(
        [*TOOL, what], env=clean | environment, capture_output=True, check=False, timeout=60
    )


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_tool_elsewhere_tells_its_events_by_callback(running: Box) -> None:  # M-26, M-50, M-56
    expected = running.json("job", "expect")
    done = tool("good", **expected["environment"])
    assert (done.returncode, done.stderr) == (0, b"")
    watched = running.run("job", "watch", expected["job_id"], "--json")
    assert watched.returncode == 0
    assert [one["type"] for one in lines(watched.stdout)][-1] == "succeeded"
    assert [one["seq"] for one in lines(watched.stdout)] == list(range(6))
    assert running.json("job", "show", expected["job_id"])["result"] == {"title": "Soup"}


def test_the_environment_of_a_tool_is_printed_as_an_env_file_has_it(running: Box) -> None:
    printed = running.run("job", "expect", "scrape-7").stdout.splitlines()
    assert dict(line.split("=", 1) for line in printed)["BOX_JOB_ID"] == "scrape-7"
    assert running.run("job", "expect", "scrape-7").returncode == 1  # taken


def test_who_watches_early_sees_events_as_they_come(running: Box) -> None:  # M-56
    expected = running.json("job", "expect")
    watcher = subprocess.Popen(
        running.argv("job", "watch", expected["job_id"]),
        env=running.environment(),
        stdout=-1,
        stderr=-1,
        text=True,
    )
    tool("blocked", **expected["environment"])
    out, err = watcher.communicate(timeout=PATIENCE_S)
    assert (watcher.returncode, err) == (1, "")
    assert "accepted" in out
    assert "blocked_url 10.0.0.5 is private" in out


def test_a_job_of_the_daemon_is_watched_too(running: Box) -> None:
    called = running.json("call", "tools.list")
    watched = running.run("job", "watch", called["job_id"], "--json")
    assert [one["type"] for one in lines(watched.stdout)] == ["accepted", "succeeded"]
    assert running.run("job", "watch", "no-such-job").returncode == 1


def test_watching_has_a_limit(running: Box) -> None:  # M-56
    expected = running.json("job", "expect")
    watched = running.run("job", "watch", expected["job_id"], "--timeout", "0.2")
    assert watched.returncode == 124
    assert "did not end within 0.2 s" in watched.stderr


def test_a_pipe_is_watched(box: Box) -> None:  # M-23
    done = tool("good", BOX_TRANSPORT="events", BOX_JOB_ID="job-1")
    watched = box.run("job", "watch", "job-1", "--stdin", stdin=done.stdout)
    assert watched.returncode == 0
    assert "warning   no picture" in watched.stdout
    cut = box.run("job", "watch", "job-1", "--stdin", stdin=done.stdout[:200])
    assert cut.returncode == 1
    assert "stopped before its end" in cut.stderr


@pytest.mark.parametrize("content", [b"", b"".join(one.encode() + b"\n" for one in story(3))])
def test_a_file_or_nothing_at_all_may_stand_for_the_pipe(box: Box, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "events").write_bytes(content)
    argv, environment = box.argv("job", "watch", "job-1", "--stdin"), box.environment()
    with (tmp_path / "events" if content else Path(os.devnull)).open() as file:
        done = subprocess.run(
            argv, env=environment, stdin=file, capture_output=True, check=False, timeout=PATIENCE_S
        )
    assert (done.returncode, done.stdout.count(b"\n")) == ((0, 3) if content else (1, 0))
    assert b"Traceback" not in done.stderr


def test_who_watches_is_told_of_events_that_never_came(box: Box) -> None:  # M-55
    first, _, end = (one.encode() + b"\n" for one in story(3))
    watched = box.run("job", "watch", "job-1", "--stdin", stdin=first + end)
    assert (watched.returncode, watched.stderr) == (0, "box: 1 of the events of job-1 never came\n")


def test_a_file_is_watched(box: Box, tmp_path: Path) -> None:  # M-24
    path = str(tmp_path / "events")
    tool("fault", RECIPE_TRANSPORT="file", RECIPE_EVENTS_PATH=path, RECIPE_JOB_ID="job-1")
    watched = box.run("job", "watch", "job-1", "--file", path, "--json")
    assert [one["type"] for one in lines(watched.stdout)] == ["accepted", "failed"]
    assert watched.returncode == 1


def test_a_stream_is_watched(box: Box, tmp_path: Path) -> None:  # M-63
    async def publish(url: str) -> None:
        sink = NatsSink(NatsTarget(url=url, job_id="job-1"))
        for one in story(4):
            await sink.emit(one)
        await sink.close()

    with nats_server(tmp_path) as server:
        asyncio.run(publish(server.url))
        watched = box.run("job", "watch", "job-1", "--nats", server.url, "--json")
    assert lines(watched.stdout) == [one.to_json() for one in story(4)]


def test_a_tool_is_stopped_from_a_terminal(box: Box, tmp_path: Path) -> None:  # M-65
    with nats_server(tmp_path) as server:
        environment = {"PATH": os.environ["PATH"], "BOX_TRANSPORT": "nats", "BOX_NATS_URL": server.url}
        slow = subprocess.Popen([*TOOL, "slow"], env=environment | {"BOX_JOB_ID": "job-1"}, stderr=-1)
        asyncio.run(_has_begun(server.url))
        stopped = box.run("job", "cancel", "job-1", "--nats", server.url, "--reason", "enough")
        assert (stopped.returncode, stopped.stdout) == (0, "job-1: stops\n")
        assert slow.communicate(timeout=PATIENCE_S)[1] == b"enough\n"
        assert slow.returncode == 130
        watched = box.run("job", "watch", "job-1", "--nats", server.url)
        assert "cancelled enough" in watched.stdout
        nobody = box.run("job", "cancel", "job-1", "--nats", server.url)
        assert (nobody.returncode, "does not listen" in nobody.stderr) == (4, True)


async def _has_begun(url: str) -> None:
    async with aclosing(nats_events(url, "job-1")) as events:
        async for one in events:
            if one.type is EventType.PROGRESS:
                return


def test_only_one_source_can_be_named(box: Box) -> None:
    assert box.run("job", "watch", "job-1", "--stdin", "--nats", "nats://x").returncode == 2


def test_what_could_not_be_delivered_is_sent_later(box: Box, tmp_path: Path) -> None:  # M-43
    spool = str(tmp_path / "spool")
    with nobody() as url:
        done = tool(
            "good", BOX_TRANSPORT="callback", BOX_CALLBACK_URL=url, BOX_SPOOL=spool, BOX_JOB_ID="job-1",
            BOX_CALLBACK_MAX_RETRIES="1",
        )  # fmt: skip
        assert done.returncode == 0
        assert [one.seq for one in Spool(Path(spool)).events("job-1")] == list(range(6))
        still_away = with_variables(box, BOX_TRANSPORT="callback", BOX_CALLBACK_URL=url, BOX_SPOOL=spool)
        assert still_away.run("job", "resend").returncode == 4
    with Receiver() as receiver:
        back = with_variables(box, BOX_TRANSPORT="callback", BOX_CALLBACK_URL=receiver.url)
        sent = back.json("job", "resend", "--spool", spool)
        assert sent == {"jobs": {"job-1": {"sent": 6, "left": 0, "problem": None}}}
        assert len(receiver.requests) == 6
    assert back.run("job", "resend", "--spool", spool).stdout == "nothing to send\n"


def test_sending_again_needs_to_know_where_from_and_where_to(box: Box, tmp_path: Path) -> None:
    assert box.run("job", "resend").returncode == 2
    asyncio.run(Spool(tmp_path / "spool").add(story(2)[0]))
    bad = with_variables(box, BOX_TRANSPORT="smoke").run("job", "resend", "--spool", str(tmp_path / "spool"))
    assert (bad.returncode, "'smoke' is none of" in bad.stderr) == (2, True)


def test_variables_of_tools_are_no_unknown_settings(box: Box) -> None:
    checked = with_variables(box, BOX_TRANSPORT="callback", BOX_CALLBACK_URL="http://x").run(
        "config", "check"
    )
    assert (checked.returncode, "BOX_TRANSPORT" in checked.stderr + checked.stdout) == (0, False)


async def test_the_webhooks_of_a_sink_name_the_event() -> None:  # M-37
    with Receiver() as receiver:
        sink = CallbackSink(Callback(url=receiver.url, secret="s", standard_webhooks=True))
        await sink.emit(story(2)[0])
        await sink.close()
        assert receiver.requests[0].headers["webhook-id"] == "job-1:0"
