"""May this identity run this op with these arguments? Pure: no clock, no store, no transport (O-33, O-52).

`RULES` are asked in order; the first that objects decides. The rule of `allow` asks for an allowance, so
what no grant speaks about is denied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from exec_daemon.access.grants import matches
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.stack import Place, Placed, Stack, built_in, saying
from messaging import Message


@dataclass(frozen=True, slots=True)
class Decision:
    """`rule` names what decided, `reason` is for the asker, `where` says where the rule stands."""

    allowed: bool
    rule: str
    reason: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """What a chain of calls forbids: `mark` was read before, by the policy at `where` (docs/grants.md).

    `asks`: a person may allow it all the same.
    """

    mark: str
    where: str
    asks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the decision may know beyond the call.

    `scopes` are the op globs that the asker's token is limited to, none when it is not. `owner` is the
    agent that a worker belongs to. `grants` are those of the identity; without any, its role's own hold.
    `barred` is set where something that was read forbids this op.
    """

    scopes: tuple[str, ...] = ()
    owner: str | None = None
    grants: Stack = ()
    barred: Barred | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    identity: Identity
    op: str
    args: Mapping[str, Any]
    facts: Facts
    stack: Stack

    def saying(self, key: str) -> Placed:
        return saying(self.stack, key) or built_in(self.identity.role)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one rule says: `objection` is None where it has none; `where` is what it looked at."""

    where: str
    objection: str | None = None


def _scope(ask: _Question) -> Verdict:
    scopes = ask.facts.scopes
    if not scopes or matches(scopes, ask.op):
        return Verdict("token: scopes")
    return Verdict("token: scopes", f"the token is limited to {', '.join(scopes)}")


def _deny(ask: _Question) -> Verdict:
    denying = next((placed for placed in ask.stack if matches(placed.grant.deny, ask.op)), None)
    if denying is None:
        return Verdict("no grant denies it")
    return Verdict(denying.at("deny"), f"{ask.op} is denied to {ask.identity}")


def _allow(ask: _Question) -> Verdict:
    placed = ask.saying("allow")
    if matches(placed.grant.allow or (), ask.op):
        return Verdict(placed.at("allow"))
    whose = "role" if placed.place is Place.BUILT_IN else "grant of"
    return Verdict(placed.at("allow"), f"the {whose} {placed.subject} does not include {ask.op}")


def _recipient(ask: _Question) -> Verdict:
    placed, recipient = ask.saying("recipients"), ask.args.get("to")
    if ask.op != "dm.send" or recipient is None:
        return Verdict("not asked")
    globs = placed.grant.recipients or ()
    mine = tuple(glob.replace("{owner}", ask.facts.owner or "") for glob in globs)
    allowed = matches(mine, str(recipient))
    return Verdict(
        placed.at("recipients"), None if allowed else f"{ask.identity} may not send to {recipient}"
    )


def _wakes(ask: _Question) -> Verdict:
    placed, target = ask.saying("wakes"), ask.args.get("target")
    if ask.op not in ("cron.create", "cron.update") or target is None:
        return Verdict("not asked")
    mine = tuple(glob.replace("{self}", ask.identity.name) for glob in placed.grant.wakes or ())
    allowed = matches(mine, str(target))
    return Verdict(
        placed.at("wakes"), None if allowed else f"the timers of {ask.identity} may not wake {target}"
    )


def _box(ask: _Question) -> Verdict:
    placed, action = ask.saying("box"), ask.args.get("action")
    if ask.op != "box.exec" or action is None:
        return Verdict("not asked")
    arg = ask.args.get("arg")
    if any(_covers(entry, str(action), arg) for entry in placed.grant.box or ()):
        return Verdict(placed.at("box"))
    read = str(action) if arg is None else f"{action} {arg}"
    return Verdict(placed.at("box"), f"{ask.identity} may not read {read}")


def _covers(entry: str, action: str, arg: Any) -> bool:
    """`logs` covers each argument, `logs:nginx*` those that the glob names. One whole value, never a line of
    them: a glob cannot reach over a blank into a further argument (D009).
    """
    name, _, glob = entry.partition(":")
    return fnmatchcase(action, name) and (not glob or (arg is not None and fnmatchcase(str(arg), glob)))


def _chain(ask: _Question) -> Verdict:
    barred = ask.facts.barred
    if barred is None:
        return Verdict("nothing that was read bars it")
    if barred.asks:
        return Verdict(barred.where)
    return Verdict(barred.where, f"{ask.op} is barred in a thread in which {barred.mark} was read")


Rule = Callable[[_Question], Verdict]

RULES: tuple[tuple[str, Rule], ...] = (
    ("token scope", _scope),
    ("grant deny", _deny),
    ("grant allow", _allow),
    ("grant recipients", _recipient),
    ("grant wakes", _wakes),
    ("grant box", _box),
    ("chain", _chain),
)


def _question(identity: Identity, op: str, args: Mapping[str, Any], facts: Facts) -> _Question:
    return _Question(identity, op, args, facts, facts.grants or (built_in(identity.role),))


def decide(identity: Identity, op: str, args: Mapping[str, Any], facts: Facts) -> Decision:
    """The decision on one call. `args` may be empty where only the op is asked about."""
    ask = _question(identity, op, args, facts)
    for rule, judge in RULES:
        verdict = judge(ask)
        if verdict.objection is not None:
            return Decision(allowed=False, rule=rule, reason=verdict.objection, where=verdict.where)
    allowing = ask.saying("allow")
    whose = "role" if allowing.place is Place.BUILT_IN else "grant of"
    reason = f"the {whose} {allowing.subject} includes {op}"
    return Decision(allowed=True, rule="grant allow", reason=reason, where=allowing.at("allow"))


def verdicts(
    identity: Identity, op: str, args: Mapping[str, Any], facts: Facts
) -> tuple[tuple[str, Verdict], ...]:
    """What each rule says, also behind the one that decides: the answer of `box why`."""
    ask = _question(identity, op, args, facts)
    return tuple((rule, judge(ask)) for rule, judge in RULES)


@dataclass(frozen=True, slots=True)
class Claim:
    """A harvester's word that the agent `author` wrote the message `reply` in `thread`."""

    author: str
    thread: str | None
    reply: str | None


def decide_on_behalf(identity: Identity, claim: Claim, record: Message | None) -> Decision:
    """May `identity` act for the agent? Only the store's `record` of the reply can prove it (O-33)."""
    if identity.role is not Role.HARVESTER:
        return Decision(
            allowed=False, rule="behalf role", reason=f"{identity} may not act on behalf of others"
        )
    proven = (
        record is not None
        and record.is_reply
        and (record.author, record.thread, record.id) == (claim.author, claim.thread, claim.reply)
    )
    if not proven:
        reason = f"no reply {claim.reply} of {claim.author} is recorded in thread {claim.thread}"
        return Decision(allowed=False, rule="behalf record", reason=reason)
    return Decision(allowed=True, rule="behalf record", reason=f"{claim.author} wrote {claim.reply}")
