"""Whoever dies when: exactly once. The full length is `python -m tests.soak.kill`."""

from __future__ import annotations

from pathlib import Path

from tests.soak.kill import Plan, run


def test_kills_at_random_instants_lose_and_repeat_nothing(tmp_path: Path) -> None:
    # O-16, O-34
    outcome = run(Plan(kills=10, replies=12, seed=7), tmp_path)
    assert outcome.faults == []
    assert (outcome.answered, outcome.kills.total()) == (12, 10)
