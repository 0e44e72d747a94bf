"""`box audit`: the lines, and whether they are as they were written, with a daemon and without one."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.inband.conftest import Box, stop


@pytest.fixture
def stopped(box: Box) -> Box:
    """A daemon ran, did two calls, and has ended."""
    process = box.start("--only", "daemon")
    for _ in range(2):
        box.json("call", "tools.list")
    assert stop(process) == 0
    return box


def forge(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        db.execute("DROP TRIGGER audit_is_never_changed")
        db.execute("UPDATE audit SET identity = 'agent/other' WHERE seq = 1")


def test_the_audit_of_a_running_daemon_is_listed_and_whole(running: Box) -> None:  # O-34
    call = running.json("call", "tools.list")
    line = running.json("audit", "list", "--limit", "1")["lines"][0]
    assert (line["call_id"], line["op"], line["outcome"]) == (call["call_id"], "tools.list", "succeeded")
    report = running.json("audit", "verify")
    assert (report["ok"], report["broken"]) == (True, None)
    assert f"{report['lines']} lines, all as they were written" in running.run("audit", "verify").stdout


def test_an_end_that_was_noted_is_still_there_later(running: Box) -> None:  # D111
    noted = running.json("audit", "verify")
    running.json("call", "tools.list")
    end = f"{noted['last']}:{noted['hash']}"
    assert running.run("audit", "verify", "--noted", end).returncode == 0
    other = running.run("audit", "verify", "--noted", f"{noted['last']}:{'0' * 64}")
    assert (other.returncode, other.stdout) == (1, "")
    assert f"line {noted['last']} has another hash" in other.stderr


def test_an_end_that_is_none_says_what_it_should_be(running: Box) -> None:
    done = running.run("audit", "verify", "--noted", "12")
    assert done.returncode == 2
    assert "NUMBER:HASH" in done.stderr


def test_the_store_is_read_itself_where_no_daemon_runs(stopped: Box) -> None:
    before = (stopped.home / "store.db").read_bytes()
    done = stopped.run("audit", "verify")
    assert done.returncode == 0
    assert "2 lines" in done.stdout
    assert "the daemon does not answer" in done.stderr
    assert len(stopped.json("audit", "list")["lines"]) == 2
    assert (stopped.home / "store.db").read_bytes() == before


def test_a_line_that_was_changed_is_named(stopped: Box, tmp_path: Path) -> None:  # D111
    backup = tmp_path / "backup.db"
    backup.write_bytes((stopped.home / "store.db").read_bytes())
    forge(backup)
    done = stopped.run("audit", "verify", "--file", str(backup))
    assert (done.returncode, done.stdout) == (1, "")
    assert "line 1 is not what was written" in done.stderr
    assert stopped.run("audit", "verify").returncode == 0


def test_a_file_that_is_no_store_is_named(box: Box, tmp_path: Path) -> None:
    (tmp_path / "other.db").write_bytes(b"no store" * 100)
    done = box.run("audit", "verify", "--file", str(tmp_path / "other.db"))
    assert done.returncode == 2
    assert "not an SQLite database" in done.stderr


def test_without_a_daemon_and_without_a_store_there_is_nothing_to_read(box: Box) -> None:
    assert box.run("audit", "list").returncode == 4


def test_the_doctor_says_how_large_the_store_is(stopped: Box) -> None:  # D093
    found = json.loads(stopped.run("doctor", "--json").stdout)
    (store,) = [one for one in found["findings"] if one["subject"] == "store"]
    assert store["grade"] == "ok"
    assert store["found"].endswith("MiB, 2 jobs, 2 lines of the audit")
