"""A grant as it is written, in `box.toml` and over the API: one table of keys, checked and read by it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.access.grants import Grant, matches
from exec_daemon.access.identity import Role, identity
from messaging.near import did_you_mean, near
from patterns import vocabulary

# Of an op, a recipient or an action. No brackets: `[a-z]` in a rule is more often a slip than meant.
_GLOB: Final = re.compile(r"[a-z0-9*?][a-z0-9._*?-]{0,127}|\{owner\}|\{self\}")
_BOX: Final = re.compile(r"([a-z*?]{1,32})(?::([\x21-\x7e]{1,200}))?")
_MOST_ENTRIES: Final = 200
_MOST_PER_MINUTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with a grant: of whom it speaks, in which key, and what it must be."""

    subject: str
    key: str
    problem: str

    def __str__(self) -> str:
        place = f"`{self.subject}`" if not self.key else f"`{self.subject}`, `{self.key}`"
        return f"{place}: {self.problem}"


def _entries(fits: Callable[[str], bool]) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) <= _MOST_ENTRIES
            and all(isinstance(entry, str) and fits(entry) for entry in value)
        )

    return check


def _is_glob(text: str) -> bool:
    return _GLOB.fullmatch(text) is not None


def _is_box(text: str) -> bool:
    """An action that exists: a typo must never stand for "nothing"."""
    found = _BOX.fullmatch(text)
    return found is not None and any(matches((found[1],), action) for action in vocabulary().box_actions)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_PER_MINUTE


def _is_rates(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(glob, str) and _is_glob(glob) and _is_number(number) for glob, number in value.items()
    )


_OPS = "a list of globs over names of ops, such as dm.send or cron.*"
_NUMBER = f"a whole number from 0 (no limit) to {_MOST_PER_MINUTE}"

# What each key takes, how that is said, and what becomes of its value.
_KEYS: Final[Mapping[str, tuple[Callable[[Any], bool], str, Callable[[Any], Any]]]] = MappingProxyType(
    {
        "allow": (_entries(_is_glob), _OPS, tuple),
        "deny": (_entries(_is_glob), _OPS, tuple),
        "recipients": (_entries(_is_glob), "a list of globs over names of agents", tuple),
        "wakes": (_entries(_is_glob), "a list of globs over names of agents", tuple),
        "box": (
            _entries(_is_box),
            "a list of actions of box.exec, such as disk, logs or logs:nginx*",
            tuple,
        ),
        "approval": (_entries(_is_glob), _OPS, tuple),
        "reads_per_minute": (_is_number, _NUMBER, int),
        "writes_per_minute": (_is_number, _NUMBER, int),
        "rates": (_is_rates, 'a table such as {"dm.send" = 5}: calls a minute by a glob over ops', dict),
    }
)

# The keys whose entries name ops.
OP_KEYS: Final = ("allow", "deny", "approval", "rates")


def wrong_subject(subject: str) -> Wrong | None:
    """A grant speaks of a role, or of one identity."""
    if subject in tuple(Role) or identity(subject) is not None:
        return None
    close = did_you_mean(near(subject, list(Role)))
    roles = ", ".join(Role)
    return Wrong(subject, "", f"is neither a role ({roles}) nor an identity such as agent/heron.{close}")


def problems(subject: str, rules: Mapping[str, Any]) -> Iterator[Wrong]:
    """Everything that is wrong with the grant of `subject`."""
    if (unknown := wrong_subject(subject)) is not None:
        yield unknown
    for key, value in rules.items():
        if key not in _KEYS:
            close = did_you_mean(near(key, list(_KEYS)))
            yield Wrong(subject, key, f"no key of a grant.{close} There are {', '.join(_KEYS)}.")
        elif not _KEYS[key][0](value):
            yield Wrong(subject, key, f"must be {_KEYS[key][1]}, not {value!r:.80}")


def strangers(subject: str, rules: Mapping[str, Any], ops: list[str]) -> Iterator[Wrong]:
    """Globs that name none of `ops`: a typo in `deny` would forbid nothing and say nothing."""
    for key in OP_KEYS:
        for glob in rules.get(key, ()):
            if not any(matches((glob,), op) for op in ops):
                yield Wrong(subject, key, f"{glob!r} names no op.{did_you_mean(near(glob, ops))}")


def read(rules: Mapping[str, Any]) -> Grant:
    """The grant of rules in which nothing is wrong."""
    return Grant(**{key: _KEYS[key][2](value) for key, value in rules.items()})


def written(grant: Grant) -> dict[str, Any]:
    """The rules of a grant, without what it does not say."""
    nothing = Grant()
    said = {key: getattr(grant, key) for key in _KEYS if getattr(grant, key) != getattr(nothing, key)}
    return {
        key: list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value
        for key, value in said.items()
    }
