"""Retention: what an operator sets, over days and batches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from exec_daemon.pruning import excess, prune
from exec_daemon.store import Excess, Outcome, Retention, open_store
from tests.contracts.samples import at
from tests.contracts.test_store_journal import begun

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
FOR_EVER = Retention(keep_days=0, keep_jobs=0, audit_days=0, audit_lines=0)


def test_days_become_a_time_and_zero_nothing() -> None:
    assert excess(Retention(keep_days=1, audit_days=2), NOW) == Excess(
        jobs_before="2026-11-30T09:00:00.000Z",
        keep_jobs=100_000,
        lines_before="2026-11-29T09:00:00.000Z",
        keep_lines=2_000_000,
    )
    assert excess(FOR_EVER, NOW) == Excess()


async def test_a_long_backlog_goes_in_batches_and_the_file_gets_smaller(tmp_path: Path) -> None:  # D093
    path = tmp_path / "store.db"
    store = await open_store(path, clock=lambda: at(0))
    for number in range(900):
        made = await begun(store, f"c{number}", side_effecting=False, args={"text": "x" * 2000})
        await store.finish(made.id, Outcome())
    running = await begun(store, "running")
    await store.jobs()
    await store.close()
    before = path.stat().st_size
    store = await open_store(path)
    await prune(store, Retention(keep_days=1), NOW + timedelta(days=3))
    assert await store.jobs() == [running]
    await store.close()
    assert path.stat().st_size < before / 2


async def test_a_long_audit_goes_in_batches_and_stays_whole(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "store.db", clock=lambda: at(0))
    for number in range(1100):
        made = await begun(store, f"c{number}", side_effecting=False)
        await store.finish(made.id, Outcome())
    await prune(store, Retention(audit_lines=100), NOW)
    found = await store.check_audit()
    await store.close()
    assert found.broken is None
    assert found.lines <= 101
