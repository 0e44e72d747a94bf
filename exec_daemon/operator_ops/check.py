"""What is wrong with operators' ops and gates on this machine: a program, folder or user is missing."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

from exec_daemon.access.grant_rules import Wrong
from exec_daemon.operator_ops.keys import BUBBLEWRAP
from exec_daemon.operator_ops.spec import OpSpec
from exec_daemon.program_spec import ProgramSpec
from exec_daemon.programs import ProgramError, Unusable
from exec_daemon.programs.bubblewrap import PROGRAM
from exec_daemon.programs.find import found


def faults(specs: tuple[OpSpec, ...]) -> Iterator[Wrong]:
    """Each with the op, the key and what to do. Looks, and runs nothing."""
    for spec in specs:
        yield from program_faults(spec)
        yield from _bubblewrap(spec)
        yield from _arguments(spec)


def program_faults(spec: ProgramSpec) -> Iterator[Wrong]:
    """What keeps the program itself from running."""
    yield from _program(spec)
    yield from _folders(spec)
    yield from _user(spec)


def _bubblewrap(spec: OpSpec) -> Iterator[Wrong]:
    try:
        if spec.sandbox == BUBBLEWRAP:
            with found(PROGRAM):
                pass
    except ProgramError as fault:
        yield Wrong(spec.name, "sandbox", f"{fault}: sudo apt install bubblewrap")


def _program(spec: ProgramSpec) -> Iterator[Wrong]:
    try:
        with found(spec.argv[0]):
            pass
    except Unusable as fault:
        where = "" if "/" in spec.argv[0] else " on the PATH that programs get: write an absolute path"
        yield Wrong(spec.name, "argv", f"{fault}{where if fault.problem == 'is missing' else ''}")
    except ProgramError as fault:
        yield Wrong(spec.name, "argv", str(fault))


def _folders(spec: ProgramSpec) -> Iterator[Wrong]:
    if not Path(spec.folder).is_dir():
        yield Wrong(spec.name, "folder", f"{spec.folder} is no folder")
    for key in ("readable", "writable"):
        for path in getattr(spec, key):
            if not Path(path).exists():
                yield Wrong(spec.name, key, f"{path} is missing: make it, or take it out")


def _arguments(spec: OpSpec) -> Iterator[Wrong]:
    for argument in spec.arguments:
        if argument.below and not Path(argument.below).is_dir():
            yield Wrong(f"{spec.name}.arguments.{argument.name}", "below", f"{argument.below} is no folder")


def _user(spec: ProgramSpec) -> Iterator[Wrong]:
    if not spec.user:
        return
    try:
        uid = pwd.getpwnam(spec.user).pw_uid
    except KeyError:
        yield Wrong(spec.name, "user", f"there is no user {spec.user!r}")
        return
    if os.geteuid() not in (0, uid):
        yield Wrong(spec.name, "user", f"only a daemon that is root can run programs as {spec.user!r}")
