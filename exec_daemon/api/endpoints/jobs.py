"""`/jobs`: what runs and what ran, here or elsewhere."""

from __future__ import annotations

import time

from starlette.responses import Response

from exec_daemon.access.scope import sees_all, sees_job
from exec_daemon.api.answers import answer
from exec_daemon.api.body import query_number, query_wait_s
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.api.sse import Event, changed, last_event_id, stream
from exec_daemon.approvals.jobs import asked_job, asked_jobs, run_of
from exec_daemon.calls.steps import OUTSIDE, events_anywhere, job_anywhere, jobs_elsewhere
from exec_daemon.store import job_topic
from exec_daemon.timers.dispatch import TIMER_JOB
from exec_daemon.workers.spawning import WORKER_JOB
from messaging import ErrorCode, Job, JobEvent, JobState

_MOST = 500


def _state(ask: Ask) -> JobState | None:
    written = ask.request.query_params.get("state")
    if written is not None and written not in tuple(JobState):
        raise refuse(ErrorCode.INVALID_REQUEST, f"state must be one of {', '.join(JobState)}.")
    return JobState(written) if written else None


async def _seen(ask: Ask) -> Job:
    """The job of the path; foreign and missing answer alike (O-46)."""
    job_id = ask.request.path_params["id"]
    store = ask.services.store
    job = await asked_job(store, job_id) or await job_anywhere(store, job_id, ask.services.clock())
    if job is None or not sees_job(ask.identity, job):
        raise refuse(ErrorCode.NOT_FOUND, f"There is no job {job_id[:128]!r} that you may see.")
    return job


async def every(ask: Ask) -> Response:
    """The newest first, wherever they run; an agent gets those of its own calls."""
    store, state, limit = ask.services.store, _state(ask), query_number(ask.request, "limit", 100, _MOST)
    if not sees_all(ask.identity):
        elsewhere, whose = [], str(ask.identity)
    else:
        elsewhere, whose = await jobs_elsewhere(store, state, limit, ask.services.clock()), None
    asked = await asked_jobs(store, whose, state, limit)
    found = [*await store.jobs(whose, state, limit), *asked, *elsewhere]
    jobs = sorted(found, key=lambda job: job.created_at, reverse=True)[:limit]
    return answer({"jobs": [job.to_json() for job in jobs]})


async def one(ask: Ask) -> Response:
    """One job."""
    return answer((await _seen(ask)).to_json())


async def _events(ask: Ask, job: Job, after: int) -> list[JobEvent]:
    return await events_anywhere(ask.services.store, job, after, ask.services.clock())


async def events(ask: Ask) -> Response:
    """The steps of a job: JSON, or a stream that ends with the job where the client accepts one."""
    job = await run_of(ask.services.store, await _seen(ask))
    after = last_event_id(ask.request, query_number(ask.request, "after", -1, 2**53))
    if "text/event-stream" not in ask.request.headers.get("accept", ""):
        return answer({"events": [event.to_json() for event in await _awaited(ask, job, after)]})
    if job.state is not JobState.RUNNING and not await _events(ask, job, after):
        return Response(status_code=204)  # a client that has the end already shall not come again

    async def page(behind: int) -> list[Event]:
        return [
            Event(str(event.type), event.seq, event.to_json(), last=event.type.terminal)
            for event in await _events(ask, job, behind)
        ]

    return stream(ask, job_topic(job.id), page, after)


async def _awaited(ask: Ask, job: Job, after: int) -> list[JobEvent]:
    """Events behind `after`; with `wait` the first one of a running job is waited for."""
    services = ask.services
    until_s = time.monotonic() + query_wait_s(ask.request, services.settings.limits.max_wait_s)
    with services.store.subscribe(job_topic(job.id)) as changes:
        while True:
            found = await _events(ask, job, after)
            left_s = until_s - time.monotonic()
            if found or job.state is not JobState.RUNNING or left_s <= 0:
                return found
            news = await changed(changes, services.stopping, left_s)
            await ask.check_again()
            if not news:
                return await _events(ask, job, after)


async def cancel(ask: Ask) -> Response:
    """Stops the job if it runs, and answers with it. Cancelling twice is cancelling once."""
    job = await _seen(ask)
    if job.op == OUTSIDE and job.state is JobState.RUNNING:
        raise refuse(ErrorCode.INVALID_REQUEST, f"{job.id} runs elsewhere; stop it where it runs.")
    if job.op in (TIMER_JOB, WORKER_JOB):
        await ask.services.timers.cancel(job.id, f"cancelled by {ask.identity}")
    if job.state is JobState.AWAITING_APPROVAL:
        await ask.services.deciding.withdraw(ask.identity, job.id)
    await ask.services.executor.jobs.cancel((await run_of(ask.services.store, job)).id)
    return answer((await _seen(ask)).to_json())
