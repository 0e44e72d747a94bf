"""`kill -9` at any instant: what was acknowledged is there, nothing happened twice (docs/why/once.md, O-16).

The instants come from a seeded generator and reach from before the database is made to the middle of a
busy stream of commits. BOX_KILLS sets how many there are.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.store import open_store
from messaging import JobState
from tests.exec_daemon.store_victim import TASKS
from tests.patience import until

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("BOX_KILLS", "20"))
# From before Python has started to well into the work: times as long as the first needed to acknowledge one.
LONGEST_LIFE = 3
SEED = 20261201


def numbers(acknowledged: Path) -> list[int]:
    return [int(line) for line in acknowledged.read_text().split()] if acknowledged.exists() else []


def lowest_missing(done: set[int]) -> int:
    return next(number for number in range(len(done) + 1) if number not in done)


def waited_s(file: Path) -> float:
    began_s = time.monotonic()
    until(file.exists)
    return time.monotonic() - began_s


@pytest.fixture(scope="module")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """A database whose owners were all killed, and the calls that they acknowledged."""
    folder, chance = tmp_path_factory.mktemp("kill"), random.Random(SEED)
    database, acknowledged = folder / "store.db", folder / "acknowledged"
    start_s = 0.0
    for _ in range(KILLS):
        first = lowest_missing(set(numbers(acknowledged)))
        words = ["-m", "tests.exec_daemon.store_victim", str(database), str(acknowledged), str(first)]
        command = [sys.executable, *words]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as victim:
            start_s = start_s or waited_s(acknowledged)
            time.sleep(chance.uniform(0, LONGEST_LIFE * start_s))
            victim.kill()
            assert victim.stderr is not None
            assert victim.stderr.read() == b""
    return database, numbers(acknowledged)


def query(database: Path, sql: str) -> list[Any]:
    db = sqlite3.connect(database)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def bodies(database: Path, thread: str) -> list[str]:
    return [row[0] for row in query(database, f"SELECT body FROM messages WHERE thread = '{thread}'")]


def test_the_victims_lived_long_enough_to_do_something(survivor: tuple[Path, list[int]]) -> None:
    assert len(survivor[1]) > KILLS


def test_each_acknowledged_call_had_its_effect(survivor: tuple[Path, list[int]]) -> None:
    database, acknowledged = survivor
    for thread in ("calls", "keyed"):
        assert set(bodies(database, thread)) >= {str(number) for number in acknowledged}


@pytest.mark.parametrize("thread", ["calls", "keyed"])
def test_nothing_happened_twice(survivor: tuple[Path, list[int]], thread: str) -> None:
    counts = Counter(bodies(survivor[0], thread))
    assert [body for body, times in counts.items() if times > 1] == []


def test_each_message_of_a_call_belongs_to_a_job_that_succeeded(survivor: tuple[Path, list[int]]) -> None:
    orphans = """SELECT body FROM messages LEFT JOIN jobs ON jobs.id = messages.job_id
                 WHERE messages.thread = 'calls' AND jobs.state IS NOT 'succeeded'"""
    assert query(survivor[0], orphans) == []


def test_one_job_at_most_stands_for_a_call(survivor: tuple[Path, list[int]]) -> None:
    twice = """SELECT identity, call_id FROM jobs WHERE holds_call = 1
               GROUP BY identity, call_id HAVING count(*) > 1"""
    assert query(survivor[0], twice) == []


def test_each_ended_job_has_one_terminal_event_and_it_is_the_last(survivor: tuple[Path, list[int]]) -> None:
    wrong = """SELECT id, state, sum(type IN ('succeeded', 'failed')) AS ends,
                      max(seq) AS last, max(CASE WHEN type = state THEN seq END) AS end_seq, count(*) AS steps
               FROM jobs JOIN job_events ON job_events.job = jobs.number GROUP BY jobs.number
               HAVING ends != (state != 'running') OR (state != 'running' AND end_seq != last)
                      OR steps != last + 1"""
    assert query(survivor[0], wrong) == []


def test_messages_are_numbered_without_gaps(survivor: tuple[Path, list[int]]) -> None:
    wrong = """SELECT thread FROM messages JOIN threads ON threads.id = thread
               GROUP BY thread HAVING max(seq) != count(*) OR max(seq) != last_seq"""
    assert query(survivor[0], wrong) == []


def test_the_file_itself_is_sound(survivor: tuple[Path, list[int]]) -> None:
    assert query(survivor[0], "PRAGMA integrity_check") == [("ok",)]
    assert query(survivor[0], "PRAGMA foreign_key_check") == []


def test_each_job_that_ended_has_its_audit_line(survivor: tuple[Path, list[int]]) -> None:  # O-34
    wrong = """SELECT jobs.id FROM jobs LEFT JOIN audit ON audit.job_id = jobs.id
               WHERE (audit.call_id IS jobs.call_id) IS NOT (state != 'running')"""
    assert query(survivor[0], wrong) == []


async def test_the_audit_is_whole_after_all_kills(survivor: tuple[Path, list[int]]) -> None:  # D111
    store = await open_store(survivor[0])
    found = await store.check_audit()
    await store.close()
    assert found.broken is None
    assert found.lines >= len(survivor[1])


async def test_the_next_owner_leaves_nothing_running(survivor: tuple[Path, list[int]]) -> None:
    store = await open_store(survivor[0])
    interrupted = await store.interrupt_running()
    assert len(interrupted) <= TASKS
    assert all(job.error and job.error["retryable"] for job in interrupted)
    assert await store.jobs(state=JobState.RUNNING) == []
    await store.close()
