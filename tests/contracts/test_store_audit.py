"""The audit (O-34, docs/security.md): what any store promises of it."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from exec_daemon.store import AuditBreak, NewAuditLine, Outcome, Store
from exec_daemon.store.audit_chain import covered, line_hash
from messaging import ErrorCode
from tests.contracts.samples import at, failure, job
from tests.contracts.test_store_journal import begun

NOTE = NewAuditLine(
    at=at(9),
    identity="operator/local",
    op="token.create",
    args_digest="d",
    call_id="tok-1",
    outcome="succeeded",
)


async def outcomes(store: Store) -> list[tuple[str, str]]:
    return [(line.call_id, line.outcome) for line in reversed(await store.audit())]


async def test_an_executed_call_has_a_line_with_who_what_and_how_it_ended(store: Store) -> None:  # O-34
    made = await begun(store, asked_by="harvester/local", on_behalf_of="heron")
    await store.finish(made.id, Outcome(error=failure(ErrorCode.NOT_FOUND), duration_ms=3))
    (line,) = await store.audit()
    assert (line.seq, line.at, line.identity, line.asked_by) == (1, at(1), "agent/heron", "harvester/local")
    assert (line.op, line.args_digest, line.call_id) == ("dm.send", job().digest, "c1")
    assert (line.job_id, line.outcome, line.duration_ms) == (made.id, "NOT_FOUND", 3.0)


async def test_a_call_that_may_have_effects_outside_is_noted_before_it_runs(store: Store) -> None:  # D108
    made = await begun(store, effects_inside=False)
    assert await outcomes(store) == [("c1", "running")]
    await store.finish(made.id, Outcome())
    assert await outcomes(store) == [("c1", "running"), ("c1", "succeeded")]


async def test_a_replay_is_no_second_line(store: Store) -> None:
    await store.finish((await begun(store)).id, Outcome())
    await store.begin(job())
    assert len(await store.audit()) == 1


async def test_what_a_start_ends_is_noted(store: Store) -> None:
    await begun(store, "inside")
    await begun(store, "outside", effects_inside=False)
    await store.interrupt_running()
    assert await outcomes(store) == [
        ("outside", "running"),
        ("inside", "UNAVAILABLE"),
        ("outside", "INTERRUPTED"),
    ]


async def test_what_is_no_job_can_be_noted(store: Store) -> None:
    line = await store.note(NOTE)
    assert asdict(line) == asdict(NOTE) | {"seq": 1, "hash": line_hash("", 1, *covered(NOTE))}
    assert await store.audit() == [line]


async def test_each_hash_covers_the_line_before(store: Store) -> None:  # D111
    first, second = await store.note(NOTE), await store.note(NOTE)
    assert second.hash == line_hash(first.hash, 2, *covered(NOTE))


async def test_the_audit_is_read_in_pages_from_its_end(store: Store) -> None:
    lines = [await store.note(NOTE) for _ in range(5)]
    assert await store.audit(limit=2) == [lines[4], lines[3]]
    assert await store.audit(limit=2, before=4) == [lines[2], lines[1]]


async def test_a_chain_that_nobody_touched_is_whole(store: Store) -> None:
    assert (await store.check_audit()).lines == 0
    for number in range(5):
        await store.finish((await begun(store, f"c{number}")).id, Outcome(duration_ms=number))
    found = await store.check_audit()
    (newest,) = await store.audit(limit=1)
    assert (found.lines, found.last, found.hash, found.broken) == (5, 5, newest.hash, None)


@pytest.mark.parametrize(
    ("noted", "broken"),
    [
        ({}, None),
        ({2: "0" * 64}, AuditBreak(2, "line 2 has another hash than the one that was noted")),
        ({9: "0" * 64}, AuditBreak(4, "line 4 and what follows it are missing")),
    ],
)
async def test_an_end_noted_elsewhere_has_to_be_in_the_chain(
    store: Store, noted: dict[int, str], broken: AuditBreak | None
) -> None:
    lines = [await store.note(NOTE) for _ in range(3)]
    assert (await store.check_audit({2: lines[1].hash})).broken is None
    assert (await store.check_audit(noted)).broken == broken
