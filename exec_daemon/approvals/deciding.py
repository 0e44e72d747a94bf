"""A person's word on a call: said once, by somebody else than who asked, to exactly what was shown (O-36).

What is decided is durable before anything runs. So whatever dies when, `look` has the rest carried out.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from exec_daemon.access.identity import Identity
from exec_daemon.approvals.as_asked import not_as_asked
from exec_daemon.approvals.carrying_out import CarryingOut
from exec_daemon.approvals.standing import standing
from exec_daemon.calls.execute import Executor
from exec_daemon.calls.registry import Registry
from exec_daemon.store import Approval, ApprovalState, Clock, Store, StoreError, Word
from messaging import CallError, ErrorCode, error
from messaging.moment import iso

log = logging.getLogger(__name__)

# How late an expiry may be told. What has expired cannot be approved in any case.
_LOOK_EVERY_S: Final = 5.0
# Settled ones are kept so long for whoever looks back; about each hour the older ones go (D093).
KEEP: Final = timedelta(days=30)
_LOOKS_PER_SWEEP: Final = 720
# Who speaks where no person did.
_DAEMON: Final = "daemon"


class Deciding:
    """Takes answers and carries them out. Lives on the event loop."""

    def __init__(self, *, store: Store, registry: Registry, executor: Executor, clock: Clock) -> None:
        self._store = store
        self._registry = registry
        self._executor = executor
        self._clock = clock
        self._carrying = CarryingOut(store, executor, registry)

    async def approve(self, by: Identity, approval_id: str, digest: str) -> Approval | CallError:
        """Approves exactly what `digest` stands for. Approving twice is approving once."""
        found = await self._answerable(by, approval_id, ApprovalState.APPROVED)
        if isinstance(found, CallError) or found.state is ApprovalState.APPROVED:
            return found
        wrong = await self._not_as_seen(found, digest)
        if wrong is None and self._late(found):  # meanwhile
            return await self._expire(found, ApprovalState.APPROVED)
        return wrong or await self._say(found, Word(state=ApprovalState.APPROVED, by=str(by)))

    async def deny(self, by: Identity, approval_id: str, reason: str | None) -> Approval | CallError:
        """Denies it. Denying twice is denying once."""
        found = await self._answerable(by, approval_id, ApprovalState.DENIED)
        if isinstance(found, CallError) or found.state is ApprovalState.DENIED:
            return found
        return await self._say(found, Word(state=ApprovalState.DENIED, by=str(by), reason=reason))

    async def withdraw(self, by: Identity, approval_id: str) -> None:
        """Whoever asked does not want it any more."""
        approval = await self._store.approval(approval_id)
        if approval is not None and approval.state is ApprovalState.PENDING:
            await self._say(approval, Word(state=ApprovalState.DENIED, by=str(by), reason="it was withdrawn"))

    async def look(self) -> None:
        """Expires what is due, and goes on with what was decided and is not told."""
        for approval in await self._store.unsettled():
            if approval.state is not ApprovalState.PENDING:
                self._carrying.start(approval)
            elif self._late(approval):
                await self._expire(approval)

    async def keep_looking(self) -> None:
        """Looks for as long as the daemon runs; a store that does not serve is asked again."""
        for number in count():
            try:
                await self.look()
                if number % _LOOKS_PER_SWEEP == 0:
                    await self._store.forget_approvals(_earlier(self._clock(), KEEP))
            except StoreError as failed:
                log.warning("approvals wait for the store: %s", failed)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def close(self) -> None:
        """What is not told by then is told by the next daemon."""
        await self._carrying.close()

    async def _answerable(self, by: Identity, approval_id: str, wish: ApprovalState) -> Approval | CallError:
        """The approval, which is pending, or was decided as `by` wishes."""
        approval = await self._store.approval(approval_id)
        if approval is None:
            return error(ErrorCode.NOT_FOUND, f"There is no approval {approval_id[:128]!r}.")
        if str(by) in (approval.call.identity, approval.call.asker):  # D081
            text = f"Not allowed: {by} asked for it, so somebody else has to decide."
            return error(ErrorCode.FORBIDDEN, text, details={"rule": "approval self"})
        if self._late(approval):
            return await self._expire(approval, wish)
        return approval if approval.state in (ApprovalState.PENDING, wish) else _decided(approval)

    async def _not_as_seen(self, approval: Approval, digest: str) -> CallError | None:
        """Is it still what the approver saw, and may it still be called?"""
        if digest == approval.call.digest:
            return await not_as_asked(approval, self._executor, self._registry)
        text = "The digest is not that of what was asked. Look at it again: `box approvals show`."
        return error(ErrorCode.INVALID_REQUEST, text)

    def _late(self, approval: Approval) -> bool:
        return approval.state is ApprovalState.PENDING and approval.expires_at <= self._clock()

    async def _expire(self, approval: Approval, wish: ApprovalState | None = None) -> Approval | CallError:
        return await self._say(approval, Word(state=ApprovalState.EXPIRED, by=_DAEMON), wish)

    async def _say(
        self, approval: Approval, word: Word, wish: ApprovalState | None = None
    ) -> Approval | CallError:
        """The approval as it stands now; the first word counts, whosever it is."""
        said = await self._store.answer_approval(approval.id, word) or approval
        if not said.settled:
            self._carrying.start(said)
        return said if said.state is (wish or word.state) else _decided(said)


def _earlier(moment: str, by: timedelta) -> str:
    return iso(datetime.fromisoformat(moment) - by)


def _decided(approval: Approval) -> CallError:
    text = f"{approval.id} is {approval.state} by {approval.decided_by} since {approval.decided_at}."
    said = standing(approval)
    return error(ErrorCode.INVALID_REQUEST if said is None else said.code, text)
