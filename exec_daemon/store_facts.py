"""The store as the reads of the box see it: `exec_daemon.box.ports.StoreFacts` over our `Store`.

The reads run in worker threads and the store lives on the event loop; each question goes there and back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

from exec_daemon.access.grants import ROLE_GRANTS
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.scope import sees_all
from exec_daemon.box.errors import FactsUnavailable
from exec_daemon.box.ports import (
    AgentFacts,
    ErrorFacts,
    QueueFacts,
    Scope,
    TimerFacts,
    UsageFacts,
    WorkerFacts,
)
from exec_daemon.store import PAGE, Agent, Approval, ApprovalState, LastRun, Spending, StoreError
from exec_daemon.store.timer_port import LISTED, TIMER_PAGE
from exec_daemon.store.timer_values import Timer, TimerRun, TimerState
from exec_daemon.store.worker_port import WORKER_PAGE
from exec_daemon.store.worker_values import ALIVE, Worker, WorkerState
from exec_daemon.timer_facts import RUNS_SHOWN, timer_facts, visible
from exec_daemon.worker_facts import may_see, worker_facts
from messaging import Job, JobEvent, JobState, Message, Thread
from messaging.moment import iso

T = TypeVar("T")

# A read has five seconds in all (O 7.1); a store that is this slow is reported, not waited for.
_WAIT_S: Final = 4.0
_WEEK: Final = timedelta(days=7)
# Counting stops here: a queue of so many jobs is long, however long it is.
_MOST_COUNTED: Final = 1000


def scope_of(identity: Identity) -> Scope:
    """What the reads show to `identity` (O-46)."""
    return Scope() if sees_all(identity) else Scope(str(identity))


def _age_s(at: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()


def _usd(spent: Spending) -> float | None:
    return None if spent.cost_microusd is None else spent.cost_microusd / 1_000_000


def _usage(week: Spending, today: Spending | None) -> UsageFacts:
    """A day without a run is a zero that is known."""
    return UsageFacts(
        agent=week.agent,
        model=week.model or "not reported",
        tokens_today=today.tokens if today else 0,
        tokens_7d=week.tokens,
        usd_today=_usd(today) if today else 0.0,
        usd_7d=_usd(week),
    )


def _error(job: Job) -> ErrorFacts:
    failed = job.error or {}
    return ErrorFacts(
        at=job.ended_at or job.created_at,
        code=str(failed.get("code", "")),
        message=str(failed.get("message", "")),
        op=job.op,
        job=job.id,
        thread=job.thread,
    )


class Questions(Protocol):
    """What facts are made of: the part of the port `Store` that is asked, with the same promises."""

    async def thread(self, thread_id: str) -> Thread | None: ...

    async def threads(self, agent: str | None = None, limit: int = PAGE) -> list[Thread]: ...

    async def messages(self, thread_id: str, after: int = 0, limit: int = PAGE) -> list[Message]: ...

    async def agent(self, name: str) -> Agent | None: ...

    async def agents(self) -> list[Agent]: ...

    async def job(self, job_id: str) -> Job | None: ...

    async def jobs(
        self, identity: str | None = None, state: JobState | None = None, limit: int = PAGE
    ) -> list[Job]: ...

    async def events(self, job_id: str, after: int = -1) -> list[JobEvent]: ...

    async def spending(self, since: str, agent: str | None = None) -> list[Spending]: ...

    async def last_runs(self) -> list[LastRun]: ...

    async def timer(self, timer_id: str) -> Timer | None: ...

    async def timers(
        self,
        *,
        created_by: str | None = None,
        name: str | None = None,
        states: tuple[TimerState, ...] = LISTED,
        limit: int = TIMER_PAGE,
    ) -> list[Timer]: ...

    async def timer_runs(self, timer_id: str, limit: int = TIMER_PAGE) -> list[TimerRun]: ...

    async def worker(self, worker_id: str) -> Worker | None: ...

    async def workers(
        self,
        *,
        owner: str | None = None,
        states: tuple[WorkerState, ...] = ALIVE,
        limit: int = WORKER_PAGE,
    ) -> list[Worker]: ...

    async def approvals(
        self, state: ApprovalState | None = None, identity: str | None = None, limit: int = PAGE
    ) -> list[Approval]: ...


class FactsFromStore:
    """Answers from `store`, which lives on `loop`. Never to be called on that loop."""

    def __init__(self, store: Questions, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop

    def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(question, self._loop).result(_WAIT_S)
        except TimeoutError:
            raise FactsUnavailable(f"no answer within {_WAIT_S:g} s") from None
        except StoreError as failed:
            raise FactsUnavailable(type(failed).__name__) from None

    def _agent_facts(self, agent: Agent, running: Sequence[Job], last: LastRun | None) -> AgentFacts:
        mine = f"{Role.AGENT}/{agent.name}"
        return AgentFacts(
            name=agent.name,
            role=agent.role,
            thread=agent.thread,
            adapter=last.adapter if last else None,
            last_seen=last.at if last else None,
            session=last.session if last else None,
            current_job=next((job.id for job in running if job.identity == mine), None),
            permissions=ROLE_GRANTS[Role.AGENT].allow or (),
        )

    def _running(self) -> Sequence[Job]:
        return self._ask(self._store.jobs(state=JobState.RUNNING, limit=_MOST_COUNTED))

    def _last_runs(self) -> dict[str, LastRun]:
        return {last.agent: last for last in self._ask(self._store.last_runs())}

    def agents(self) -> Sequence[AgentFacts]:
        running, last = self._running(), self._last_runs()
        found = self._ask(self._store.agents())
        return [self._agent_facts(agent, running, last.get(agent.name)) for agent in found]

    def agent(self, name: str) -> AgentFacts | None:
        agent = self._ask(self._store.agent(name))
        if agent is None:
            return None
        return self._agent_facts(agent, self._running(), self._last_runs().get(name))

    def workers(self, scope: Scope) -> Sequence[WorkerFacts] | None:
        found = self._ask(self._store.workers(owner=scope.identity))
        return [worker_facts(worker) for worker in found]

    def worker(self, worker_id: str, scope: Scope) -> WorkerFacts | None:
        worker = self._ask(self._store.worker(worker_id))
        return worker_facts(worker) if worker is not None and may_see(worker, scope) else None

    def timers(self, scope: Scope) -> Sequence[TimerFacts] | None:
        found = self._ask(self._store.timers(created_by=scope.identity))
        return [self._timer_facts(timer, 1) for timer in found]

    def timer(self, id_or_name: str, scope: Scope) -> TimerFacts | None:
        timer = self._ask(self._store.timer(id_or_name))
        if timer is None or not visible(timer, scope):
            named = self._ask(self._store.timers(created_by=scope.identity, name=id_or_name, limit=2))
            timer = named[0] if len(named) == 1 else None
        return None if timer is None else self._timer_facts(timer, RUNS_SHOWN)

    def _timer_facts(self, timer: Timer, runs: int) -> TimerFacts:
        return timer_facts(timer, self._ask(self._store.timer_runs(timer.id, runs)))

    def open_jobs(self, scope: Scope, limit: int) -> Sequence[Job]:
        return self._ask(self._store.jobs(scope.identity, JobState.RUNNING, limit))

    def ended_jobs(self, scope: Scope, limit: int) -> Sequence[Job]:
        good = self._ask(self._store.jobs(scope.identity, JobState.SUCCEEDED, limit))
        bad = self._ask(self._store.jobs(scope.identity, JobState.FAILED, limit))
        return sorted([*good, *bad], key=lambda job: job.ended_at or "", reverse=True)[:limit]

    def job(self, job_id: str, scope: Scope) -> Job | None:
        job = self._ask(self._store.job(job_id))
        return job if job and scope.identity in (None, job.identity) else None

    def job_events(self, job_id: str, limit: int) -> Sequence[JobEvent]:
        return self._ask(self._store.events(job_id))[-limit:]

    def threads(self, scope: Scope, limit: int) -> Sequence[Thread]:
        if scope.identity is not None and scope.agent is None:
            return []
        return self._ask(self._store.threads(scope.agent, limit))

    def thread(self, thread_id: str, scope: Scope) -> Thread | None:
        thread = self._ask(self._store.thread(thread_id))
        if thread is None or scope.identity is None:
            return thread
        return thread if scope.agent is not None and thread.agent == scope.agent else None

    def last_messages(self, thread_id: str, limit: int) -> Sequence[Message]:
        thread = self._ask(self._store.thread(thread_id))
        after = max(0, thread.last_seq - limit) if thread else 0
        return self._ask(self._store.messages(thread_id, after, limit))

    def queue(self) -> QueueFacts:
        running = self._running()
        oldest = min((job.created_at for job in running), default=None)
        waiting = self._ask(self._store.approvals(ApprovalState.PENDING, None, _MOST_COUNTED))
        return QueueFacts(
            running_jobs=len(running),
            oldest_running_s=_age_s(oldest) if oldest else None,
            approvals_pending=len(waiting),
        )

    def usage(self, scope: Scope) -> Sequence[UsageFacts] | None:
        if scope.identity is not None and scope.agent is None:
            return []
        now = datetime.now(UTC)
        week = self._ask(self._store.spending(iso(now - _WEEK), scope.agent))
        today = self._ask(
            self._store.spending(iso(now.replace(hour=0, minute=0, second=0, microsecond=0)), scope.agent)
        )
        of_today = {(each.agent, each.model): each for each in today}
        return [_usage(each, of_today.get((each.agent, each.model))) for each in week]

    def errors(self, scope: Scope, limit: int) -> Sequence[ErrorFacts]:
        failed = self._ask(self._store.jobs(scope.identity, JobState.FAILED, limit))
        return [_error(job) for job in failed]
