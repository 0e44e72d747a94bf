"""health: one verdict with its reasons."""

from __future__ import annotations

import pytest

from exec_daemon.box import BoxContext, FactsUnavailable, read
from exec_daemon.box.health import _DISK, _MEMORY, _PRESSURE, Level, Limits
from exec_daemon.box.ports import QueueFacts, TimerFacts, WorkerFacts


@pytest.mark.parametrize(
    ("limits", "value", "level"),
    [
        (_DISK, 84.9, Level.OK),
        (_DISK, 85, Level.WARN),
        (_DISK, 95, Level.CRIT),
        (_MEMORY, 100 - 10, Level.OK),
        (_MEMORY, 100 - 9.9, Level.WARN),
        (_MEMORY, 100 - 5, Level.WARN),
        (_MEMORY, 100 - 4.9, Level.CRIT),
        (_PRESSURE["cpu"], 100, Level.WARN),
        (_PRESSURE["memory"], 40, Level.CRIT),
    ],
)
def test_thresholds_are_those_of_the_table(
    limits: Limits, value: float, level: Level
) -> None:  # O 7.1, row 1
    assert limits.level(value) is level


def test_dead_workers_stale_timers_and_dead_letters_are_warnings(context: BoxContext, facts) -> None:
    facts.worker_facts = [WorkerFacts(id="w", state="lost", alive=False), WorkerFacts(id="v", state="new")]
    facts.timer_facts = [TimerFacts(id="t", name="n", schedule="", tz="UTC", enabled=True, stale=True)]
    facts.queue_facts = QueueFacts(running_jobs=0, dead_letters=3)
    data = read("health", None, context)["data"]
    reasons = {reason["subject"]: (reason["level"], reason["message"]) for reason in data["reasons"]}
    assert reasons["workers"] == ("warn", "1 workers are dead")
    assert reasons["timers"] == ("warn", "1 timers are overdue")
    assert reasons["queue"] == ("warn", "3 dead letters")
    assert data["verdict"] in ("warn", "crit")


def test_a_store_that_cannot_answer_is_critical_and_comes_first(context: BoxContext, facts) -> None:
    def workers(_scope: object) -> None:
        raise FactsUnavailable("locked")

    facts.workers = workers
    data = read("health", None, context)["data"]
    assert data["verdict"] == "crit"
    assert data["reasons"][0]["level"] == "crit"
    assert "locked" in str(data["reasons"])


def test_the_verdict_is_the_worst_reason(context: BoxContext) -> None:
    data = read("health", None, context)["data"]
    levels = [reason["level"] for reason in data["reasons"]]
    assert data["verdict"] == (levels[0] if levels else "ok")
    assert "ok" not in levels
