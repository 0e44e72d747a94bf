"""What is written behind: reads wait for no disk, and effects in our store need one commit."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.store import (
    AppendMessage,
    Conflict,
    Done,
    New,
    NoSuchThread,
    Outcome,
    Running,
    SqliteStore,
    open_store,
)
from exec_daemon.store.sqlite.writer import Written
from messaging import ErrorCode, JobState
from tests.contracts.samples import failure, job, message, thread, token
from tests.contracts.test_store_journal import begun
from tests.patience import PATIENCE_S

READ: dict[str, Any] = {"side_effecting": False, "effects_inside": False, "op": "dm.read"}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_store(tmp_path / "store.db")
    yield opened
    await opened.close()


@contextmanager
def stuck_disk(store: SqliteStore) -> Iterator[None]:
    """The writer is in the middle of a write that does not end."""
    held, go_on = threading.Event(), threading.Event()

    def write(_: sqlite3.Connection) -> Written[None]:
        held.set()
        assert go_on.wait(PATIENCE_S)
        return Written(None)

    future = store._writer.put(write)[0]
    assert held.wait(PATIENCE_S)
    try:
        yield
    finally:
        go_on.set()
        del future


def rows(tmp_path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        return db.execute(query).fetchall()


async def test_a_read_waits_for_no_disk(store: SqliteStore) -> None:
    with stuck_disk(store):
        made = await begun(store, **READ)
        ended = await store.finish(made.id, Outcome(data={"n": 1}, duration_ms=2.0))
        assert (ended.state, ended.result) == (JobState.SUCCEEDED, {"n": 1})
        assert await store.begin(job(**READ)) == Done(ended)
        assert await store.begin(job(**READ | {"args": {}})) == Conflict(ended)
    assert await store.job(made.id) == ended


async def test_what_is_asked_of_the_journal_is_up_to_date(store: SqliteStore, tmp_path: Path) -> None:
    made = await begun(store, **READ)
    assert rows(tmp_path, "SELECT id FROM jobs") == []
    assert await store.jobs() == [made]
    ended = await store.finish(made.id, Outcome(data=1))
    assert await store.job(made.id) == ended
    assert [line.outcome for line in await store.audit()] == ["succeeded"]


async def test_a_read_is_written_a_moment_later(store: SqliteStore, tmp_path: Path) -> None:
    with store.subscribe("never") as moment:
        made = await begun(store, **READ)
        await store.finish(made.id, Outcome())
        for _ in range(100):
            if rows(tmp_path, "SELECT state FROM jobs") == [("succeeded",)]:
                break
            await moment.wait(0.1)
    assert rows(tmp_path, "SELECT outcome FROM audit") == [("succeeded",)]


async def test_closing_writes_what_is_behind(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "store.db")
    await store.finish((await begun(store, **READ)).id, Outcome())
    await store.close()
    assert rows(tmp_path, "SELECT state FROM jobs") == [("succeeded",)]


async def test_a_read_of_an_earlier_life_is_found_on_disk(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "store.db")
    ended = await store.finish((await begun(store, **READ)).id, Outcome(data=7))
    await store.close()
    store = await open_store(tmp_path / "store.db")
    assert await store.begin(job(**READ)) == Done(ended)
    await store.close()


async def test_a_call_whose_effects_are_ours_is_one_commit_with_them(store: SqliteStore) -> None:
    await store.create_thread(thread("crane"))
    statements: list[str] = []

    def trace(db: sqlite3.Connection) -> Written[None]:
        db.set_trace_callback(statements.append)
        return Written(None)

    await store._writer.write(trace)
    made = await begun(store)
    assert await store.begin(job()) == Running(made)
    await store.finish(made.id, Outcome(), [AppendMessage(message("crane"))])
    assert statements.count("COMMIT") == 2  # the first is of the write that set the trace


async def test_a_job_whose_end_is_being_written_is_found_by_who_asks_meanwhile(store: SqliteStore) -> None:
    await store.create_thread(thread("ops"))
    made = await begun(store)
    with stuck_disk(store):
        ending = asyncio.create_task(
            store.finish(made.id, Outcome(data=1), [AppendMessage(message("ops", "x"))])
        )
        await asyncio.sleep(0)
        asked = asyncio.create_task(store.job(made.id))
        await asyncio.sleep(0)
        assert await store.begin(job()) == Running(made)
    assert await asked == await ending


async def test_a_job_whose_effect_cannot_happen_runs_on_and_may_end_otherwise(store: SqliteStore) -> None:
    made = await begun(store)
    with pytest.raises(NoSuchThread):
        await store.finish(made.id, Outcome(data=1), [AppendMessage(message("nowhere", "x"))])
    assert await store.jobs() == [made]
    ended = await store.finish(made.id, Outcome(error=failure(ErrorCode.NOT_FOUND)))
    assert await store.job(made.id) == ended
    assert [event.seq for event in await store.events(made.id)] == [0, 1]


async def test_many_reads_are_written_in_their_order_each_with_its_events(store: SqliteStore) -> None:
    made = [await begun(store, **READ | {"call_id": f"c{number}"}) for number in range(75)]
    for one in made[:-1]:
        await store.finish(one.id, Outcome(data=one.call_id))
    assert [one.call_id for one in await store.jobs(limit=100)] == [f"c{n}" for n in reversed(range(75))]
    assert [len(await store.events(one.id)) for one in made] == [2] * 74 + [1]
    assert (await store.check_audit()).lines == 74


async def test_a_call_with_effects_outside_is_on_disk_before_it_runs(
    store: SqliteStore, tmp_path: Path
) -> None:  # D088
    await begun(store, effects_inside=False)
    assert rows(tmp_path, "SELECT state FROM jobs") == [("running",)]
    assert rows(tmp_path, "SELECT outcome FROM audit") == [("running",)]


async def test_a_read_that_ended_with_a_retryable_error_gives_its_call_free(store: SqliteStore) -> None:
    first = await begun(store, **READ)
    await store.finish(first.id, Outcome(error=failure(ErrorCode.BUSY)))
    assert isinstance(await store.begin(job(**READ)), New)
    assert [one.state for one in await store.jobs()] == [JobState.RUNNING, JobState.FAILED]


async def test_who_sends_a_request_is_known_without_the_disk(store: SqliteStore, tmp_path: Path) -> None:
    await store.add_token(token("heron"))
    known = await store.token_by_sha256(token("heron").sha256)
    with stuck_disk(store):
        (tmp_path / "store.db").rename(tmp_path / "away.db")
        assert await store.token_by_sha256(token("heron").sha256) == known
        (tmp_path / "away.db").rename(tmp_path / "store.db")


async def test_a_token_that_is_taken_back_or_used_is_known_so_at_once(store: SqliteStore) -> None:
    await store.add_token(token("heron"))
    sha256 = token("heron").sha256
    assert await store.token_by_sha256(sha256)
    await store.touch_tokens({"heron": "2026-12-01T09:00:00.000Z"})
    used = await store.token_by_sha256(sha256)
    assert await store.revoke_token("heron")
    revoked = await store.token_by_sha256(sha256)
    assert used is not None
    assert revoked is not None
    assert (used.last_used_at, used.revoked_at) == ("2026-12-01T09:00:00.000Z", None)
    assert revoked.revoked_at is not None
    assert [revoked] == await store.tokens()
