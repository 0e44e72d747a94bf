"""The schema: numbered files, a fresh database equals a migrated one, and each list has its index."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from exec_daemon.store.audit_chain import Checker
from exec_daemon.store.sqlite import audit, directory, journal, outside, rpc, threads
from exec_daemon.store.sqlite.schema import migrate, newest, steps
from exec_daemon.store.values import NewAuditLine
from messaging import JobState

Make = Callable[..., sqlite3.Connection]


@pytest.fixture
def database() -> Iterator[Make]:
    """Makes databases that went through the given versions."""
    with ExitStack() as made:

        def make(*versions: int) -> sqlite3.Connection:
            db = made.enter_context(closing(sqlite3.connect(":memory:", isolation_level=None)))
            db.row_factory = sqlite3.Row
            for version in versions:
                migrate(db, to=version)
            return db

        yield make


def shape(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    return [tuple(row) for row in rows]


def test_steps_are_numbered_without_gaps() -> None:
    assert [step.version for step in steps()] == list(range(1, newest() + 1))


def test_a_fresh_schema_is_the_migrated_one(database: Make) -> None:
    fresh = database(newest())
    for stop in range(newest()):
        migrated = database(stop, newest())
        assert shape(migrated) == shape(fresh)
        assert migrated.execute("PRAGMA user_version").fetchone()[0] == newest()


def test_a_step_that_fails_leaves_the_version_before(database: Make) -> None:
    db = database()
    db.execute("CREATE TABLE agents (name)")
    with pytest.raises(sqlite3.OperationalError):
        migrate(db)
    db.execute("ROLLBACK")
    assert db.execute("PRAGMA user_version").fetchone()[0] == 0
    assert [row[1] for row in shape(db)] == ["agents"]


@pytest.mark.parametrize("statement", ["UPDATE messages SET body = 'other'", "DELETE FROM messages"])
def test_the_database_itself_keeps_messages_as_they_are(database: Make, statement: str) -> None:  # O-83
    db = database(newest())
    db.execute("INSERT INTO threads (id, title, created_at, active_at) VALUES ('a', 'a', '', '')")
    db.execute(
        "INSERT INTO messages (id, thread, seq, author, author_kind, kind, body, created_at) "
        "VALUES ('m', 'a', 1, 'heron', 'agent', 'text', 'mine', '')"
    )
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(statement)


LINE = NewAuditLine(
    at="", identity="operator/local", op="o", args_digest="", call_id="c", outcome="succeeded"
)
READS = {
    "thread": lambda db: threads.thread(db, "a"),
    "threads": lambda db: threads.threads(db, None, 10),
    "threads of an agent": lambda db: threads.threads(db, "heron", 10),
    "message": lambda db: threads.message(db, "m"),
    "messages": lambda db: threads.messages(db, "a", 0, 10),
    "replies": lambda db: threads.replies(db, 0, 10),
    "last position": threads.last_position,
    "agents": directory.agents,
    "token": lambda db: directory.token_by_sha256(db, "0"),
    "tokens": directory.tokens,
    "job": lambda db: journal.job(db, "j"),
    "events": lambda db: journal.events(db, "j", -1),
    "jobs": lambda db: journal.jobs(db, None, None, 10),
    "jobs of an identity": lambda db: journal.jobs(db, "agent/heron", None, 10),
    "jobs in a state": lambda db: journal.jobs(db, None, JobState.FAILED, 10),
    "jobs of an identity in a state": lambda db: journal.jobs(db, "agent/heron", JobState.FAILED, 10),
    "audit": lambda db: audit.audit(db, 10, None),
    "audit note": lambda db: audit.note(db, LINE),
    "audit check": lambda db: audit.check_slice(db, Checker(audit.start(db))),
    "outside job": lambda db: outside.outside_job(db, "o"),
    "outside jobs": lambda db: outside.outside_jobs(db, 10),
    "standing": lambda db: outside.standing(db, "o"),
    "arrivals": lambda db: outside.arrivals(db, "o", -1),
    "rpc answer": lambda db: rpc.answer(db, "operator/local", "r"),
    "rpc tasks": lambda db: rpc.tasks(db, "operator/local"),
    "interrupted": lambda db: journal.interrupt_running(db, ""),
}
# Walked in the order of the number, which is the order of the list.
WALKED = {"outside jobs", "tokens", "jobs", "audit", "audit note", "audit check"}


@pytest.mark.parametrize("name", READS)
def test_no_read_sorts_or_searches_a_whole_table(database: Make, name: str) -> None:
    db = database(newest())
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    READS[name](db)
    db.set_trace_callback(None)
    plan = [row["detail"] for text in statements for row in db.execute(f"EXPLAIN QUERY PLAN {text}")]
    assert plan
    assert not any("TEMP B-TREE" in line for line in plan), plan
    if name not in WALKED:
        assert all(not line.startswith("SCAN") or "USING" in line for line in plan), plan
