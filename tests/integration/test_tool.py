"""Tools as processes: their environment, their events, their exit codes (M-12 to M-18, M-30, M-66)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import psutil
import pytest

from messaging import EventType, JobEvent
from messaging.sinks import request_cancel
from messaging.sources import await_job, nats_events, read_lines, run_child
from tests.integration._nats_server import nats_server
from tests.integration._receiver import Answer, Receiver
from tests.messaging._events import TS
from tests.patience import PATIENCE_S, ends

TOOL = [sys.executable, str(Path(__file__).with_name("_tool.py"))]
BASE = {"PATH": os.environ["PATH"], "BOX_JOB_ID": "job-1"}


def run(what: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*TOOL, what], env=BASE | environment, capture_output=True, check=False, timeout=60)


def kinds(events: list[JobEvent] | tuple[JobEvent, ...]) -> list[str]:
    return [str(one.type) for one in events]


async def child(what: str) -> Any:
    return await run_child([*TOOL, what], "job-1", environment=BASE, clock=lambda: TS)


def test_the_result_alone_goes_to_stdout() -> None:  # M-18, M-20, M-22
    done = run("good")
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{\n  "title": "Soup"\n}\n', b"")


def test_the_events_go_to_stdout_where_that_is_asked_for() -> None:  # M-23
    done = run("good", RECIPE_TRANSPORT="events")
    events = list(read_lines(done.stdout))
    assert kinds(events) == ["accepted", "progress", "progress", "warning", "progress", "succeeded"]
    assert [one.seq for one in events] == list(range(6))


@pytest.mark.parametrize(
    ("what", "exit_code", "told"),
    [
        ("usage", 2, ["failed"]),
        ("blocked", 3, ["accepted", "failed"]),
        ("fault", 1, ["accepted", "failed"]),
        ("odd", 1, ["accepted", "failed"]),
    ],
)
def test_a_failure_has_its_code_and_stands_on_stderr(what: str, exit_code: int, told: list[str]) -> None:
    # M-12, M-15, M-18
    done = run(what, BOX_TRANSPORT="events")
    assert done.returncode == exit_code
    events = list(read_lines(done.stdout))
    assert kinds(events) == told
    message = events[-1].payload["message"]
    assert message
    assert message in done.stderr.decode()
    assert "sk-abcdef" not in done.stderr.decode() + done.stdout.decode()
    assert run(what).stdout == b""  # M-22


@pytest.mark.parametrize("environment", [{"BOX_TRANSPORT": "smoke"}, {"BOX_TRANSPORT": "callback"}])
def test_an_environment_that_cannot_be_ends_before_any_work(
    environment: dict[str, str],
) -> None:  # M-21, M-30
    done = run("good", **environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith("BOX_")


def test_a_receiver_that_is_away_changes_no_exit_code() -> None:  # M-17
    with Receiver(lambda _n, _asked: Answer(404)) as receiver:
        done = run("usage", BOX_TRANSPORT="callback", BOX_CALLBACK_URL=receiver.url)
    assert done.returncode == 2
    assert "not delivered after 1 attempts" in done.stderr.decode()


def test_a_result_that_reached_nobody_is_no_success() -> None:  # M-17
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*TOOL, "good"], env=BASE, stdout=full, stderr=-1, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"events cannot be written: No space left on device\n")


def test_a_receiver_that_is_away_for_a_while_gets_all_of_a_job() -> None:  # M-40, M-62
    away = range(2, 6)  # of the requests: the second event, and the third at its first attempt
    with Receiver(lambda number, _: Answer(503 if number in away else 202)) as receiver:
        done = run("good", BOX_TRANSPORT="callback", BOX_CALLBACK_URL=receiver.url)
    taken = [asked for number, asked in enumerate(receiver.requests, 1) if number not in away]
    assert done.returncode == 0
    assert [asked.headers["idempotency-key"] for asked in taken] == [f"job-1:{number}" for number in range(6)]


def test_the_values_of_secret_variables_are_never_told() -> None:  # M-46
    done = run("blocked", BOX_TRANSPORT="events", MY_API_TOKEN="10.0.0.5 is private")
    assert "private" not in done.stdout.decode() + done.stderr.decode()


def test_a_reader_that_has_left_ends_the_tool_with_a_word() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = BASE | {"BOX_TRANSPORT": "events"}
    done = subprocess.run(
        [*TOOL, "many"], env=environment, stdout=writing, stderr=-1, check=False, timeout=60
    )
    os.close(writing)
    assert done.returncode == 1
    assert b"Broken pipe" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_tool_that_is_told_to_stop_says_cancelled(number: signal.Signals) -> None:  # M-66
    tool = subprocess.Popen([*TOOL, "slow"], env=BASE | {"BOX_TRANSPORT": "events"}, stdout=-1, stderr=-1)
    assert tool.stdout is not None
    first = tool.stdout.readline()
    tool.send_signal(number)
    rest, _ = tool.communicate(timeout=PATIENCE_S)
    assert tool.returncode == 130
    end = list(read_lines(first + rest))[-1]
    assert (end.type, end.payload["code"]) == (EventType.FAILED, "cancelled")


async def test_a_tool_is_stopped_over_nats(tmp_path: Path) -> None:  # M-65, M-66
    with nats_server(tmp_path) as server:
        environment = BASE | {"BOX_TRANSPORT": "nats", "BOX_NATS_URL": server.url}
        tool = await asyncio.create_subprocess_exec(*TOOL, "slow", env=environment)

        async def stop() -> None:
            async with aclosing(nats_events(server.url, "job-1")) as events:
                async for one in events:
                    if one.type is EventType.PROGRESS:
                        assert await request_cancel(server.url, "job-1", "enough") == {"ok": True}
                        return

        await asyncio.wait_for(stop(), PATIENCE_S)
        assert await asyncio.wait_for(tool.wait(), PATIENCE_S) == 130
        end = (await await_job(nats_events(server.url, "job-1"), "job-1", timeout_s=PATIENCE_S)).end
        assert end is not None
        assert end.payload == {"code": "cancelled", "message": "enough"}


async def test_a_child_is_followed_to_its_end() -> None:  # M-16
    told: list[str] = []
    done = await run_child(
        [*TOOL, "good"],
        "job-1",
        environment=BASE,
        clock=lambda: TS,
        on_event=lambda one: told.append(str(one.type)),
    )
    assert (
        told == kinds(done.events) == ["accepted", "progress", "progress", "warning", "progress", "succeeded"]
    )
    assert (done.end.event.payload["result"], done.end.doubt, done.exit_code) == ({"title": "Soup"}, None, 0)


async def test_ten_mebibytes_on_stderr_hold_nothing_up_and_their_end_is_kept() -> None:
    done = await asyncio.wait_for(child("loud"), PATIENCE_S)
    assert done.end.event.type is EventType.SUCCEEDED
    assert len(done.log_tail) == 64 * 1024


async def test_a_child_that_is_killed_half_way_through_a_line_has_failed() -> None:  # M-16
    done = await child("torn")
    assert (kinds(done.events), done.exit_code) == (["accepted"], -9)
    assert (done.end.event.payload["code"], done.end.event.seq) == ("general", 1)
    assert "signal 9" in done.end.event.payload["message"]


async def test_success_outlasts_a_bad_exit_code_with_a_doubt() -> None:  # M-16
    done = await child("liar")
    assert done.end.event.type is EventType.SUCCEEDED
    assert done.end.doubt == "job-1 says succeeded, its process ended with 4"


async def test_what_a_child_prints_between_its_events_is_passed_over() -> None:
    assert kinds((await child("noisy")).events)[-1] == "succeeded"


async def test_whoever_leaves_a_child_stops_it() -> None:  # M-66
    def leave(one: JobEvent) -> None:
        if one.type is EventType.PROGRESS:
            running.cancel()

    running = asyncio.create_task(
        run_child([*TOOL, "slow"], "job-1", environment=BASE, clock=lambda: TS, on_event=leave)
    )
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, PATIENCE_S)
    assert [one.pid for one in psutil.Process().children() if one.cmdline()[-1:] == ["slow"]] == []


async def test_a_child_that_does_not_hear_term_is_killed_with_all_that_it_started() -> None:  # M-66
    below: list[int] = []

    def accepted(one: JobEvent) -> None:
        below.append(int(one.payload["url"]))
        running.cancel()

    running = asyncio.create_task(
        run_child(
            [*TOOL, "stubborn"],
            "job-1",
            environment=BASE,
            clock=lambda: TS,
            on_event=accepted,
            stop_s=0.2,
        )
    )
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, PATIENCE_S)
    assert ends(below[0])


async def test_what_a_child_leaves_running_holds_nobody_up() -> None:
    done = await asyncio.wait_for(child("leaves"), PATIENCE_S)
    assert done.end.event.type is EventType.SUCCEEDED
    assert ends(int(done.events[0].payload["url"]))


def test_events_of_a_tool_are_json_that_any_reader_takes() -> None:  # M-01
    first = json.loads(run("good", BOX_TRANSPORT="events").stdout.split(b"\n")[0])
    assert set(first) == {"job_id", "seq", "ts", "type", "url"}
