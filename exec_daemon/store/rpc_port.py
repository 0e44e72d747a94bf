"""The part of the store's port that remembers for the RPC."""

from __future__ import annotations

from typing import Protocol

from exec_daemon.store.rpc_values import RpcAnswer, RpcTask


class Rpc(Protocol):
    """What a client of the RPC finds again after it, or the daemon, was away."""

    async def rpc_answer(self, identity: str, request_id: str) -> RpcAnswer | None:
        """The answer that was kept, however old: judging that is the caller's part."""
        ...

    async def keep_rpc_answer(self, kept: RpcAnswer, *, since: str, most: int) -> None:
        """Keeps it in place of an earlier one of its id.

        Of the same identity those before `since` go, and the oldest where there are more than `most`.
        """
        ...

    async def rpc_tasks(self, identity: str) -> list[RpcTask]:
        """Those of one identity, by id."""
        ...

    async def keep_rpc_task(self, task: RpcTask) -> None:
        """Keeps how it stands now."""
        ...
