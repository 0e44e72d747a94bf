"""The way of one call: admit, journal.begin, run, journal.finish (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from exec_daemon.access.decide import objection
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rates import Buckets
from exec_daemon.access.rules import Facts
from exec_daemon.access.stack import Grants
from exec_daemon.access.tokens import Asker
from exec_daemon.calls.admit import Admitted, admit, effective, owner_of, take_rate, unpinned
from exec_daemon.calls.chain import Chain, place
from exec_daemon.calls.jobs import Placed, RunningJobs
from exec_daemon.calls.op import BoxRead, Ended, Keeper, Op, OpContext
from exec_daemon.calls.read_only import store_for
from exec_daemon.calls.registry import Registry
from exec_daemon.calls.waiting import ended_within
from exec_daemon.gate_spec import GateSpec
from exec_daemon.settings import DaemonLimits
from exec_daemon.store import Clock, Conflict, NewId, NewJob, Running, Store, utc_now
from exec_daemon.store import Done as Ran
from exec_daemon.workers.rules import WorkerRules
from messaging import Call, CallError, CallRequest, ErrorCode, Job, JobState, OpInfo, Result, digest, error

# Keeps a call until a person decides, and says what the asker is told; the job where it has run already.
AskAPerson: TypeAlias = Callable[[Asker, Admitted, CallRequest], Awaitable[Result | Job]]


@dataclass(frozen=True, slots=True)
class Pending:
    """The job still runs; its end will be at `/jobs/{id}`."""

    job: Job


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What a dry run found: this call would be made."""

    call: Admitted

    def to_json(self) -> dict[str, Any]:
        """`{ok, dry_run, would}`."""
        op = self.call.op
        would = {"op": op.name, "args": dict(self.call.args), "side_effecting": op.side_effecting}
        if self.call.approval is not None:
            would["approval"] = self.call.approval
        return {"ok": True, "dry_run": True, "would": would}


def result_of(job: Job, *, replayed: bool = False, text: str | None = None) -> Result:
    """The answer that an ended job gives. `text` is its result where somebody has written it already."""
    return Result(
        op=job.op,
        call_id=job.call_id,
        job_id=job.id,
        side_effecting=job.side_effecting,
        duration_ms=job.duration_ms or 0.0,
        data=job.result,
        error=None if job.error is None else CallError.from_json(job.error),
        replayed=replayed,
        text=text,
    )


def _refused(op: Op | None, request: CallRequest, failed: CallError) -> Result:
    """The answer to a call that makes no job; None for an op that nobody knows."""
    return Result(
        op=op.name if op else request.call.op,
        call_id=request.call.call_id,
        side_effecting=op is not None and op.side_effecting,
        error=failed,
    )


def _conflict(job: Job) -> CallError:
    text = f"The call id {job.call_id} stands for another call. Choose a new one."
    return error(ErrorCode.DUPLICATE_ID, text, details={"job_id": job.id})


