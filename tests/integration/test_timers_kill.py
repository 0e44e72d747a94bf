"""Whoever dies when: each time of a timer runs once or is skipped by policy. Longer: `./box soak timers`."""

from __future__ import annotations

from pathlib import Path

from tests.soak.timers import Plan, run


def test_kills_at_random_instants_leave_no_time_of_a_timer_unaccounted_for(tmp_path: Path) -> None:
    # T-69, O 7.6
    outcome = run(Plan(kills=3, timers=5, seed=7), tmp_path)
    assert outcome.faults == []
    assert outcome.rows["PASS"] > 0
