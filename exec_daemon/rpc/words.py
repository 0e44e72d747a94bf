"""What tasks are asked and answer, as messages of a thread: an answer is a reply, and its directives run.

Whose words they are says the daemon, which started the agent and reads its pipe (O-33). Only who may record
what agents write elsewhere can bind a task to a thread, and only to one in which that agent answers.
"""

from __future__ import annotations

import asyncio
import logging

from exec_daemon.access.authors import AUTHORSHIP, RECORDED, RECORDERS, author_name
from exec_daemon.access.identity import Identity
from exec_daemon.access.scope import sees_thread
from exec_daemon.store import Store, StoreError
from messaging import MessageKind, NewMessage
from messaging.rpc import RpcCode, RpcError, rpc_error

log = logging.getLogger(__name__)


class Words:
    """Of one identity's tasks. Messages are appended in order, and nobody waits for it."""

    def __init__(self, store: Store, who: Identity) -> None:
        self._store = store
        self._who = who
        self._last: asyncio.Task[None] | None = None

    async def refusal(self, thread_id: str, agent: str) -> RpcError | None:
        """Why tasks of this agent may not speak in the thread."""
        thread = await self._store.thread(thread_id)
        if thread is None or not sees_thread(self._who, thread):
            text = f"There is no thread {thread_id!r} that you may see."
            return rpc_error(RpcCode.INVALID_REQUEST, text)
        if self._who.role not in RECORDERS:
            return rpc_error(RpcCode.FORBIDDEN, f"{self._who} may not record what agents write.")
        if thread.agent != agent:
            text = f"{thread.agent or 'No agent'} answers in {thread_id}, not {agent}."
            return rpc_error(RpcCode.INVALID_REQUEST, text)
        return None

    def asked(self, thread_id: str, message: str) -> None:
        """By the one who sent the prompt."""
        authorship = AUTHORSHIP[self._who.role]
        author = author_name(self._who, authorship)
        self._append(
            NewMessage(
                thread=thread_id,
                author=author,
                author_kind=authorship.kind,
                kind=authorship.kinds[0],
                body=message,
            )
        )

    def answered(self, thread_id: str, agent: str, text: str) -> None:
        """By the agent: a reply."""
        self._append(
            NewMessage(
                thread=thread_id, author=agent, author_kind=RECORDED.kind, kind=MessageKind.TEXT, body=text
            )
        )

    async def close(self) -> None:
        """Waits for what is still to be appended."""
        if self._last is not None:
            await asyncio.wait({self._last})

    def _append(self, message: NewMessage) -> None:
        self._last = asyncio.create_task(self._appended(message, self._last))

    async def _appended(self, message: NewMessage, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        try:
            await self._store.append(message)
        except StoreError:
            log.exception("a message of %s could not be appended to %s", message.author, message.thread)
