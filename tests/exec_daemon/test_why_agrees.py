"""`box why` and what a call meets are one, for random identities, grants, ops and arguments.

The rules of docs/grants.md stand here once more, as plainly as on that page; all three have to say the same,
also when the grants of the store have been taken away again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

from exec_daemon.access.explain import explained
from exec_daemon.access.grant_rules import problems, read
from exec_daemon.access.grants import ROLE_GRANTS, Grant
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.tokens import Asker
from messaging import Call, CallRequest, ErrorCode, Result
from tests.exec_daemon.approving import Parts, parts, peopled

Rules = Mapping[str, Any]
SEEDS, ROUNDS, CALLS = 5, 8, 8
ASKERS = [Identity(role, name) for role in Role for name in ("heron", "wren")]
CALLED: list[tuple[str, dict[str, Any]]] = [
    ("tools.list", {}),
    ("dm.send", {"to": "wren", "text": "x"}),
    ("dm.send", {"to": "heron", "text": "x"}),
    ("dm.read", {}),
    ("box.exec", {"action": "disk"}),
    ("box.exec", {"action": "thread", "arg": "heron"}),
    ("box.exec", {"action": "thread", "arg": "wren"}),
    ("cron.list", {}),
    ("cron.create", {"schedule": "1d", "prompt": "x", "target": "wren"}),
    ("cron.create", {"schedule": "1d", "prompt": "x", "target": "heron"}),
]
OPS = ["*", "dm.*", "dm.send", "cron.*", "cron.create", "box.exec", "tools.list", "d?.read"]
NAMES = ["*", "heron", "w*", "{self}", "{owner}"]
READS = ["disk", "d*", "thread", "thread:heron", "thread:w*", "*"]
LISTS = {"allow": OPS, "deny": OPS, "approval": OPS, "recipients": NAMES, "wakes": NAMES, "box": READS}


def some_rules(draw: random.Random) -> Rules:
    """A grant that says something about some keys; what forbids is rarer, so that not all is forbidden."""
    often = {"deny": 0.2, "approval": 0.2}
    said = {key: draw.sample(words, draw.randint(0, 3)) for key, words in LISTS.items()}
    return {key: words for key, words in said.items() if draw.random() < often.get(key, 0.4)}


def some_grants(draw: random.Random) -> dict[str, Rules]:
    subjects = [*map(str, Role), *map(str, ASKERS)]
    return {subject: some_rules(draw) for subject in draw.sample(subjects, draw.randint(0, 8))}


def stack(who: Identity, store: Mapping[str, Rules], file: Mapping[str, Rules]) -> Iterator[Rules]:
    """The order of docs/grants.md: identity before role, of equals the store first, what is built in last."""
    for subject in (str(who), str(who.role)):
        yield from (place[subject] for place in (store, file) if subject in place)
    built_in = ROLE_GRANTS[who.role]
    yield {key: getattr(built_in, key) for key in ("allow", "recipients", "wakes", "box")}


def first(rules: list[Rules], key: str) -> list[str]:
    return list(next(one[key] for one in rules if key in one))


def names(globs: list[str], word: str) -> bool:
    return any(fnmatchcase(word, glob) for glob in globs)


def allowed(who: Identity, op: str, args: dict[str, Any], rules: list[Rules]) -> bool:
    """As the page says it."""
    if any(names(one.get("deny", []), op) for one in rules) or not names(first(rules, "allow"), op):
        return False
    if op == "dm.send":  # none of the askers is the worker of anybody
        return names([glob.replace("{owner}", "") for glob in first(rules, "recipients")], args["to"])
    if op == "cron.create":
        return names([glob.replace("{self}", who.name) for glob in first(rules, "wakes")], args["target"])
    return op != "box.exec" or any(covers(entry, args) for entry in first(rules, "box"))


def covers(entry: str, args: dict[str, Any]) -> bool:
    action, _, argument = entry.partition(":")
    return fnmatchcase(args["action"], action) and (
        not argument or ("arg" in args and fnmatchcase(args["arg"], argument))
    )


def asks(op: str, rules: list[Rules]) -> bool:
    return any(names(one.get("approval", []), op) for one in rules)


async def meets(made: Parts, who: Identity, op: str, args: dict[str, Any]) -> str:
    """What a call meets: `runs`, `asks` or `forbidden`. What an op itself objects to has run."""
    said = await made.executor.call(Asker(who), CallRequest(call=Call(op, args)))
    assert isinstance(said, Result), said
    code = said.error.code if said.error else None
    return {ErrorCode.FORBIDDEN: "forbidden", ErrorCode.APPROVAL_PENDING: "asks"}.get(code, "runs")  # type: ignore[arg-type]


async def compare(made: Parts, draw: random.Random, store: dict[str, Rules], file: dict[str, Rules]) -> None:
    for _ in range(CALLS):
        who, (op, args) = draw.choice(ASKERS), draw.choice(CALLED)
        rules = list(stack(who, store, file))
        may, person = allowed(who, op, args, rules), asks(op, rules)
        facts = await made.executor.facts_on(who, op)
        why = explained(who, op, args, facts)
        context = (str(who), op, args, rules, why)
        assert why["allowed"] is may, context
        assert bool(why["approval"]) is person, context
        assert all(row["holds"] for row in why["rules"]) is may, context
        expected = "forbidden" if not may else "asks" if person else "runs"
        assert await meets(made, who, op, args) == expected, context


def granted(rules: Mapping[str, Rules]) -> dict[str, Grant]:
    for subject, keys in rules.items():
        assert list(problems(subject, keys)) == []
    return {subject: read(keys) for subject, keys in rules.items()}


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_what_the_page_says_why_says_and_a_call_meets_are_the_same(seed: int) -> None:  # O-36 O 7.5
    draw = random.Random(seed)
    for _ in range(ROUNDS):
        people, _ = await peopled()
        file, store = some_grants(draw), some_grants(draw)
        made = parts(people, approval=(), grants=granted(file))
        made.grants.replace_stored(granted(store))
        await compare(made, draw, store, file)
        made.grants.replace_stored({})  # taken away: from the next call on
        await compare(made, draw, {}, file)
        await people.close()
