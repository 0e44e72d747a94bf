"""Where marks of reads are kept: noted before the read runs, looked up before what they may forbid."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from exec_daemon.access.chain import ChainPolicy, barred, concerns, mark_of, watches
from exec_daemon.access.identity import Identity
from exec_daemon.access.rules import Barred
from exec_daemon.calls.admit import Admitted
from exec_daemon.store import Store
from messaging import CallRequest, Job

# The place of calls that were made directly: their thread is the asker's own word, so all are one place.
NOWHERE = ""
# Who fetches an old result has read what it holds; through so many fetches of fetches it is looked for.
_FETCH: Final = "job.get"
_MOST_FETCHES: Final = 8


def place(request: CallRequest) -> str | None:
    """The thread that a call was found in, by the record; None for a call that names its thread itself."""
    return request.thread if request.on_behalf_of is not None else None


class Chain:
    """Marks in the store, and those that this daemon has noted already."""

    def __init__(self, store: Store, policy: ChainPolicy) -> None:
        self._store = store
        self._policy = policy
        self._noted: set[tuple[str, ...]] = set()

    def watches(self, identity: Identity) -> bool:
        """Can anything be forbidden to it by what it has read?"""
        return watches(self._policy, identity)

    async def note(self, call: Admitted, request: CallRequest) -> None:
        """Before the read: who cannot be marked does not read. Raises `StoreError`."""
        if not self.watches(call.identity):
            return
        async for op, args in self._reads(call.op.name, call.args):
            mark = mark_of(self._policy, call.identity, op, args)
            if mark is not None:
                await self._add(str(call.identity), place(request) or NOWHERE, mark)

    async def _reads(self, op: str, args: Mapping[str, Any]) -> AsyncIterator[tuple[str, Mapping[str, Any]]]:
        """The call, and where it fetches what another one gave, that other one."""
        yield op, args
        for _ in range(_MOST_FETCHES):
            job = await self._ran(str(args.get("id"))) if op == _FETCH else None
            if job is None:
                return
            op, args = job.op, job.args
            yield op, args

    async def _ran(self, job_id: str) -> Job | None:
        approval = await self._store.approval(job_id)
        return await self._store.job(approval.job_id or job_id if approval else job_id)

    async def _add(self, *row: str) -> None:
        if row not in self._noted:
            await self._store.add_mark(*row)
            self._noted.add(row)

    async def count_everywhere(self, identity: Identity) -> None:
        """What it has read anywhere counts everywhere from now on. Raises `StoreError`.

        For who looks at results and messages by itself: where it takes them nobody can see.
        """
        if not self.watches(identity):
            return
        for mark in await self._store.marks(str(identity), None):
            await self._add(str(identity), NOWHERE, mark)

    async def barred(self, identity: Identity, op: str, thread: str | None) -> Barred | None:
        """What forbids the op in this thread; without one, whatever was read anywhere counts."""
        if not concerns(self._policy, identity, op):
            return None
        return barred(self._policy, await self._store.marks(str(identity), thread))
