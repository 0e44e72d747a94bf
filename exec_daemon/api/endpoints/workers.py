"""`/workers`: what workers there are, for who has them and for the host that keeps them.

Workers are started and stopped by ops (`swarm.spawn` and its kin); here is what is no call of an agent's.
"""

from __future__ import annotations

import time
from typing import Any, Literal

from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.scope import sees_all
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, query_number, query_wait_s, read_body
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.api.sse import changed
from exec_daemon.ops.swarm_fields import manages
from exec_daemon.store import thread_topic
from exec_daemon.store.timer_port import TIMERS
from exec_daemon.store.worker_port import WORKERS
from exec_daemon.store.worker_values import ALIVE, Worker, WorkerState
from exec_daemon.workers.desk import Report
from exec_daemon.workers.view import shown_worker
from messaging import ErrorCode, digest

_MOST = 500
# What changes while a worker does nothing but live: no news to who waits for some.
_NO_NEWS = frozenset({"heartbeat_at"})


class StateBody(Body):
    """How a host has found the worker. The same as before is a heartbeat."""

    state: Literal["starting", "ready", "running", "stopping", "ended", "failed"]
    reason: str | None = Field(default=None, max_length=500)
    session: str | None = Field(default=None, max_length=200)


async def _shown(ask: Ask, worker: Worker) -> dict[str, Any]:
    store = ask.services.store
    thread = await store.thread(worker.thread)
    return shown_worker(worker, await store.job(worker.job), thread.last_seq if thread else 0)


async def _found(ask: Ask, limit: int) -> list[dict[str, Any]]:
    wanted = ask.request.query_params.get("state", "alive")
    if wanted not in ("alive", "all"):
        raise refuse(ErrorCode.INVALID_REQUEST, "state must be alive or all.")
    states = ALIVE if wanted == "alive" else tuple(WorkerState)
    owner = None if sees_all(ask.identity) else str(ask.identity)
    workers = await ask.services.store.workers(owner=owner, states=states, limit=limit)
    return [await _shown(ask, worker) for worker in workers]


def _digest(rows: list[dict[str, Any]]) -> str:
    still = [{key: value for key, value in row.items() if key not in _NO_NEWS} for row in rows]
    return digest("workers", {"workers": still})[:32]


async def every(ask: Ask) -> Response:
    """The newest first. With `wait` and `seen` it waits until something is not as it was."""
    services, limit = ask.services, max(1, query_number(ask.request, "limit", 100, _MOST))
    until_s = time.monotonic() + query_wait_s(ask.request, services.settings.limits.max_wait_s)
    while True:
        rows = await _found(ask, limit)
        topics = (WORKERS, TIMERS, *(thread_topic(row["thread"]) for row in rows))
        with services.store.subscribe(*topics) as changes:
            rows = await _found(ask, limit)  # what came before the subscription
            seen, left_s = _digest(rows), until_s - time.monotonic()
            new = seen != ask.request.query_params.get("seen")
            if new or left_s <= 0 or not await changed(changes, services.stopping, left_s):
                return answer({"workers": rows, "seen": seen})
        await ask.check_again()


async def _seen(ask: Ask) -> Worker:
    """The worker of the path; foreign and missing answer alike (O-46)."""
    wanted = ask.request.path_params["id"]
    worker = await ask.services.store.worker(wanted)
    if worker is None or not (sees_all(ask.identity) or manages(ask.identity, worker)):
        raise refuse(ErrorCode.NOT_FOUND, f"There is no worker {wanted[:128]!r} that you may see.")
    return worker


async def one(ask: Ask) -> Response:
    """One worker, be it over or not."""
    return answer(await _shown(ask, await _seen(ask)))


async def state(ask: Ask) -> Response:
    """Takes a host's word, and answers with how the worker stands."""
    body = await read_body(ask.request, StateBody, ask.services.settings.limits.max_call_bytes)
    worker = await _seen(ask)
    said = Report(state=WorkerState(body.state), reason=body.reason, session=body.session)
    return answer(await _shown(ask, await ask.services.workers.report(worker.id, said) or worker))
