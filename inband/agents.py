"""`[agents."heron"]` in `box.toml`: the agents that the RPC may start (docs/rpc.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from exec_daemon.agent_template import AgentTemplate

# As names of identities are (O 7.1): the agent may be a registered one.
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


# What each key takes, and how that is said.
_KEYS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "argv": (lambda value: _is_list(value) and bool(value), "a list of strings, the program first"),
    "folder": (lambda value: isinstance(value, str) and value != "", "a path"),
    "models": (_is_list, "a list of strings"),
    "budget_usd": (_is_amount, "a number of US dollars above 0"),
}


def problem(agents: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What is wrong first, or None."""
    return next(_problems(agents), None)


def _problems(agents: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, keys in agents.items():
        if not _NAME.fullmatch(name):
            yield f"{name!r} is no name of an agent: lower-case letters, digits, `.`, `_` and `-`"
        if "argv" not in keys:
            yield f"`{name}` has no argv, {_KEYS['argv'][1]}"
        for key, value in keys.items():
            if key not in _KEYS:
                yield f"`{name}` has the unknown key `{key}`; known ones: {', '.join(_KEYS)}"
            elif not _KEYS[key][0](value):
                yield f"`{name}.{key}` must be {_KEYS[key][1]}, not {value!r}"


def templates(agents: Mapping[str, Mapping[str, Any]]) -> dict[str, AgentTemplate]:
    """The agents of a table in which nothing is wrong."""
    return {
        name: AgentTemplate(
            name=name,
            argv=tuple(keys["argv"]),
            folder=Path(keys["folder"]).expanduser() if "folder" in keys else None,
            models=tuple(keys.get("models", ())),
            budget_usd=keys.get("budget_usd"),
        )
        for name, keys in agents.items()
    }
