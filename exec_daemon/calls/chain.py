"""Where marks of reads are kept: noted before the read runs, looked up before what they may forbid."""

from __future__ import annotations

from exec_daemon.access.chain import ChainPolicy, barred, concerns, mark_of
from exec_daemon.access.identity import Identity
from exec_daemon.access.rules import Barred
from exec_daemon.calls.admit import Admitted
from exec_daemon.store import Store
from messaging import CallRequest

# The place of calls that were made directly: their thread is the asker's own word, so all are one place.
NOWHERE = ""


def place(request: CallRequest) -> str | None:
    """The thread that a call was found in, by the record; None for a call that names its thread itself."""
    return request.thread if request.on_behalf_of is not None else None


class Chain:
    """Marks in the store, and those that this daemon has noted already."""

    def __init__(self, store: Store, policy: ChainPolicy) -> None:
        self._store = store
        self._policy = policy
        self._noted: set[tuple[str, str, str]] = set()

    async def note(self, call: Admitted, request: CallRequest) -> None:
        """Before the read: who cannot be marked does not read. Raises `StoreError`."""
        mark = mark_of(self._policy, call.identity, call.op.name, call.args)
        if mark is None:
            return
        row = (str(call.identity), place(request) or NOWHERE, mark)
        if row not in self._noted:
            await self._store.add_mark(*row)
            self._noted.add(row)

    async def barred(self, identity: Identity, op: str, thread: str | None) -> Barred | None:
        """What forbids the op in this thread; without one, whatever was read anywhere counts."""
        if not concerns(self._policy, identity, op):
            return None
        return barred(self._policy, await self._store.marks(str(identity), thread))
