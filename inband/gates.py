"""`[gates."mail"]` in `box.toml`: programs that timers ask before they wake anybody (docs/timers.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.access.grant_rules import Wrong
from exec_daemon.gate_spec import GATE_NAME, GateSpec
from exec_daemon.operator_ops.keys import OF_OP, Key
from messaging.near import did_you_mean, near


def _is_globs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


_SHARED: Final = (
    *("argv", "time_limit_s", "folder", "environment"),
    *("readable", "writable", "network", "user", "confined"),
)
_KEYS: Final[Mapping[str, Key]] = {key: OF_OP[key] for key in _SHARED} | {
    "agents": Key(_is_globs, "a list of names of agents, or globs of them")
}


def problem(gates: Mapping[str, Mapping[str, Any]]) -> Wrong | None:
    """What is wrong first, or None."""
    return next(_problems(gates), None)


def _problems(gates: Mapping[str, Mapping[str, Any]]) -> Iterator[Wrong]:
    for name, keys in gates.items():
        if not GATE_NAME.fullmatch(name):
            yield Wrong(name, "", "no name of a gate: lower-case letters, digits, `.`, `_` and `-`")
        for key, value in keys.items():
            if key not in _KEYS:
                hint = did_you_mean(near(key, _KEYS)) or f" Known ones: {', '.join(_KEYS)}."
                yield Wrong(name, key, f"is an unknown key.{hint}")
            elif not _KEYS[key].fits(value):
                yield Wrong(name, key, f"must be {_KEYS[key].takes}, not {value!r}")
        yield from _program(name, keys.get("argv"))


def _program(name: str, argv: Any) -> Iterator[Wrong]:
    if argv is None:
        yield Wrong(name, "argv", f"is missing: {_KEYS['argv'].takes}")
    elif "/" in argv[0] and not argv[0].startswith("/"):
        text = f"{argv[0]!r} is a relative path: write an absolute one, or a name on the PATH"
        yield Wrong(name, "argv", text)


_AS: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("argv", "agents", "readable", "writable"), tuple),
    "environment": lambda variables: MappingProxyType(dict(variables)),
    "time_limit_s": float,
}


def specs(gates: Mapping[str, Mapping[str, Any]]) -> dict[str, GateSpec]:
    """The gates of a table in which nothing is wrong."""
    return {name: GateSpec(name=name, **_read(keys)) for name, keys in gates.items()}


def _read(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _AS[key](value) if key in _AS else value for key, value in keys.items()}
