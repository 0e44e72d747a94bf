"""`[workers."coder"]` in `box.toml`: what `swarm.spawn` may start, and how (docs/workers.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from exec_daemon.access.grant_rules import Wrong
from exec_daemon.worker_template import WorkerRuntime, WorkerTemplate

if TYPE_CHECKING:
    from harvester.worker_host import HostTemplate, Walls

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


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and not value.startswith("-") and "\0" not in value


def _are_mounts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and _is_mount(one) for one in value)


def _is_mount(keys: Mapping[str, Any]) -> bool:
    words = all(_is_word(keys[key]) for key in ("path", "at") if key in keys)
    flag = isinstance(keys.get("writable", False), bool)
    return "path" in keys and words and flag and keys.keys() <= {"path", "at", "writable"}


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
    "engine": (_is_word, "bubblewrap, or the program of an engine such as podman"),
    "image": (_is_word, "the name of an image"),
    "network": (lambda value: isinstance(value, bool), "true or false"),
    "mounts": (_are_mounts, "a list of {path, at?, writable?}"),
    "llm": (lambda value: _is_word(value) and Path(value).expanduser().is_file(), "a file that is there"),
}
# Which runtimes a key is for; the others are for all.
_ONLY: Final[Mapping[str, WorkerRuntime]] = {
    "adapter": WorkerRuntime.CHILD,
    **dict.fromkeys(("engine", "image", "network", "mounts", "llm"), WorkerRuntime.CONTAINER),
}
_BUBBLEWRAP: Final = "bubblewrap"


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
        yield from _misplaced(name, keys)


def _misplaced(name: str, keys: Mapping[str, Any]) -> Iterator[Wrong]:
    """Keys that this runtime does not read."""
    runtime = keys.get("runtime", WorkerRuntime.CHILD)
    for key, only in _ONLY.items():
        if key in keys and runtime != only:
            yield Wrong(name, key, f"is for a {only}; leave it out, or write runtime = '{only}'")
    has_engine = keys.get("engine", _BUBBLEWRAP) != _BUBBLEWRAP
    if has_engine and "image" not in keys:
        yield Wrong(name, "image", f"{keys['engine']} needs one")
    if "image" in keys and not has_engine:
        yield Wrong(name, "image", "bubblewrap has none; name an engine, or leave it out")


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
    contained = keys.get("runtime") == WorkerRuntime.CONTAINER
    more: dict[str, Any] = plain | folders
    return HostTemplate(
        name=name,
        argv=tuple(keys["argv"]),
        adapter=WorkerRuntime.CONTAINER if contained else keys.get("adapter", _DEFAULT_ADAPTER),
        environment=tuple(keys.get("environment", ())),
        walls=_walls(keys) if contained else None,
        **more,
    )


def _walls(keys: Mapping[str, Any]) -> Walls:
    from harvester.container.engine import Engine
    from harvester.worker_host import Walls
    from inband.container_programs import default_allowlist, endpoint

    program, network = keys.get("engine", _BUBBLEWRAP), keys.get("network", False)
    return Walls(
        mounts=[
            {"hostPath": one["path"], "readonly": not one.get("writable", False)}
            | ({"containerPath": one["at"]} if "at" in one else {})
            for one in keys.get("mounts", ())
        ],
        allowlist=default_allowlist(),
        network=network,
        engine=Engine(program=program, image=keys["image"], network=network) if "image" in keys else None,
        llm=endpoint(Path(keys["llm"])) if "llm" in keys else None,
    )
