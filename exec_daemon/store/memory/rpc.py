"""Answers to RPC requests, and RPC tasks, in memory."""

from __future__ import annotations

from dataclasses import replace

from exec_daemon.store.json_text import kept as copied
from exec_daemon.store.memory.state import MemoryPart
from exec_daemon.store.rpc_values import RpcAnswer, RpcTask


class MemoryRpc(MemoryPart):
    """The `Rpc` part of the port."""

    async def rpc_answer(self, identity: str, request_id: str) -> RpcAnswer | None:
        return self._tables.rpc_answers.get((identity, request_id))

    async def keep_rpc_answer(self, kept: RpcAnswer, *, since: str, most: int) -> None:
        answers = self._tables.rpc_answers
        answers[kept.identity, kept.id] = replace(kept, answer=copied(kept.answer))
        mine = sorted(
            (one for one in answers.values() if one.identity == kept.identity),
            key=lambda one: one.at,
            reverse=True,
        )
        first_too_many = mine[most].at if len(mine) > most else ""
        for one in mine:
            if one.at < since or one.at <= first_too_many:
                del answers[one.identity, one.id]

    async def rpc_tasks(self, identity: str) -> list[RpcTask]:
        mine = (task for task in self._tables.rpc_tasks.values() if task.identity == identity)
        return sorted(mine, key=lambda task: task.id)

    async def keep_rpc_task(self, task: RpcTask) -> None:
        self._tables.rpc_tasks[task.identity, task.id] = task
