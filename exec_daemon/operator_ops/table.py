"""`[ops."deploy.status"]`: what is wrong with it, each with its place and the way out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from exec_daemon.access.grant_rules import Wrong
from exec_daemon.operator_ops.keys import BUBBLEWRAP, NEEDED, OF_ARGUMENT, OF_OP, OF_TYPE, Key
from exec_daemon.operator_ops.words import PLACE, places
from messaging.near import did_you_mean, near
from patterns import family, spellings, vocabulary

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}(?:\.[a-z0-9][a-z0-9_-]{0,31}){0,3}")
_ARGUMENT: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
# Programs that run what their arguments say: a value from a call must never be among those.
LAUNCHERS: Final = frozenset(
    "sh bash dash zsh ksh fish busybox env xargs find awk gawk mawk perl ruby node lua php python python3 "
    "sudo doas su nice timeout nohup setsid stdbuf ssh docker podman kubectl tmux screen watch parallel make "
    "vi vim ed sed tar rsync git script strace gdb unshare nsenter chroot flock taskset chrt ionice "
    "setpriv runuser pkexec systemd-run expect tclsh deno bun java pwsh".split()
)


def problem(ops: Mapping[str, Mapping[str, Any]]) -> Wrong | None:
    """What is wrong first, or None."""
    return next(problems(ops), None)


def problems(ops: Mapping[str, Mapping[str, Any]]) -> Iterator[Wrong]:
    """All that is wrong. A value of the wrong type is told before what does not fit together."""
    for name, keys in ops.items():
        wrong = [*_names(name), *_keys(name, keys, OF_OP)]
        wrong += [] if wrong else [*_needed(name, keys), *_arguments(name, keys)]
        yield from wrong or _together(name, keys)


def _names(name: str) -> Iterator[Wrong]:
    words = vocabulary()
    taken = {spelled for known in (*words.known_ops, *words.op_aliases) for spelled in spellings(known)}
    families = {family(known).removesuffix(".*") for known in words.known_ops}
    if not _NAME.fullmatch(name):
        yield Wrong(
            name, "", "is no name of an op: lower-case letters, digits, `_` and `-`, parts joined by dots"
        )
    elif name in taken or name.partition(".")[0] in families:
        yield Wrong(name, "", "is a name of our own ops; choose another first part")


def _keys(subject: str, keys: Mapping[str, Any], known: Mapping[str, Key]) -> Iterator[Wrong]:
    for key, value in keys.items():
        if key not in known:
            hint = did_you_mean(near(key, known)) or f" Known ones: {', '.join(known)}."
            yield Wrong(subject, key, f"is an unknown key.{hint}")
        elif not known[key].fits(value):
            yield Wrong(subject, key, f"must be {known[key].takes}, not {value!r}")


def _needed(name: str, keys: Mapping[str, Any]) -> Iterator[Wrong]:
    for key in ("argv", "summary"):
        if key not in keys:
            yield Wrong(name, key, f"is missing: {OF_OP[key].takes}")


def _arguments(name: str, keys: Mapping[str, Any]) -> Iterator[Wrong]:
    for argument, inside in keys.get("arguments", {}).items():
        subject, kind = f"{name}.arguments.{argument}", inside.get("type", "string")
        if not _ARGUMENT.fullmatch(argument):
            yield Wrong(subject, "", "is no name of an argument: lower-case letters, digits and `_`")
        yield from _keys(subject, inside, {**OF_ARGUMENT, **OF_TYPE.get(str(kind), {})})
        needed = NEEDED.get(str(kind))
        if needed is not None and needed not in inside:
            yield Wrong(subject, needed, f"is missing: a {kind} has {OF_TYPE[kind][needed].takes}")


def _together(name: str, keys: Mapping[str, Any]) -> Iterator[Wrong]:
    """What no key shows by itself: places without arguments, and values that could become options or code."""
    argv, arguments = keys["argv"], keys.get("arguments", {})
    used = [*places(argv), *places([keys.get("stdin", "")])]
    yield from _program(name, argv)
    for place in used:
        if place not in arguments:
            yield Wrong(name, "argv", f"has a place for {{{place}}}, which is no argument of the op")
    for argument in arguments:
        if argument not in used:
            yield Wrong(
                f"{name}.arguments.{argument}", "", f"has no place: write {{{argument}}} in argv or stdin"
            )
    yield from _options(name, argv, arguments)
    if keys.get("sandbox") == BUBBLEWRAP and keys.get("confined") is False:
        yield Wrong(name, "confined", "false and `sandbox` cannot both be: take one of them out")


def _program(name: str, argv: list[str]) -> Iterator[Wrong]:
    program = argv[0]
    if PLACE.search(program):
        yield Wrong(name, "argv", "has a place in its first word: a call never chooses the program")
    elif "/" in program and not program.startswith("/"):
        yield Wrong(
            name, "argv", f"{program!r} is a relative path: write an absolute one, or a name on the PATH"
        )
    elif PurePosixPath(program).name.rstrip("0123456789.") in LAUNCHERS and any(places(argv)):
        why = f"{PurePosixPath(program).name} runs what its arguments say, and a call fills them"
        yield Wrong(name, "argv", f"{why}: put a program of your own in between that takes only values")


def _options(name: str, argv: list[str], arguments: Mapping[str, Mapping[str, Any]]) -> Iterator[Wrong]:
    for at, word in enumerate(argv[1:], 1):
        for place in places([word]):
            inside = arguments.get(place, {})
            if inside.get("type") == "boolean" and word != f"{{{place}}}":
                yield Wrong(name, "argv", f"{word!r}: a boolean takes a whole word")
            if inside.get("multiline"):
                yield Wrong(name, "argv", f"{word!r}: text of several lines belongs into stdin")
            if inside.get("min", 0) < 0 and word.startswith(f"{{{place}}}") and "--" not in argv[:at]:
                way_out = "raise `min`, write it behind other letters (`--by={n}`), or put it behind `--`"
                yield Wrong(name, "argv", f"{word!r}: a number below 0 would be an option; {way_out}")
