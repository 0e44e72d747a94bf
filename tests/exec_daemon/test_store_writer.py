"""The one writer: groups, savepoints, and futures that wait for the commit."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.store import StoreFailed, StoreFull
from exec_daemon.store.feed import Feed
from exec_daemon.store.sqlite.writer import Writer, Written
from tests.patience import PATIENCE_S

# Long enough for a machine under load; only a test that fails waits for it.


class Bench:
    """A writer on a file, its statements, and a gate that keeps it busy while a group gathers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.statements: list[str] = []
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        db.execute("CREATE TABLE words (word TEXT PRIMARY KEY)")
        db.set_trace_callback(self.statements.append)
        self.feed = Feed()
        self.writer = Writer(db, path, self.feed)
        self.gate = threading.Event()
        self.held = threading.Event()

    def words(self) -> list[str]:
        """What another connection sees."""
        db = sqlite3.connect(self.path)
        try:
            return [row[0] for row in db.execute("SELECT word FROM words ORDER BY rowid")]
        finally:
            db.close()

    async def put(self, word: str, *news: str) -> str:
        def write(db: sqlite3.Connection) -> Written[str]:
            db.execute("INSERT INTO words VALUES (?)", (word,))
            return Written(word, news)

        return await self.writer.write(write)

    async def fail(self, fault: Exception) -> None:
        def write(db: sqlite3.Connection) -> Written[None]:
            db.execute("INSERT INTO words VALUES ('half')")
            raise fault

        await self.writer.write(write)

    async def hold(self) -> asyncio.Task[None]:
        """A write that is under way and lasts until the gate opens."""

        def write(_: sqlite3.Connection) -> Written[None]:
            self.held.set()
            assert self.gate.wait(PATIENCE_S)
            return Written(None)

        held = asyncio.create_task(self.writer.write(write))
        assert await asyncio.to_thread(self.held.wait, PATIENCE_S)
        return held

    async def together(self, *writes: Coroutine[Any, Any, object]) -> list[object]:
        """All of them in one group, behind a write that is under way."""
        first = await self.hold()
        tasks = [asyncio.ensure_future(write) for write in writes]
        await asyncio.sleep(0)
        self.gate.set()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        await first
        return ends


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path / "words.db")
    yield made
    made.gate.set()
    await made.writer.close()


def disk_full() -> sqlite3.Error:
    fault = sqlite3.OperationalError("database or disk is full")
    fault.sqlite_errorcode = sqlite3.SQLITE_FULL
    return fault


async def test_a_write_is_durable_when_it_returns(bench: Bench) -> None:
    assert await bench.put("one") == "one"
    assert bench.words() == ["one"]


async def test_writes_that_wait_share_one_commit(bench: Bench) -> None:
    await bench.together(*[bench.put(str(number)) for number in range(100)])
    assert bench.words() == [str(number) for number in range(100)]
    # The write that held the gate is the other one.
    assert bench.statements.count("COMMIT") == 2


@pytest.mark.parametrize("fault", [KeyError("mine"), ValueError("mine"), sqlite3.IntegrityError("mine")])
async def test_one_that_fails_leaves_no_trace_and_hurts_no_neighbour(bench: Bench, fault: Exception) -> None:
    ends = await bench.together(bench.put("before"), bench.fail(fault), bench.put("after"))
    assert ends == ["before", fault, "after"]
    assert bench.words() == ["before", "after"]


async def test_a_broken_statement_is_its_callers_own(bench: Bench) -> None:
    def write(db: sqlite3.Connection) -> Written[Any]:
        db.execute("INSERT INTO nowhere VALUES (1)")
        return Written(None)

    ends = await bench.together(bench.put("before"), bench.writer.write(write), bench.put("after"))
    assert isinstance(ends[1], sqlite3.OperationalError)
    assert bench.words() == ["before", "after"]


async def test_a_fault_of_the_disk_takes_down_only_the_write_that_meets_it(bench: Bench) -> None:
    ends = await bench.together(bench.put("before"), bench.fail(disk_full()), bench.put("after"))
    assert (ends[0], ends[2]) == ("before", "after")
    assert isinstance(ends[1], StoreFull)
    assert bench.words() == ["before", "after"]


async def test_a_commit_that_fails_acknowledges_nothing(bench: Bench) -> None:
    reader = sqlite3.connect(bench.path, isolation_level=None)
    await bench.writer.write(lambda db: Written(db.execute("PRAGMA busy_timeout = 0").fetchall()))
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM words").fetchall()
    # In rollback-journal mode a reader keeps a commit from happening.
    with pytest.raises(StoreFailed, match="locked"):
        await bench.put("one")
    reader.close()
    assert bench.words() == []
    await bench.put("two")
    assert bench.words() == ["two"]


async def test_a_caller_that_was_cancelled_hurts_no_neighbour(bench: Bench) -> None:
    held = await bench.hold()
    leaving, staying = asyncio.create_task(bench.put("leaving")), asyncio.create_task(bench.put("staying"))
    await asyncio.sleep(0)
    leaving.cancel()
    bench.gate.set()
    assert await staying == "staying"
    await held
    assert leaving.cancelled()


async def test_news_of_a_write_goes_out_even_if_its_caller_was_cancelled(bench: Bench) -> None:
    held = await bench.hold()
    with bench.feed.subscribe("topic") as changes:
        leaving = asyncio.create_task(bench.put("leaving", "topic"))
        await asyncio.sleep(0)
        leaving.cancel()
        bench.gate.set()
        assert await changes.wait(PATIENCE_S)
    assert bench.words() == ["leaving"]
    await held


async def test_news_goes_out_after_the_commit(bench: Bench) -> None:
    with bench.feed.subscribe("topic") as changes:
        writing = asyncio.create_task(bench.put("one", "topic"))
        assert await changes.wait(PATIENCE_S)
        assert bench.words() == ["one"]
        await writing


async def test_closing_finishes_what_waits(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "words.db")
    writes = [asyncio.create_task(bench.put(str(number))) for number in range(600)]
    await asyncio.sleep(0)
    await bench.writer.close()
    assert len(await asyncio.gather(*writes)) == 600
    assert len(bench.words()) == 600


def test_a_loop_that_is_gone_does_not_stop_the_writer(tmp_path: Path) -> None:
    async def leave() -> Bench:
        bench = Bench(tmp_path / "words.db")
        held = await bench.hold()
        leaving = asyncio.create_task(bench.put("one"))
        await asyncio.sleep(0)
        held.cancel()
        leaving.cancel()
        return bench

    bench = asyncio.run(leave())
    bench.gate.set()
    asyncio.run(bench.writer.close())
    assert bench.words() == ["one"]
