"""What stands between a request and the journal: names, arguments, decision, rates. Nothing has happened yet.

A call that is not admitted leaves no row anywhere: it was not executed (O-34).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from exec_daemon.access.approval import marked_by
from exec_daemon.access.decide import Claim, Decision, decide_on_behalf, objection
from exec_daemon.access.grants import Rates, matches
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.rates import Buckets, Want
from exec_daemon.access.rules import Facts
from exec_daemon.access.scope import sees_thread
from exec_daemon.access.stack import saying
from exec_daemon.access.tokens import Asker
from exec_daemon.calls.op import Arguments, Op
from exec_daemon.calls.registry import Registry, validate
from exec_daemon.settings import DaemonLimits
from exec_daemon.store import Store
from messaging import Call, CallError, CallRequest, ErrorCode, error
from messaging.quick import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that may run: `args` as they are journaled, `arguments` as the op wants them.

    `approval` is the place of the rule by which a person has to approve it first, None where none does.
    """

    op: Op
    args: Mapping[str, Any]
    arguments: Arguments
    identity: Identity
    facts: Facts
    approval: str | None = None


def want(identity: Identity, rates: Rates, *, writes: bool) -> Want:
    """The token that one read or write of `identity` costs."""
    per_min = rates.writes_per_min if writes else rates.reads_per_min
    return Want(f"{identity} {'writes' if writes else 'reads'}", per_min)


def rate_limited(wait_s: float, whose: str) -> CallError:
    """RATE_LIMITED that says when to come back."""
    text = f"{whose}: too many in the last minute. Try again in {wait_s:.1f} s."
    return error(ErrorCode.RATE_LIMITED, text, details={"retry_after_s": round(wait_s, 3)})


def forbidden(decision: Decision) -> CallError:
    """FORBIDDEN that names the rule which decided, and where it stands."""
    details = {"rule": decision.rule} | ({"where": decision.where} if decision.where else {})
    return error(ErrorCode.FORBIDDEN, f"Not allowed: {decision.reason}.", details=details)


async def _for_itself(store: Store, asker: Identity, thread_id: str | None) -> Identity | CallError:
    """The asker, unless it writes the name of a thread on its job that it cannot see (O-46)."""
    if thread_id is not None:
        thread = await store.thread(thread_id)
        if thread is None or not sees_thread(asker, thread):
            return error(ErrorCode.NOT_FOUND, f"There is no thread {thread_id[:128]!r} that you may see.")
    return asker


async def effective(store: Store, asker: Asker, request: CallRequest) -> Identity | CallError:
    """For whom the call runs: the asker, or the agent whose recorded reply it was found in."""
    name = request.on_behalf_of
    if name is None:
        return await _for_itself(store, asker.identity, request.thread)
    claim = Claim(name, request.thread, request.reply)
    record = await store.message(request.reply) if request.reply else None
    decision = decide_on_behalf(asker.identity, claim, record)
    return await author(store, name) if decision.allowed else forbidden(decision)


async def author(store: Store, name: str) -> Identity:
    """The author of a reply as the store knows it: a worker has the role of one, whatever it writes."""
    known = await store.agent(name)
    return Identity(Role.WORKER if known is not None and known.role == Role.WORKER else Role.AGENT, name)


async def owner_of(store: Store, identity: Identity) -> str | None:
    """The agent that a worker belongs to; None where a person has started it."""
    worker = await store.worker(identity.name)
    role, _, name = (worker.owner if worker else "").partition("/")
    return name if role in (Role.AGENT, Role.WORKER) else None


def admit(registry: Registry, identity: Identity, facts: Facts, call: Call) -> Admitted | CallError:
    """Normalise, validate, decide; pure."""
    written, args = registry.normalise(call.op, call.args)
    op = registry.find(written)
    if op is None:
        return registry.unknown(written)
    arguments = validate(op, args)
    if isinstance(arguments, CallError):
        return arguments
    against = objection(identity, op.name, args, facts)
    if against is not None:
        return forbidden(against)
    asks = marked_by(identity, op.name, facts, marked=op.approval)
    return Admitted(op, args, arguments, identity, facts, asks)


def unpinned(registry: Registry, call: Admitted, op_digest: str | None) -> CallError | None:
    """OP_CHANGED where the op is not the one that the caller has looked at (D112)."""
    now = registry.info(call.op.name).digest
    if op_digest in (None, now):
        return None
    text = f"{call.op.name} is not the op that was pinned. Look at it again: `box ops {call.op.name}`."
    return error(ErrorCode.OP_CHANGED, text, details={"op": call.op.name, "digest": now})


def _wants(call: Admitted, limits: DaemonLimits) -> Iterator[Want]:
    """The tokens that a call costs: of its identity, of each op glob with a rate, of the pair it joins."""
    stack = call.facts.grants
    rates, writes = stack.rates, call.op.side_effecting
    if rates.writes_per_min if writes else rates.reads_per_min:
        yield want(call.identity, rates, writes=writes)
    placed = saying(stack, "rates")
    for glob, per_min in (placed.grant.rates or {}).items() if placed else ():
        if matches((glob,), call.op.name):
            yield Want(f"{call.identity} {glob}", per_min)
    pair = call.op.pair(call.identity, call.arguments)
    if pair is not None:
        yield Want(f"{call.op.name} {pair}", limits.dm_pair_per_min)


def take_rate(buckets: Buckets, limits: DaemonLimits, call: Admitted) -> CallError | None:
    """Counts the call wherever it counts, or nowhere."""
    wants = list(_wants(call, limits))
    wait_s = buckets.take(wants) if wants else 0.0
    return rate_limited(wait_s, f"Calls of {call.identity}") if wait_s else None
