"""Workers as the reads of the box see them (O 7.1, rows 12 and 23)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from exec_daemon.box.ports import Scope, WorkerFacts
from exec_daemon.store.worker_values import OVER, Worker
from exec_daemon.worker_template import WorkerRuntime
from exec_daemon.workers.view import session_of

# Three heartbeats of the longest kind: who was not seen for so long has no host that looks after it.
_DEAD_AFTER: Final = timedelta(seconds=90)


def worker_facts(worker: Worker) -> WorkerFacts:
    """`alive` None: it was not started yet, or is over."""
    seen = worker.heartbeat_at
    known = seen is not None and worker.state not in OVER
    return WorkerFacts(
        id=worker.id,
        state=str(worker.state),
        alive=datetime.now(UTC) - datetime.fromisoformat(seen) < _DEAD_AFTER if seen and known else None,
        agent=worker.template,
        tmux_target=session_of(worker.id) if worker.runtime == WorkerRuntime.TMUX else None,
        heartbeat_at=seen,
        job=worker.job,
    )


def may_see(worker: Worker, scope: Scope) -> bool:
    """Workers are seen by who has them (O-46)."""
    return scope.identity in (None, worker.owner, worker.root)
