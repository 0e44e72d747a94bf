"""Lanes that were silent for long go; nothing that anybody waits for goes with them (T-12)."""

from __future__ import annotations

from pathlib import Path

from harvester.container.lock import held
from harvester.container.retention import LaneRetention
from tests.harvester.container._host import Host

DAY_MS = 24 * 3_600_000
LANE = "family.family-run1"


def told(host: Host, lane: str, key: str = "k") -> int:
    """Milliseconds at which the lane was told something."""
    host.layout.prepare(lane, "family")
    host.ledger.put_lane(lane, "family-run1", is_task=True)
    name = host.follow_ups.tell(lane, "look", key)
    assert name is not None
    return int(name[:13])


def retention(host: Host, keep_days: int = 90) -> LaneRetention:
    return LaneRetention(host.layout, host.ledger, keep_days)


def answered(host: Host, lane: str) -> int:
    at_ms = told(host, lane)
    host.follow_ups.answered(lane, [one.name for one in host.ledger.unanswered(lane)])
    host.ledger.set_session(lane, "s-1")
    return at_ms


def test_a_lane_that_was_silent_for_long_goes_with_all_that_is_its_own(host: Host, tmp_path: Path) -> None:
    at_ms = answered(host, LANE)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    (host.layout.ipc(LANE) / "planted").symlink_to(outside)  # T-41
    assert retention(host).once(at_ms + 90 * DAY_MS) == []
    assert retention(host).once(at_ms + 91 * DAY_MS) == [LANE]
    assert not any(place(LANE).exists() for place in (host.layout.ipc, host.layout.state, host.layout.lock))
    assert (host.ledger.session(LANE), host.ledger.lane(LANE)) == (None, None)
    assert (outside / "kept").exists()


def test_a_lane_that_is_made_anew_tells_nothing_twice(host: Host) -> None:
    at_ms = answered(host, LANE)
    host.ledger.set_position("out:family-run1", 7)
    retention(host).once(at_ms + 91 * DAY_MS)
    assert host.ledger.position("out:family-run1") == 7
    told(host, LANE, "more")
    assert len(host.ledger.unanswered(LANE)) == 1


def test_what_waits_or_works_or_is_a_groups_own_stays(host: Host) -> None:
    late_ms = told(host, LANE) + 1000 * DAY_MS
    busy = "family.family-run2"
    answered(host, busy)
    answered(host, "family")
    with held(host.layout.lock(busy), busy):
        assert retention(host).once(late_ms) == []
    assert retention(host, keep_days=0).once(late_ms) == []
    assert retention(host).once(late_ms) == [busy]
