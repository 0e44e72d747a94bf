"""A loss of power tears the log anywhere: the store opens with what was committed before the tear."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from exec_daemon.store import Store, open_store
from tests.contracts.samples import message, thread

MESSAGES = 40
TEARS = 12
SEED = 20261201


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Path]:
    """The folder of a store that is open, all of its messages still in the log."""
    folder = tmp_path / "running"
    folder.mkdir()
    store = await open_store(folder / "store.db")
    await store.create_thread(thread("a"))
    for number in range(MESSAGES):
        await store.append(message("a", f"{number} " + "x" * 3000))
    yield folder
    await store.close()


def cut(log: bytes, chance: random.Random) -> bytes:
    return log[: chance.randrange(len(log))]


def garble(log: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(log))
    return log[:start] + chance.randbytes(len(log) - start)


def zero(log: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(log))
    return log[:start] + bytes(len(log) - start)


def tear(running: Path, folder: Path, how: Callable[[bytes, random.Random], bytes], seed: int) -> Path:
    """A copy as the disk might hold it after the lights went out; the shared memory is gone."""
    folder.mkdir()
    shutil.copy(running / "store.db", folder)
    log = (running / "store.db-wal").read_bytes()
    (folder / "store.db-wal").write_bytes(how(log, random.Random(seed)))
    return folder / "store.db"


async def all_bodies(store: Store) -> list[str]:
    return [m.body.split()[0] for m in await store.messages("a")]


@pytest.mark.parametrize("how", [cut, garble, zero])
async def test_what_came_before_the_tear_is_whole(
    running: Path, tmp_path: Path, how: Callable[[bytes, random.Random], bytes]
) -> None:
    kept = []
    for number in range(TEARS):
        path = tear(running, tmp_path / str(number), how, SEED + number)
        store = await open_store(path)
        bodies = await all_bodies(store)
        kept.append(len(bodies))
        assert bodies == [str(body) for body in range(len(bodies))]
        if await store.thread("a") is None:
            await store.create_thread(thread("a"))
        assert (await store.append(message("a"))).message.seq == len(bodies) + 1
        await store.close()
        assert_sound(path)
    assert 0 < max(kept) < MESSAGES


def assert_sound(path: Path) -> None:
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


async def test_nothing_is_lost_where_nothing_is_torn(running: Path, tmp_path: Path) -> None:
    store = await open_store(tear(running, tmp_path / "copy", lambda log, _: log, SEED))
    assert await all_bodies(store) == [str(number) for number in range(MESSAGES)]
    await store.close()
