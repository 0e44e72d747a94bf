"""`[mcp."github"]`: a server, by its command or its address, and which of its tools may become ops. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.access.grant_rules import Wrong
from messaging.near import did_you_mean, near
from patterns import family, vocabulary

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_TOOL: Final = re.compile(r"[A-Za-z0-9_.-]{1,48}")
_URL: Final = re.compile(r"https://\S+|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]+)?(?:/\S*)?")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class McpSpec:
    """One server. `side_effecting` are tools that have side effects whatever the server says of them.

    `environment` is all that the command's process gets beside PATH and HOME; `token_file` holds a bearer
    token for `url`.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    tools: tuple[str, ...] = ()
    side_effecting: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    token_file: Path | None = None
    time_limit_s: float = 30.0

    def op_name(self, tool: str) -> str:
        """What the tool is called here: `github.search_issues`."""
        return f"{self.name}.{tool}".lower()


def _words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _tools(value: Any) -> bool:
    return _words(value) and all(_TOOL.fullmatch(one) for one in value)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _variables(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= 600


_KEYS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "command": (lambda value: _words(value) and bool(value), 'a list of words, such as ["npx", "server"]'),
    "url": (
        lambda value: isinstance(value, str) and _URL.fullmatch(value) is not None,
        "an https:// address, or http:// on this machine",
    ),
    "tools": (_tools, "a list of names of tools"),
    "side_effecting": (_tools, "a list of names of tools"),
    "environment": (_variables, "a table of texts"),
    "token_file": (_text, "the path of a file"),
    "time_limit_s": (_seconds, "a number of seconds from 1 to 600"),
}


def problem(servers: Mapping[str, Mapping[str, Any]]) -> Wrong | None:
    """What is wrong first, or None."""
    return next(problems(servers), None)


def problems(servers: Mapping[str, Mapping[str, Any]]) -> Iterator[Wrong]:
    """All that is wrong, each with its place and the way out."""
    families = {family(known).removesuffix(".*") for known in vocabulary().known_ops}
    for name, keys in servers.items():
        if not _NAME.fullmatch(name) or name in families:
            yield Wrong(name, "", "is no name of a server: lower-case, and none of our own families of ops")
        wrong = list(_of_keys(name, keys))
        yield from wrong or _together(name, keys)


def _of_keys(name: str, keys: Mapping[str, Any]) -> Iterator[Wrong]:
    for key, value in keys.items():
        if key not in _KEYS:
            hint = did_you_mean(near(key, _KEYS)) or f" Known ones: {', '.join(_KEYS)}."
            yield Wrong(name, key, f"is an unknown key.{hint}")
        elif not _KEYS[key][0](value):
            yield Wrong(name, key, f"must be {_KEYS[key][1]}, not {value!r}")


def _together(name: str, keys: Mapping[str, Any]) -> Iterator[Wrong]:
    if ("command" in keys) == ("url" in keys):
        yield Wrong(name, "", "needs either `command` or `url`")
    if not keys.get("tools"):
        yield Wrong(name, "tools", f"is missing: `box mcp review {name}` shows what there is")
    names = [tool.lower() for tool in keys.get("tools", ())]
    if len(set(names)) != len(names):
        yield Wrong(name, "tools", "names a tool twice: ops have lower-case names")
    stranger = next(
        (tool for tool in keys.get("side_effecting", ()) if tool not in keys.get("tools", ())), ""
    )
    if stranger:
        yield Wrong(name, "side_effecting", f"names {stranger}, which is not among `tools`")


def specs(servers: Mapping[str, Mapping[str, Any]]) -> tuple[McpSpec, ...]:
    """The servers of a table in which nothing is wrong, in the order of the file."""
    return tuple(_spec(name, keys) for name, keys in servers.items())


def _spec(name: str, keys: Mapping[str, Any]) -> McpSpec:
    return McpSpec(
        name=name,
        command=tuple(keys.get("command", ())),
        url=keys.get("url", ""),
        tools=tuple(keys.get("tools", ())),
        side_effecting=tuple(keys.get("side_effecting", ())),
        environment=MappingProxyType(dict(keys.get("environment", {}))),
        token_file=Path(keys["token_file"]).expanduser() if "token_file" in keys else None,
        time_limit_s=float(keys.get("time_limit_s", 30.0)),
    )
