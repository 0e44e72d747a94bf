"""The rules of a decision, in the order in which they are asked; each one pure.

The rule of `allow` asks for an allowance, so what no grant speaks about is denied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from exec_daemon.access.grants import matches
from exec_daemon.access.identity import Identity
from exec_daemon.access.stack import Place, Placed, Stack, built_in, saying


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
class Question:
    """A call that is decided on; `stack` are the grants that hold."""

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


def _scope(ask: Question) -> Verdict:
    scopes = ask.facts.scopes
    if not scopes or matches(scopes, ask.op):
        return Verdict("token: scopes")
    return Verdict("token: scopes", f"the token is limited to {', '.join(scopes)}")


def _deny(ask: Question) -> Verdict:
    denying = next((placed for placed in ask.stack if matches(placed.grant.deny, ask.op)), None)
    if denying is None:
        return Verdict("no grant denies it")
    return Verdict(denying.at("deny"), f"{ask.op} is denied to {ask.identity}")


def _allow(ask: Question) -> Verdict:
    placed = ask.saying("allow")
    if matches(placed.grant.allow or (), ask.op):
        return Verdict(placed.at("allow"))
    whose = "role" if placed.place is Place.BUILT_IN else "grant of"
    return Verdict(placed.at("allow"), f"the {whose} {placed.subject} does not include {ask.op}")


def _recipient(ask: Question) -> Verdict:
    placed, recipient = ask.saying("recipients"), ask.args.get("to")
    if ask.op != "dm.send" or recipient is None:
        return Verdict("not asked")
    globs = placed.grant.recipients or ()
    mine = tuple(glob.replace("{owner}", ask.facts.owner or "") for glob in globs)
    allowed = matches(mine, str(recipient))
    return Verdict(
        placed.at("recipients"), None if allowed else f"{ask.identity} may not send to {recipient}"
    )


def _wakes(ask: Question) -> Verdict:
    placed, target = ask.saying("wakes"), ask.args.get("target")
    if ask.op not in ("cron.create", "cron.update") or target is None:
        return Verdict("not asked")
    mine = tuple(glob.replace("{self}", ask.identity.name) for glob in placed.grant.wakes or ())
    allowed = matches(mine, str(target))
    return Verdict(
        placed.at("wakes"), None if allowed else f"the timers of {ask.identity} may not wake {target}"
    )


def _box(ask: Question) -> Verdict:
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


def _chain(ask: Question) -> Verdict:
    barred = ask.facts.barred
    if barred is None:
        return Verdict("nothing that was read bars it")
    if barred.asks:
        return Verdict(barred.where)
    return Verdict(barred.where, f"{ask.op} is barred in a thread in which {barred.mark} was read")


Rule = Callable[[Question], Verdict]

RULES: tuple[tuple[str, Rule], ...] = (
    ("token scope", _scope),
    ("grant deny", _deny),
    ("grant allow", _allow),
    ("grant recipients", _recipient),
    ("grant wakes", _wakes),
    ("grant box", _box),
    ("chain", _chain),
)
