"""How far readers have read (O-83, O-85): what any store promises."""

from __future__ import annotations

import pytest

from exec_daemon.store import NoSuchThread, Store
from tests.contracts.samples import message, thread


async def test_a_reader_never_becomes_one_who_has_read_less(store: Store) -> None:  # O-85
    await store.create_thread(thread("ops"))
    for _ in range(3):
        await store.append(message("ops"))
    assert (await store.mark_read("ops", "agent/heron", 2)).seq == 2
    assert (await store.mark_read("ops", "agent/heron", 1)).seq == 2
    assert (await store.mark_read("ops", "agent/heron", 99)).seq == 3
    await store.mark_read("ops", "agent/crane", 1)
    assert [(one.reader, one.seq) for one in await store.readings("ops")] == [
        ("agent/crane", 1),
        ("agent/heron", 3),
    ]
    assert await store.readings("none") == []


async def test_what_is_not_there_cannot_be_read(store: Store) -> None:
    with pytest.raises(NoSuchThread):
        await store.mark_read("none", "agent/heron", 1)
