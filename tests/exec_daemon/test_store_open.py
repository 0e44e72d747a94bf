"""Opening a store: one owner at a time, and a file that is not right is refused untouched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from exec_daemon.store import StoreCorrupt, StoreError, StoreFailed, StoreLocked, StoreNewer, open_store
from exec_daemon.store.sqlite.check import APPLICATION_ID
from exec_daemon.store.sqlite.schema import newest
from tests.contracts.samples import message, thread

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A database with a few pages, closed in good order."""
    database = tmp_path / "state" / "store.db"
    database.parent.mkdir()
    store = await open_store(database)
    await store.create_thread(thread("a"))
    for _ in range(20):
        await store.append(message("a", "x" * 5000))
    await store.close()
    return database


def contents(folder: Path, *, locks: bool = False) -> dict[str, bytes]:
    files = [file for file in folder.iterdir() if locks or not file.name.endswith(".lock")]
    return {file.name: file.read_bytes() for file in files}


def start_owner(folder: Path) -> subprocess.Popen[bytes]:
    """A process that has the store open."""
    command = [sys.executable, "-m", "tests.exec_daemon.store_child", "hold", str(folder)]
    owner = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert json.loads(owner.stdout.readline()) == "open"
    return owner


# ---- a good file ------------------------------------------------------------------------------------


async def test_what_was_written_is_there_after_reopening(path: Path) -> None:
    store = await open_store(path)
    assert await store.last_position() == 20
    assert len(await store.messages("a")) == 20
    await store.close()


async def test_only_the_owner_may_look_at_the_files(path: Path) -> None:
    store = await open_store(path)
    await store.append(message("a"))
    modes = {file.name: oct(file.stat().st_mode & 0o777) for file in path.parent.iterdir()}
    await store.close()
    assert set(modes.values()) == {"0o600"}
    assert {"store.db", "store.db-wal", "store.db.lock"} <= set(modes)


async def test_a_store_that_was_closed_is_one_file_and_its_lock(path: Path) -> None:
    assert sorted(contents(path.parent, locks=True)) == ["store.db", "store.db.lock"]


async def test_a_birth_that_was_cut_short_does_not_hinder_the_next(tmp_path: Path) -> None:
    for name in ("store.db.new", "store.db.new-wal", "store.db.new-shm"):
        (tmp_path / name).write_bytes(b"half a database")
    store = await open_store(tmp_path / "store.db")
    await store.create_thread(thread("a"))
    await store.close()
    assert sorted(contents(tmp_path, locks=True)) == ["store.db", "store.db.lock"]


async def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match=r"nowhere/store\.db.*No such file"):
        await open_store(tmp_path / "nowhere" / "store.db")


# ---- one owner --------------------------------------------------------------------------------------


async def test_a_second_owner_is_refused_with_the_name_of_the_first(path: Path) -> None:
    store = await open_store(path)
    with pytest.raises(StoreLocked, match=rf"process {os.getpid()}\b"):
        await open_store(path)
    await store.append(message("a"))
    await store.close()
    await (await open_store(path)).close()


async def test_an_owner_in_another_process_is_respected_until_it_dies(path: Path) -> None:
    with start_owner(path.parent) as owner:
        with pytest.raises(StoreLocked, match=f"process {owner.pid}"):
            await open_store(path)
        owner.send_signal(signal.SIGKILL)
    await (await open_store(path)).close()


async def test_a_failed_opening_gives_the_lock_back(path: Path) -> None:
    newer(path)
    with pytest.raises(StoreNewer):
        await open_store(path)
    set_version(path, newest())
    await (await open_store(path)).close()


# ---- bad files --------------------------------------------------------------------------------------


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 500)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut_in_the_header(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def cut_in_the_middle(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 4096 * 3])


def cut_by_a_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def page_overwritten(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[4096 : 4096 * 2] = b"\xff" * 4096
    path.write_bytes(bytes(whole))


def schema_page_overwritten(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[100:4096] = b"\xff" * 3996
    path.write_bytes(bytes(whole))


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE notes (text)")
    db.close()


def log_without_its_database(path: Path) -> None:
    path.rename(path.with_name("store.db-wal"))


def set_version(path: Path, version: int) -> None:
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()


def newer(path: Path) -> None:
    set_version(path, newest() + 1)


def newer_and_killed(path: Path) -> None:
    """The newer version stands in the log only, as after a crash."""
    aside = path.with_name("aside")
    aside.mkdir()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {newest() + 1}")
    for name in ("store.db", "store.db-wal"):
        shutil.copy(path.with_name(name), aside)
    db.close()
    for name in ("store.db", "store.db-wal"):
        shutil.move(aside / name, path.with_name(name))
    aside.rmdir()


@pytest.mark.parametrize(
    ("spoil", "kind", "reason"),
    [
        (garbage, StoreCorrupt, "not an SQLite database"),
        (empty, StoreCorrupt, "truncated: 0 bytes"),
        (cut_in_the_header, StoreCorrupt, "truncated: 50 bytes"),
        (cut_in_the_middle, StoreCorrupt, "truncated: 12288 bytes"),
        (cut_by_a_byte, StoreCorrupt, "truncated"),
        (page_overwritten, StoreCorrupt, "damaged"),
        (schema_page_overwritten, StoreCorrupt, "damaged"),
        (of_another_program, StoreCorrupt, "another program"),
        (log_without_its_database, StoreCorrupt, "its log is still there"),
        (newer, StoreNewer, "newer version"),
        (newer_and_killed, StoreNewer, "newer version"),
    ],
)
async def test_a_file_that_is_not_right_is_refused_untouched(
    path: Path, spoil: Callable[[Path], None], kind: type[StoreError], reason: str
) -> None:
    spoil(path)
    before = contents(path.parent)
    with pytest.raises(kind, match=reason) as refused:
        await open_store(path)
    after = contents(path.parent)
    assert {name: after.get(name) for name in before} == before
    assert set(after) - set(before) <= {"store.db-shm"}
    assert refused.value.subject == str(path)
    assert str(path) in str(refused.value)


async def test_our_files_are_marked_as_ours(path: Path) -> None:
    assert contents(path.parent)["store.db"][68:72] == APPLICATION_ID.to_bytes(4, "big") == b"INBD"


async def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (tmp_path / "store.db.lock").symlink_to(victim)
    with pytest.raises(StoreError):
        await open_store(tmp_path / "store.db")
    assert victim.read_text() == "keep"
