"""Reads in threads: their time limit, and a store that does not answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from exec_daemon.box import BoxContext, FactsUnavailable, Scope
from exec_daemon.box_reads import BoxReads
from exec_daemon.identity import Identity, Role
from exec_daemon.store import StoreFull
from exec_daemon.store.memory import MemoryStore
from exec_daemon.store_facts import FactsFromStore, scope_of
from messaging import CallError, ErrorCode, Thread

HERON = Identity(Role.AGENT, "heron")


async def test_a_read_that_hangs_ends_as_a_retryable_timeout() -> None:  # O 7.1, O-32
    go = threading.Event()

    def hanging(_: Scope) -> BoxContext:
        return BoxContext(clock=lambda: float(go.wait(30)))

    reads = BoxReads(hanging, limit_s=0.05)
    ended = await reads("info", None, HERON)
    go.set()
    reads.close()
    assert isinstance(ended, CallError)
    assert (ended.code, ended.retryable) == (ErrorCode.TIMEOUT, True)


async def test_a_refused_read_is_an_error_of_the_call() -> None:
    reads = BoxReads(lambda scope: BoxContext(scope=scope), limit_s=5)
    ended = await reads("cpu", "x", HERON)
    reads.close()
    assert isinstance(ended, CallError)
    assert ended.code is ErrorCode.INVALID_ARGS


class Full(MemoryStore):
    """A store whose disk does not serve."""

    async def thread(self, thread_id: str) -> Thread | None:
        raise StoreFull("no space", thread_id)


async def test_facts_that_the_store_cannot_give_are_unavailable() -> None:
    facts = FactsFromStore(Full(), asyncio.get_running_loop())
    with pytest.raises(FactsUnavailable):
        await asyncio.to_thread(facts.thread, "t", Scope())


@pytest.mark.parametrize(
    ("role", "scope"),
    [
        (Role.OPERATOR, None),
        (Role.VIEWER, None),
        (Role.HARVESTER, None),
        (Role.AGENT, "agent/x"),
        (Role.WORKER, "worker/x"),
    ],
)
def test_the_scope_of_a_read_follows_from_the_role(role: Role, scope: str | None) -> None:  # O-46
    assert scope_of(Identity(role, "x")).identity == scope


async def test_what_this_daemon_does_not_have_is_none(store: MemoryStore) -> None:  # O-45
    facts = FactsFromStore(store, asyncio.get_running_loop())
    missing: list[Callable[[], object]] = [
        lambda: facts.workers(Scope()),
        lambda: facts.worker("w", Scope()),
        lambda: facts.timers(Scope()),
        lambda: facts.timer("t", Scope()),
        lambda: facts.usage(Scope()),
        lambda: facts.agent("nobody"),
        lambda: facts.job("job-0", Scope()),
        lambda: facts.thread("none", Scope()),
    ]
    assert [await asyncio.to_thread(ask) for ask in missing] == [None] * len(missing)
