"""From the names that an agent wrote to the names that we know (GRAMMAR 5.1 and 5.2).

Pure, and the same for the harvester, the daemon and the command (O-20). Only names change: a value is
never guessed, converted or completed. A name that means nothing stays as it was written, so that the
typed error which follows shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from messaging.canonical import canonical_json
from messaging.ops import OpInfo
from patterns import BoxAction, Vocabulary, family, snake_case, spellings, vocabulary

BOX = "box.exec"


class _Meaning(NamedTuple):
    """What an op's name stands for: an op, and for `box.<action>` the action."""

    op: str
    action: BoxAction | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """The ops that are known, their arguments, and what other names mean. `names_for` builds it."""

    arguments: Mapping[str, frozenset[str]]
    bare_ops: frozenset[str]
    others: Mapping[str, _Meaning]
    synonyms: Mapping[str, Mapping[str, str]]

    def meaning(self, written: str) -> _Meaning | None:
        """The op that `written` names: a known one in some spelling, else an alias; one step, no chains."""
        if written in self.arguments:
            return _Meaning(written)
        tries = spellings(written)
        known = next((name for name in tries if name in self.arguments), None)
        if known is not None:
            return _Meaning(known)
        return next((self.others[name] for name in tries if name in self.others), None)


def _vocabulary_meanings(words: Vocabulary) -> dict[str, _Meaning]:
    named = {alias: _Meaning(op) for alias, op in words.op_aliases.items()}
    named |= {f"box.{action.name}": _Meaning(BOX, action) for action in words.box_actions.values()}
    return {spelled: meaning for name, meaning in named.items() for spelled in spellings(name)}


def _registry_meanings(registry: Iterable[OpInfo]) -> dict[str, _Meaning]:
    """Other spellings and aliases of the registry's ops; what two ops claim means neither."""
    claims: dict[str, set[str]] = {}
    for op in registry:
        for name in (op.name, *op.aliases):
            for spelled in spellings(name):
                claims.setdefault(spelled, set()).add(op.name)
    return {spelled: _Meaning(min(ops)) for spelled, ops in claims.items() if len(ops) == 1}


def _synonyms(op: str, arguments: frozenset[str], words: Vocabulary) -> Mapping[str, str]:
    """The op's row over its family's, without what is an argument itself or leads to none."""
    rows = {**words.arg_synonyms.get(family(op), {}), **words.arg_synonyms.get(op, {})}
    return {name: to for name, to in rows.items() if to in arguments and name not in arguments}


@cache
def names() -> Names:
    """The names of the vocabulary alone: text is read without a daemon."""
    return names_for(())


def names_for(registry: Iterable[OpInfo]) -> Names:
    """The names of the vocabulary and what the ops of a daemon's `registry` add to them."""
    ops, words = tuple(registry), vocabulary()
    arguments = {op.name: frozenset(op.arguments) for op in words.known_ops.values()}
    for op in ops:
        arguments[op.name] = arguments.get(op.name, frozenset()) | frozenset(op.arguments)
    bare = words.bare_ops - {op.name for op in ops} | {op.name for op in ops if not op.required}
    return Names(
        arguments=arguments,
        bare_ops=bare,
        others=_registry_meanings(ops) | _vocabulary_meanings(words),
        synonyms={op: _synonyms(op, known, words) for op, known in arguments.items()},
    )


def _argument(name: str, known: frozenset[str], synonyms: Mapping[str, str]) -> str:
    """What argument `name` names: exact, else in snake_case, else by synonym, else itself."""
    if name in known:
        return name
    snake = snake_case(name)
    return snake if snake in known else synonyms.get(name, synonyms.get(snake, name))


def _synonyms_of_action(action: BoxAction) -> dict[str, str]:
    """The other names that `box.<action>` may give its argument; they win over those of box.exec."""
    return dict.fromkeys((action.argument, *action.synonyms), "arg") if action.argument else {}


def _equal(one: Any, other: Any) -> bool:
    """JSON equality: key order does not matter, `true` is not 1."""
    return one is other or canonical_json(one) == canonical_json(other)


def normalise(op: str, args: Mapping[str, Any], known: Names | None = None) -> tuple[str, dict[str, Any]]:
    """Op and arguments under the names that we know; both as written where they are unknown or ambiguous.

    `args` is JSON. Normalising what is normalised changes nothing.
    """
    table = names() if known is None else known
    meaning = table.meaning(op)
    if meaning is None:
        return op, dict(args)
    arguments = table.arguments[meaning.op]
    if not meaning.action and args.keys() <= arguments:
        return meaning.op, dict(args)
    synonyms = table.synonyms[meaning.op]
    if meaning.action:
        synonyms = {**synonyms, **_synonyms_of_action(meaning.action)}
    renamed: dict[str, Any] = {"action": meaning.action.name} if meaning.action else {}
    for name, value in args.items():
        argument = _argument(name, arguments, synonyms)
        if not _equal(renamed.setdefault(argument, value), value):
            return op, dict(args)
    return meaning.op, renamed
