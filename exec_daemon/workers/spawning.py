"""What a spawn brings about: for each worker a thread, its envelope, a job that waits for a verdict; pure.

The job is a run like those of timers (`exec_daemon/timers`), of no schedule: nudge, deadline and verdict are
theirs. The worker's id is made of the job's, so that whoever finds the one knows the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from exec_daemon.store.sources import NewId
from exec_daemon.store.timer_values import Post, RunState, Start, Timer, TimerRun, TimerState, TimerStep
from exec_daemon.store.values import NewJob, NewThread
from exec_daemon.store.worker_values import Worker
from exec_daemon.timers.plan import Misfire, Plan
from exec_daemon.timers.reading import Kind
from exec_daemon.timers.zones import UTC_NAME
from exec_daemon.worker_template import WorkerRuntime, WorkerTemplate
from exec_daemon.workers.view import session_of
from messaging import AuthorKind, MessageKind, NewMessage, OpInfo, digest
from messaging.moment import iso
from prompt_envelope import EnvelopeContext, wrap

# The `op` of a worker's job: no call of anybody's made it (`store/once.py` knows it too).
WORKER_JOB: Final = "worker"
# The author of what a worker is told by us.
AUTHOR: Final = "workers"
# As with timers: who said nothing for so long is asked once.
_NUDGE_S: Final = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked for. `told` is the thread that hears of the end."""

    template: WorkerTemplate
    prompt: str
    owner: str
    root: str
    depth: int
    timeout_s: int
    name: str | None = None
    cwd: str | None = None
    told: str | None = None


def worker_id(job_id: str) -> str:
    """`w-3f…` of `job-3f…`."""
    return f"w-{job_id.removeprefix('job-')}"


def new_worker(order: Order, number: int, count: int, now: datetime, new_id: NewId) -> Worker:
    """One of `count` workers, the first of which has number 1."""
    job = new_id("job")
    made = worker_id(job)
    name = order.name or made
    return Worker(
        id=made,
        name=name if count == 1 or order.name is None else f"{name}-{number}",
        owner=order.owner,
        root=order.root,
        depth=order.depth,
        template=order.template.name,
        runtime=str(order.template.runtime),
        cwd=order.cwd,
        thread=made,
        job=job,
        told=order.told,
        created_at=iso(now),
        updated_at=iso(now),
    )


def given(order: Order, worker: Worker, ops: Sequence[OpInfo], now: datetime, new_id: NewId) -> TimerStep:
    """The step that makes the worker's thread, begins its job and tells it what to do."""
    plan = Plan(
        schedule=iso(now),
        schedule_type=Kind.ONCE,
        tz=UTC_NAME,
        prompt=order.prompt,
        start=iso(now),
        thread=worker.thread,
        misfire=Misfire.RUN_ONCE,
        pause_after=0,
        nudge_s=min(_NUDGE_S, max(1, order.timeout_s // 2)),
        deadline_s=order.timeout_s,
        order=True,
    )
    timer = Timer(
        id=new_id("tmr"),
        name=worker.name,
        created_by=worker.owner,
        agent=worker.id,
        plan=plan.to_json(),
        state=TimerState.COMPLETED,
        created_at=iso(now),
        updated_at=iso(now),
        last_due=iso(now),
        sent=1,
    )
    run = _run(timer, worker, plan, now, new_id)
    return TimerStep(
        timer=timer,
        was=None,
        added=(run,),
        threads=(NewThread(id=worker.thread, title=f"worker {worker.name}", agent=worker.id),),
        starts=(Start(worker.job, _job(order, worker, run)),),
        posts=(Post(run.message or "", _envelope(order, worker, run, ops, now)),),
    )


def _run(timer: Timer, worker: Worker, plan: Plan, now: datetime, new_id: NewId) -> TimerRun:
    return TimerRun(
        timer=timer.id,
        due=iso(now),
        at=iso(now),
        state=RunState.OPEN,
        job=worker.job,
        thread=worker.thread,
        message=new_id("msg"),
        deadline=iso(now + timedelta(seconds=plan.deadline_s)),
        wake_at=iso(now + timedelta(seconds=plan.nudge_s)),
    )


def _job(order: Order, worker: Worker, run: TimerRun) -> NewJob:
    """It belongs to who spawned the worker."""
    args = {
        "worker": worker.id,
        "name": worker.name,
        "agent": worker.template,
        "deadline": run.deadline,
        "prompt": order.prompt,
    }
    return NewJob(
        identity=worker.owner,
        call_id=worker.id,
        digest=digest(WORKER_JOB, args),
        op=WORKER_JOB,
        args=args,
        side_effecting=True,
        effects_inside=True,
        thread=worker.thread,
    )


def _envelope(
    order: Order, worker: Worker, run: TimerRun, ops: Sequence[OpInfo], now: datetime
) -> NewMessage:
    session = session_of(worker.id) if worker.runtime == WorkerRuntime.TMUX else None
    context = EnvelopeContext(
        now=now,
        deadline=datetime.fromisoformat(run.deadline or ""),
        job=worker.job,
        thread=worker.thread,
        worker=session,
    )
    return NewMessage(
        thread=worker.thread,
        author=AUTHOR,
        author_kind=AuthorKind.SYSTEM,
        kind=MessageKind.ENVELOPE,
        body=wrap(order.prompt, context, ops),
        job_id=worker.job,
        key=f"{AUTHOR} {worker.id}",
    )
