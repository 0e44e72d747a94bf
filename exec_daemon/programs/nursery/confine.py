"""What a spawner gives up before it runs anything: for itself, and for all that it will ever start.

Once for many runs: what costs as much as a start of a program costs nothing per run. Each layer is tried
afterwards, by doing what it must refuse.
"""

from __future__ import annotations

import grp
import os
import pwd
import resource
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.programs.nursery import kernel, landlock, seccomp, trees, trial

# They count for each process by itself. Not RLIMIT_AS: some runtimes reserve far more than they use.
_LIMITS: Final[Mapping[str, int]] = {
    "memory_bytes": resource.RLIMIT_DATA,
    "file_bytes": resource.RLIMIT_FSIZE,
    "cpu_s": resource.RLIMIT_CPU,
    "open_files": resource.RLIMIT_NOFILE,
}


class Refused(Exception):
    """A layer that the profile asks for cannot be had."""


def confine(profile: Mapping[str, Any], held: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Applies `profile`; the layers that hold now, each with what it does, those `held` before among them.

    Raises `Refused` or OSError.
    """
    os.umask(0o077)
    layers = dict(held) if not profile["user"] else {"user": _become(profile["user"]), **held}
    layers["limits"] = _limit(profile)
    if profile["confined"]:
        layers |= _layers(profile)
        trial.hold(layers, profile["network"])
    missing = [layer for layer in profile["require"] if layer in _OURS and layer not in layers]
    if missing:
        raise Refused(f"{missing[0]} is demanded, and this kernel does not give it")
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # what runs below us cannot look into us
    return layers


_OURS: Final = ("landlock", "seccomp", "pids")


def _layers(profile: Mapping[str, Any]) -> dict[str, str]:
    held = {}
    if os.geteuid() == 0:
        kernel.drop_capabilities()
        held["capabilities"] = "none"
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if kernel.landlock_version():
        readable = landlock.without(profile["readable"], profile["hidden"])
        writable = landlock.without((*profile["writable"], "/dev/null"), profile["hidden"])
        network = profile["network"]
        held["landlock"] = landlock.restrict(
            readable, writable, tcp=network == "all", abstract=network != "none"
        )
    with suppress(OSError, KeyError):  # built without it, or a machine whose numbers we do not have
        held["seccomp"] = seccomp.restrict(network=profile["network"])
    return held


def _become(name: str) -> str:
    """Another user, where we may: only root may."""
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise Refused(f"there is no user {name!r}: see `sandbox.user`") from None
    if os.geteuid() != 0:
        if os.geteuid() != user.pw_uid:
            raise Refused(f"only root can run programs as {name!r}: see `sandbox.user`")
        return name
    os.setgroups([group.gr_gid for group in grp.getgrall() if name in group.gr_mem])
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    return name


def _limit(profile: Mapping[str, Any]) -> str:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for key, limit in _LIMITS.items():
        if profile[key]:
            _lower(limit, profile[key])
    if profile["processes"]:
        _lower(resource.RLIMIT_NPROC, profile["processes"] + trees.processes_of(os.geteuid()))
    return ", ".join(f"{key} {profile[key]}" for key in (*_LIMITS, "processes") if profile[key]) or "none"


def _lower(limit: int, value: int) -> None:
    """Never above what we were given ourselves."""
    hard = resource.getrlimit(limit)[1]
    least = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (least, least))