class Executor:
    """Answers calls. Lives on the event loop; `jobs` are those that run now."""

    def __init__(
        self,
        *,
        registry: Registry,
        store: Store,
        buckets: Buckets,
        limits: DaemonLimits,
        box: BoxRead,
        keep: Keeper,
        new_id: NewId,
        clock: Clock = utc_now,
        grants: Grants | None = None,
        asking: AskAPerson | None = None,
        chain: Chain | None = None,
        workers: WorkerRules | None = None,
        gates: Mapping[str, GateSpec] | None = None,
    ) -> None:
        self._registry = registry
        self._store = store
        self._buckets = buckets
        self._limits = limits
        self._box = box
        self._keep = keep
        self._new_id = new_id
        self._asking = asking
        self._chain = chain
        self._workers = workers or WorkerRules()
        self._gates = gates or {}
        self._grants = grants or Grants(rates=limits.rates)
        self.jobs = RunningJobs(store, self._context, new_id, clock)

    async def call(
        self, asker: Asker, request: CallRequest, wait_s: float | None = None
    ) -> Result | Pending | Rehearsed:
        """Answers `request`; after `wait_s` seconds (None: as long as it takes) with a `Pending`.

        Raises `StoreError` when the journal cannot be written: then nothing ran.
        """
        call = await self._admit(asker, request)
        if isinstance(call, CallError):
            return _refused(self._registry.find(request.call.op), request, call)
        if request.dry_run:
            return Rehearsed(call)
        limited = take_rate(self._buckets, self._limits, call)
        if limited is not None:
            return _refused(call.op, request, limited)
        if call.approval is not None:
            return await self._asked(asker, call, request)
        if self._chain is not None:
            await self._chain.note(call, request)
        return await self._journaled(asker, call, request, wait_s)

    async def _asked(self, asker: Asker, call: Admitted, request: CallRequest) -> Result | Pending:
        """Who has no way to ask a person may not call what needs one."""
        if self._asking is None:
            return _refused(
                call.op, request, error(ErrorCode.FORBIDDEN, "Not allowed: nobody can approve it.")
            )
        said = await self._asking(asker, call, request)
        if isinstance(said, Result):
            return said
        if digest(said.op, dict(said.args)) != digest(call.op.name, dict(call.args)):
            return _refused(call.op, request, _conflict(said))
        return Pending(said) if said.state is JobState.RUNNING else result_of(said, replayed=True)

    async def look(self, asker: Asker, call: Call) -> Ended:
        """What a read-only op gives to the asker: decided and counted like a call, journaled as none."""
        admitted = await self._admit(asker, CallRequest(call=call))
        if isinstance(admitted, CallError):
            return admitted
        return take_rate(self._buckets, self._limits, admitted) or await self.jobs.look(admitted)

    async def admitted(self, asker: Asker, request: CallRequest) -> Admitted | CallError:
        """The call as it would be made now; nothing happens."""
        return await self._admit(asker, request)

    async def run_approved(self, asker: Asker, request: CallRequest) -> Result | Pending:
        """Begins a call that a person has approved; grants may have changed meanwhile. Does not wait."""
        call = await self._admit(asker, request)
        if isinstance(call, CallError):
            return _refused(self._registry.find(request.call.op), request, call)
        if self._chain is not None:
            await self._chain.note(call, request)
        return await self._journaled(asker, call, request, 0.0)

    async def _admit(self, asker: Asker, request: CallRequest) -> Admitted | CallError:
        identity = await effective(self._store, asker, request)
        if isinstance(identity, CallError):
            return identity
        facts = await self.facts_on(identity, request.call.op, asker.scopes, place(request))
        call = admit(self._registry, identity, facts, request.call)
        if isinstance(call, CallError) or request.op_digest is None:
            return call
        return unpinned(self._registry, call, request.op_digest) or call

    async def has_looked(self, identity: Identity) -> None:
        """Notes that it sees what calls gave without making one. Raises `StoreError`."""
        if self._chain is not None:
            await self._chain.count_everywhere(identity)

    def facts(self, identity: Identity, scopes: tuple[str, ...] = ()) -> Facts:
        """What a decision on `identity` has to know."""
        return Facts(scopes=scopes, grants=self._grants.of(identity))

    async def facts_on(
        self, identity: Identity, op: str, scopes: tuple[str, ...] = (), thread: str | None = None
    ) -> Facts:
        """The same, with whose worker it is, and what forbids this op in this thread."""
        facts = self.facts(identity, scopes)
        if identity.role is Role.WORKER:
            facts = replace(facts, owner=await owner_of(self._store, identity))
        if self._chain is None or not self._chain.watches(identity):
            return facts
        known = self._registry.find(op)
        if known is None:
            return facts
        return replace(facts, barred=await self._chain.barred(identity, known.name, thread))

    def _ops_for(self, identity: Identity) -> tuple[OpInfo, ...]:
        facts = self.facts(identity)
        may = (objection(identity, info.name, {}, facts) is None for info in self._registry.infos)
        return tuple(
            replace(info, allowed=allowed) for info, allowed in zip(self._registry.infos, may, strict=True)
        )

    async def _journaled(
        self, asker: Asker, call: Admitted, request: CallRequest, wait_s: float | None
    ) -> Result | Pending:
        new = self._new_job(asker, call, request)
        if call.op.at_once and new.fresh and wait_s is None:
            job, text = await self.jobs.at_once(call, new)
            return result_of(job, text=text)
        begun = await self._store.begin(new)
        if isinstance(begun, Conflict):
            return _refused(call.op, request, _conflict(begun.job))
        if isinstance(begun, Ran):
            return result_of(begun.job, replayed=True, text=begun.text)
        if call.op.at_once and wait_s is None:
            return result_of(await self.jobs.at_once_as(call, begun.job))
        joined = isinstance(begun, Running)
        # A running job without a task is one whose end could not be stored: it is run again if it may be.
        if joined and begun.job.id not in self.jobs and not call.op.repeatable:
            return Pending(begun.job)
        task = self.jobs.start(call, begun.job)
        ended = await ended_within(task, wait_s)
        return result_of(task.result(), replayed=joined) if ended else Pending(begun.job)

    def _new_job(self, asker: Asker, call: Admitted, request: CallRequest) -> NewJob:
        return NewJob(
            identity=str(call.identity),
            call_id=request.call.call_id or self._new_id("call"),
            digest=digest(call.op.name, dict(call.args)),
            op=call.op.name,
            args=call.args,
            side_effecting=call.op.side_effecting,
            effects_inside=call.op.effects_inside,
            thread=request.thread,
            reply=request.reply,
            on_behalf_of=request.on_behalf_of,
            fresh=request.call.call_id is None,
            asked_by=None if asker.identity == call.identity else str(asker.identity),
        )

    def _context(self, call: Admitted, place: Placed) -> OpContext:
        return OpContext(
            identity=call.identity,
            job_id=place.job_id,
            thread=place.thread,
            reply=place.reply,
            store=store_for(call.op, self._store),
            new_id=self._new_id,
            ops=self._registry.infos,
            may=lambda op: objection(call.identity, op, {}, call.facts) is None,
            box=self._box,
            keep=self._keep,
            workers=self._workers,
            gates=self._gates,
            ops_for=self._ops_for,
        )
