"""Sinks that write to a descriptor or a file (M-22 to M-25)."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from messaging import EventType
from messaging.sinks import EventsSink, FileSink, ResultSink, SinkBroken
from messaging.sources import read_lines
from tests.messaging._events import event, story


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        with suppress(OSError):
            os.close(descriptor)


async def test_stdout_shows_the_result_and_nothing_else(pipe: tuple[int, int]) -> None:  # M-22
    sink = ResultSink(pipe[1])
    for one in story(4):
        await sink.emit(one)
    assert os.read(pipe[0], 1000).decode() == '{\n  "title": "Größe ☃"\n}\n'


async def test_stdout_stays_empty_when_the_job_fails(pipe: tuple[int, int]) -> None:  # M-22
    sink = ResultSink(pipe[1])
    await sink.emit(event(0, EventType.ACCEPTED))
    await sink.emit(event(1, EventType.FAILED))
    os.close(pipe[1])
    assert os.read(pipe[0], 1000) == b""


async def test_each_event_is_a_line_at_once(pipe: tuple[int, int]) -> None:  # M-23
    sink = EventsSink(pipe[1])
    for one in story(3):
        await sink.emit(one)
        assert os.read(pipe[0], 1000) == one.encode() + b"\n"


@pytest.mark.parametrize("kind", [ResultSink, EventsSink])
async def test_a_reader_that_has_left_is_a_typed_error(pipe: tuple[int, int], kind: Any) -> None:
    os.close(pipe[0])
    with pytest.raises(SinkBroken, match="Broken pipe"):
        await kind(pipe[1]).emit(event(0, EventType.SUCCEEDED))


async def test_a_full_disk_is_a_typed_error() -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(SinkBroken, match="No space left"):
        await EventsSink(descriptor).emit(event(0, EventType.ACCEPTED))
    os.close(descriptor)


async def test_a_file_keeps_what_it_had_and_its_order(tmp_path: Path) -> None:  # M-24
    path = tmp_path / "events.ndjson"
    for job_id in ("job-1", "job-2"):
        sink = FileSink(path)
        for one in story(3, job_id):
            await sink.emit(one)
        await sink.close()
    assert list(read_lines(path.read_bytes())) == story(3, "job-1") + story(3, "job-2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # M-25


async def test_a_link_is_not_followed(tmp_path: Path) -> None:  # M-25
    (tmp_path / "theirs").write_text("")
    (tmp_path / "events").symlink_to(tmp_path / "theirs")
    with pytest.raises(SinkBroken, match="symbolic links"):
        FileSink(tmp_path / "events")


async def test_only_a_regular_file_is_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(SinkBroken, match="no regular file"):
        FileSink(tmp_path / "fifo")


async def test_a_torn_last_line_does_not_swallow_the_next_event(tmp_path: Path) -> None:  # M-25
    path = tmp_path / "events"
    path.write_bytes(story(2)[0].encode() + b"\n" + story(2)[1].encode()[:20])
    assert list(read_lines(path.read_bytes())) == story(2)[:1]
    sink = FileSink(path)
    await sink.emit(story(2)[1])
    await sink.close()
    assert list(read_lines(path.read_bytes())) == story(2)


KILLED = """
import asyncio, os, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from messaging.sinks import FileSink
from tests.messaging._events import story
async def main():
    sink = FileSink(Path(sys.argv[1]))
    for one in story(5):
        await sink.emit(one)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


def test_what_was_emitted_survives_the_death_of_the_process(tmp_path: Path) -> None:  # M-24
    path, root = tmp_path / "events", Path(__file__).parents[3]
    ended = subprocess.run([sys.executable, "-c", KILLED, path, root], check=False)
    assert ended.returncode == -9
    assert list(read_lines(path.read_bytes())) == story(5)


def test_lines_of_others_between_events_are_passed_over() -> None:
    noise = b"Downloading...\n" + story(2)[0].encode() + b"\n\n{}\n" + json.dumps([1]).encode() + b"\n"
    assert list(read_lines(noise)) == story(2)[:1]
