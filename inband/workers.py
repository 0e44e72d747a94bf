"""`[workers."coder"]` in `box.toml`: what `swarm.spawn` may start, and how (docs/workers.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from exec_daemon.access.grant_rules import Wrong
from exec_daemon.worker_template import WorkerRuntime, WorkerTemplate

if TYPE_CHECKING:
    from harvester.worker_host import HostTemplate

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFAULT_ADAPTER: Final = "plain"
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "ash", "pwsh"})


def _is_argv(value: Any) -> bool:
    words = isinstance(value, list) and bool(value)
    return words and all(isinstance(item, str) and item and "\0" not in item for item in value)


def _are_variables(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) and _VARIABLE.fullmatch(item) and not item.startswith("BOX_") for item in value
    )


def _seconds(least: int, most: int) -> tuple[Callable[[Any], bool], str]:
    return (
        lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most,
        f"whole seconds from {least} to {most}",
    )


def _is_adapter(value: Any) -> bool:
    from harvester.adapters import ADAPTERS  # only where a file names one

    return isinstance(value, str) and value in ADAPTERS


def _is_folder(value: Any) -> bool:
    return isinstance(value, str) and Path(value).expanduser().is_dir()


# What each key takes, and how that is said.
_KEYS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "argv": (_is_argv, "a list of strings, the program first"),
    "runtime": (lambda value: value in tuple(WorkerRuntime), f"one of {', '.join(WorkerRuntime)}"),
    "adapter": (_is_adapter, "the name of an adapter (docs/adapters.md), such as claude or plain"),
    "environment": (_are_variables, "a list of names of variables, none of ours (BOX_…)"),
    "cwd": (_is_folder, "a folder that is there"),
    "folder": (_is_folder, "a folder that is there"),
    "heartbeat_s": _seconds(1, 30),
    "idle_s": _seconds(1, 604_800),
    "time_limit_s": _seconds(1, 604_800),
    "term_s": _seconds(1, 60),
    "most": (lambda value: type(value) is int and 0 < value <= 1000, "a whole number from 1 to 1000"),
}


def _would_run_text(keys: Mapping[str, Any]) -> bool:
    """What a worker is told is pasted as if typed: to a shell that waits for commands it must not go."""
    argv = keys.get("argv")
    if keys.get("runtime") != WorkerRuntime.TMUX or not _is_argv(argv):
        return False
    waits = all(word.startswith("-") and word != "-c" for word in keys["argv"][1:])
    return waits and Path(keys["argv"][0]).name in _SHELLS


def problem(workers: Mapping[str, Mapping[str, Any]]) -> Wrong | None:
    """What is wrong first, or None."""
    return next(_problems(workers), None)


def _problems(workers: Mapping[str, Mapping[str, Any]]) -> Iterator[Wrong]:
    for name, keys in workers.items():
        if not _NAME.fullmatch(name):
            yield Wrong(name, "", "no name of a template: lower-case letters, digits, `.`, `_` and `-`")
        if "argv" not in keys:
            yield Wrong(name, "", f"has no argv, {_KEYS['argv'][1]}")
        for key, value in keys.items():
            if key not in _KEYS:
                yield Wrong(name, key, f"unknown key; known ones: {', '.join(_KEYS)}")
            elif not _KEYS[key][0](value):
                yield Wrong(name, key, f"must be {_KEYS[key][1]}, not {value!r}")
        if _would_run_text(keys):
            yield Wrong(
                name, "argv", "a shell in a pane would run what agents write; name an agent's program"
            )
        if keys.get("runtime") == WorkerRuntime.TMUX and "adapter" in keys:
            yield Wrong(name, "adapter", "is for a child; leave it out, or write runtime = 'child'")


def templates(workers: Mapping[str, Mapping[str, Any]]) -> dict[str, WorkerTemplate]:
    """What the daemon knows of a table in which nothing is wrong."""
    kept = ("heartbeat_s", "time_limit_s", "most")
    return {
        name: WorkerTemplate(
            name=name,
            runtime=WorkerRuntime(keys.get("runtime", WorkerRuntime.CHILD)),
            in_folder="folder" in keys,
            **{key: keys[key] for key in kept if key in keys},
        )
        for name, keys in workers.items()
    }


def host_templates(workers: Mapping[str, Mapping[str, Any]]) -> dict[str, HostTemplate]:
    """What the host knows of it."""
    return {name: _host_template(name, keys) for name, keys in workers.items()}


def _host_template(name: str, keys: Mapping[str, Any]) -> HostTemplate:
    from harvester.worker_host import HostTemplate  # it loads the client

    plain = {
        key: keys[key]
        for key in ("heartbeat_s", "idle_s", "time_limit_s", "term_s", "runtime")
        if key in keys
    }
    folders = {key: Path(keys[key]).expanduser() for key in ("cwd", "folder") if key in keys}
    more: dict[str, Any] = plain | folders
    return HostTemplate(
        name=name,
        argv=tuple(keys["argv"]),
        adapter=keys.get("adapter", _DEFAULT_ADAPTER),
        environment=tuple(keys.get("environment", ())),
        **more,
    )
