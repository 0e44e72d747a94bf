"""`swarm.stop`: a worker's job ends at once, its processes as soon as the host has seen to it."""

from __future__ import annotations

from pydantic import Field

from exec_daemon.calls.op import Ended, Op, OpContext, Success
from exec_daemon.ops.swarm_fields import Which, find
from exec_daemon.store.effects import StepWorkers
from exec_daemon.store.worker_values import OVER, Worker, WorkerState
from exec_daemon.timers.look import moment
from exec_daemon.timers.present import look_at
from exec_daemon.timers.turns import CANCELLED, Said
from exec_daemon.workers.desk import stopped
from messaging import CallError, ErrorCode, error


class Args(Which):
    """`reason` is shown with it."""

    reason: str | None = Field(default=None, max_length=200, description="why, for its record")


def _shown(worker: Worker, state: WorkerState) -> dict[str, str]:
    return {"worker": worker.id, "name": worker.name, "state": str(state)}


async def run(args: Args, context: OpContext) -> Ended:
    """Changes it by an effect. Stopping one that stops or is over is no change."""
    worker = await find(args, context)
    if isinstance(worker, CallError):
        return worker
    if worker.state in OVER or worker.state is WorkerState.STOPPING:
        return Success(_shown(worker, worker.state))
    found = await context.store.run_of_job(worker.job)
    look = found and await look_at(context.store, found.timer, context.clock(), context.new_id)
    if found is None or not look:
        return error(ErrorCode.NOT_FOUND, f"The job {worker.job} of {worker.name} is no longer known.")
    why = args.reason or f"stopped by {context.identity}"
    said = Said(word=CANCELLED, reply="", summary=why)
    step = stopped(look, found, worker, said, moment(context.clock()))
    return Success(_shown(worker, WorkerState.STOPPING), (StepWorkers(step),))


OP = Op(
    name="swarm.stop",
    summary="Stop a worker of yours.",
    side_effecting=True,
    arguments=Args,
    example={"worker": "w-6b1f0c", "reason": "the build is green again"},
    run=run,
)
