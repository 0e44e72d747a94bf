"""The rules of a decision, in the order in which they are asked; each one pure.

The rule of `allow` asks for an allowance, so what no grant speaks about is denied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from exec_daemon.access.grants import matches
from exec_daemon.access.identity import Identity
from exec_daemon.access.stack import NO_GRANTS, Place, Placed, Stack, built_in, saying
from messaging.quick import quickly_made


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """What a chain of calls forbids: `mark` was read before, by the policy at `where` (docs/grants.md).

    `asks`: a person may allow it all the same.
    """

    mark: str
    where: str
    asks: bool = False


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the decision may know beyond the call.

    `scopes` are the op globs that the asker's token is limited to, none when it is not. `owner` is the
    agent that a worker belongs to. `grants` are those of the identity; without any, its role's own hold.
    `barred` is set where something that was read forbids this op.
    """

    scopes: tuple[str, ...] = ()
    owner: str | None = None
    grants: Stack = NO_GRANTS
    barred: Barred | None = None


@quickly_made
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


@quickly_made
@dataclass(frozen=True, slots=True)
class Verdict:
    """What one rule says: `objection` is None where it has none.

    It looked at `key` of `placed`, or at what `note` says; in words it is needed where somebody asks why.
    """

    objection: str | None = None
    placed: Placed | None = None
    key: str = ""
    note: str = ""

    @property
    def where(self) -> str:
        """Where the rule stands."""
        return self.note if self.placed is None else self.placed.at(self.key)


_SCOPED: Final = "token: scopes"
_IN_SCOPE = Verdict(note=_SCOPED)
_NOT_DENIED = Verdict(note="no grant denies it")
_NOT_ASKED = Verdict(note="not asked")
_NOT_BARRED = Verdict(note="nothing that was read bars it")


def _scope(ask: Question) -> Verdict:
    scopes = ask.facts.scopes
    if not scopes or matches(scopes, ask.op):
        return _IN_SCOPE
    return Verdict(f"the token is limited to {', '.join(scopes)}", note=_SCOPED)


def _deny(ask: Question) -> Verdict:
    for placed in ask.stack.denying:
        if matches(placed.grant.deny, ask.op):
            return Verdict(f"{ask.op} is denied to {ask.identity}", placed, "deny")
    return _NOT_DENIED


def _allow(ask: Question) -> Verdict:
    placed = ask.saying("allow")
    if matches(placed.grant.allow or (), ask.op):
        return Verdict(None, placed, "allow")
    whose = "role" if placed.place is Place.BUILT_IN else "grant of"
    return Verdict(f"the {whose} {placed.subject} does not include {ask.op}", placed, "allow")


def _recipient(ask: Question) -> Verdict:
    recipient = ask.args.get("to")
    if ask.op != "dm.send" or recipient is None:
        return _NOT_ASKED
    placed = ask.saying("recipients")
    globs = placed.grant.recipients or ()
    mine = tuple(glob.replace("{owner}", ask.facts.owner or "") for glob in globs)
    allowed = matches(mine, str(recipient))
    return Verdict(None if allowed else f"{ask.identity} may not send to {recipient}", placed, "recipients")


def _wakes(ask: Question) -> Verdict:
    target = ask.args.get("target")
    if ask.op not in ("cron.create", "cron.update") or target is None:
        return _NOT_ASKED
    placed = ask.saying("wakes")
    mine = tuple(glob.replace("{self}", ask.identity.name) for glob in placed.grant.wakes or ())
    allowed = matches(mine, str(target))
    return Verdict(
        None if allowed else f"the timers of {ask.identity} may not wake {target}", placed, "wakes"
    )


def _box(ask: Question) -> Verdict:
    action = ask.args.get("action")
    if ask.op != "box.exec" or action is None:
        return _NOT_ASKED
    placed, arg = ask.saying("box"), ask.args.get("arg")
    if any(_covers(entry, str(action), arg) for entry in placed.grant.box or ()):
        return Verdict(None, placed, "box")
    read = str(action) if arg is None else f"{action} {arg}"
    return Verdict(f"{ask.identity} may not read {read}", placed, "box")


def _covers(entry: str, action: str, arg: Any) -> bool:
    """`logs` covers each argument, `logs:nginx*` those that the glob names. One whole value, never a line of
    them: a glob cannot reach over a blank into a further argument (D009).
    """
    name, _, glob = entry.partition(":")
    return fnmatchcase(action, name) and (not glob or (arg is not None and fnmatchcase(str(arg), glob)))


def _chain(ask: Question) -> Verdict:
    barred = ask.facts.barred
    if barred is None:
        return _NOT_BARRED
    if barred.asks:
        return Verdict(note=barred.where)
    return Verdict(f"{ask.op} is barred in a thread in which {barred.mark} was read", note=barred.where)


# Of calls of these, rules look at the arguments too.
BY_ARGUMENTS: Final = frozenset({"dm.send", "cron.create", "cron.update", "box.exec"})


def plainly_allowed(stack: Stack, op: str) -> bool:
    """Does the stack allow each call of the op, whatever its arguments? Found out once for each stack."""
    found = stack.plainly.get(op)
    if found is None:
        said = saying(stack, "allow")
        denied = any(matches(placed.grant.deny, op) for placed in stack.denying)
        allowed = said is not None and matches(said.grant.allow or (), op)
        found = stack.plainly[op] = allowed and not denied and op not in BY_ARGUMENTS
    return found


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
