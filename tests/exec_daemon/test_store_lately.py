"""What was called lately is answered from memory, as the file would answer it."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exec_daemon.store import Begun, Conflict, Done, Excess, New, Outcome, SqliteStore
from exec_daemon.store.once import Entry
from exec_daemon.store.sqlite.lately import MOST_CALLS, MOST_CHARS_EACH, Lately
from messaging import ErrorCode, Job, JobState
from tests.contracts.samples import at, failure, job, open_sample
from tests.contracts.test_store_journal import begun

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)
NOT_FOUND = Outcome(error=failure(ErrorCode.NOT_FOUND))
ENDS = st.builds(Outcome, data=JSON, duration_ms=st.integers(0, 9).map(float)) | st.just(NOT_FOUND)


async def sqlite_store(folder: Path) -> SqliteStore:
    opened = await open_sample("sqlite", folder)
    assert isinstance(opened, SqliteStore)
    return opened


async def answers(store: SqliteStore) -> list[Begun]:
    """To the same call, and to another one under its id."""
    return [await store.begin(job()), await store.begin(job(args={"to": "wren"}))]


@settings(max_examples=25, deadline=None)
@given(ENDS)
def test_memory_and_file_answer_alike(end: Outcome) -> None:
    async def both() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await sqlite_store(Path(folder))
            await store.finish((await begun(store)).id, end)
            first = await answers(store)
            await store.close()
            opened = await sqlite_store(Path(folder))
            again = await answers(opened)
            await opened.close()
            assert first == again
            done, from_file = first[0], again[0]
            assert isinstance(done, Done)
            assert isinstance(from_file, Done)
            assert done.text in (None, from_file.text)

    asyncio.run(both())


async def test_the_file_is_not_asked_again(tmp_path: Path) -> None:
    store = await sqlite_store(tmp_path)
    ended = await store.finish((await begun(store)).id, Outcome(data=1))
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        db.execute("DELETE FROM job_events")
        db.execute("DELETE FROM jobs")
        db.commit()
    assert await store.begin(job()) == Done(ended)
    await store.close()


async def test_what_retention_took_is_answered_no_longer(tmp_path: Path) -> None:
    store = await sqlite_store(tmp_path)
    ended = await store.finish((await begun(store)).id, Outcome(data=1))
    assert await store.begin(job(args={})) == Conflict(ended)
    assert (await store.prune(Excess(jobs_before=at(99)))).jobs == 1
    assert isinstance(await store.begin(job()), New)
    await store.close()


def entry(call_id: str, result: Any = None, args: dict[str, Any] | None = None, **fields: Any) -> Entry:
    usual: dict[str, Any] = {"state": JobState.SUCCEEDED, "result": result, "args": args or {}}
    made = Job(
        id=f"job-{call_id}",
        op="dm.send",
        call_id=call_id,
        identity="agent/heron",
        created_at=at(0),
        side_effecting=True,
        **usual | fields,
    )
    return Entry(made, "digest", effects_inside=True)


def known(lately: Lately, call_id: str) -> bool:
    return lately.of_call("agent/heron", call_id) is not None


def test_the_oldest_make_room() -> None:
    lately = Lately()
    for number in range(MOST_CALLS + 2):
        lately.add(entry(str(number)))
    assert [known(lately, str(number)) for number in (0, 1, 2, MOST_CALLS + 1)] == [False, False, True, True]


@pytest.mark.parametrize(
    "other",
    [
        entry("c1", result="x" * MOST_CHARS_EACH),
        entry("c1", args={"text": "x" * MOST_CHARS_EACH}),
        entry("c1", state=JobState.RUNNING),
        entry("c1", state=JobState.FAILED, error=failure(ErrorCode.BUSY).to_json()),
    ],
)
def test_what_is_large_or_does_not_stand_for_its_call_is_not_kept(other: Entry) -> None:
    lately = Lately()
    lately.add(other)
    assert not known(lately, "c1")
    lately.add(entry("c1", result="x"))
    assert known(lately, "c1")
    lately.clear()
    assert not known(lately, "c1")
