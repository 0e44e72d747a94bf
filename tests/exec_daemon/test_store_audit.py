"""The audit on disk: the database refuses to change it, and whoever changes it all the same is found out."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from exec_daemon.store import AuditCheck, open_store
from exec_daemon.store.sqlite.check import APPLICATION_ID
from exec_daemon.store.sqlite.schema import migrate
from tests.contracts.test_store_audit import NOTE

LINES = 6


async def fill(path: Path) -> None:
    store = await open_store(path)
    for _ in range(LINES):
        await store.note(NOTE)
    await store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with some lines in its audit."""
    asyncio.run(fill(tmp_path / "store.db"))
    return tmp_path / "store.db"


@pytest.fixture
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    """What somebody who may write the file can do with any SQL tool."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def drop_triggers(db: sqlite3.Connection) -> None:
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")


async def checked(path: Path, noted: dict[int, str] | None = None) -> AuditCheck:
    store = await open_store(path)
    found = await store.check_audit(noted)
    await store.close()
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET outcome = 'succeeded'",
        "DELETE FROM audit WHERE seq = 1",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE seq = 1",
        "INSERT OR REPLACE INTO audit_start VALUES (1, 2, 'x')",
        "UPDATE audit_start SET seq = 99, hash = 'x'",
        "UPDATE audit_start SET seq = 2, hash = 'x'",
        "DELETE FROM audit_start",
    ],
)
def test_the_database_itself_keeps_the_audit_as_it_is(
    tampering: sqlite3.Connection, statement: str
) -> None:  # D111
    before = tampering.execute("SELECT * FROM audit").fetchall()
    with pytest.raises(sqlite3.IntegrityError, match="audit"):
        tampering.execute(statement)
    assert tampering.execute("SELECT * FROM audit").fetchall() == before


TAMPERED = {
    "a field is edited": (
        "UPDATE audit SET identity = 'agent/other' WHERE seq = 3",
        3,
        "not what was written",
    ),
    "a number becomes text": ("UPDATE audit SET args_digest = 'e' WHERE seq = 6", 6, "not what was written"),
    "a line is dropped": ("DELETE FROM audit WHERE seq = 4", 4, "line 4 is missing"),
    "the first line is dropped": ("DELETE FROM audit WHERE seq = 1", 1, "line 1 is missing"),
    "the last lines are dropped": ("DELETE FROM audit WHERE seq > 4", 5, "line 5 and what follows it"),
    "all lines are dropped": ("DELETE FROM audit", 1, "line 1 and what follows it"),
    "two lines change places": (
        """UPDATE audit SET seq = CASE seq WHEN 2 THEN -3 ELSE -2 END WHERE seq IN (2, 3);
           UPDATE audit SET seq = -seq WHERE seq < 0""",
        2,
        "not what was written",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_the_first_line_that_was_tampered_with_is_named(
    path: Path, tampering: sqlite3.Connection, name: str
) -> None:  # D111
    statements, seq, problem = TAMPERED[name]
    drop_triggers(tampering)
    tampering.executescript(statements)
    found = await checked(path)
    assert found.broken is not None
    assert found.broken.seq == seq
    assert problem in found.broken.problem
    assert found.lines == seq - 1


async def test_lines_missing_at_the_end_stay_missing_when_others_follow(
    path: Path, tampering: sqlite3.Connection
) -> None:  # D111
    drop_triggers(tampering)
    tampering.execute("DELETE FROM audit WHERE seq > 4")
    store = await open_store(path)
    assert (await store.note(NOTE)).seq == LINES + 1
    broken = (await store.check_audit()).broken
    await store.close()
    assert broken is not None
    assert broken.problem == "line 5 is missing; line 7 follows"


async def test_a_chain_written_anew_is_found_out_by_a_hash_noted_elsewhere(
    path: Path, tampering: sqlite3.Connection, tmp_path: Path
) -> None:  # D111
    noted = await checked(path)
    forged = await open_store(tmp_path / "forged.db")
    for _ in range(LINES):
        await forged.note(replace(NOTE, identity="agent/other"))
    assert (await forged.check_audit()).broken is None
    assert (await forged.check_audit({noted.last: noted.hash})).broken is not None
    await forged.close()


async def test_an_audit_from_before_the_chain_is_chained_by_the_migration(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(db, to=8)
        for number in (3, 1, 2):
            db.execute(
                "INSERT INTO audit VALUES (?, 't', 'agent/heron', 'dm.send', 'd', ?, 'succeeded', 1.5)",
                (number, f"c{number}"),
            )
    store = await open_store(path)
    assert [line.call_id for line in await store.audit()] == ["c3", "c2", "c1"]
    assert (await store.check_audit()).broken is None
    await store.note(NOTE)
    assert (await store.check_audit()).lines == 4
    await store.close()


async def test_a_start_that_was_moved_without_a_word_is_found_out(
    path: Path, tampering: sqlite3.Connection
) -> None:  # D111
    tampering.execute("UPDATE audit_start SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2)")
    tampering.execute("DELETE FROM audit WHERE seq <= 2")
    found = await checked(path)
    assert found.broken is not None
    assert found.broken.problem == "the lines up to 2 are missing, and no line says why"
