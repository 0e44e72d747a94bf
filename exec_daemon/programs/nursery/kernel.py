"""System calls that Python has no function for, by ctypes. Numbers are of x86_64 and aarch64."""

from __future__ import annotations

import ctypes
import os
from typing import Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)

PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
PR_SET_CHILD_SUBREAPER: Final = 36
CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
# capset(2) has one number on each machine; the rest came late enough to have the same everywhere.
_CAPSET: Final = {"x86_64": 126, "aarch64": 91}
_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_LANDLOCK: Final = 444
_CAPABILITY_VERSION_3: Final = 0x20080522
_SECCOMP_SET_MODE_FILTER: Final = 1


def machine() -> str:
    """The architecture as the kernel names it."""
    return os.uname().machine


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int) -> None:
    """prctl(2) of one value. Raises OSError."""
    _checked(_LIBC.prctl(option, value, 0, 0, 0), "prctl")


def unshare(flags: int) -> None:
    """unshare(2). Raises OSError."""
    _checked(_LIBC.unshare(flags), "unshare")


_MS_NOSUID_NODEV_NOEXEC: Final = 2 | 4 | 8
_MS_PRIVATE_BELOW: Final = 0x4000 | 0x40000


def mount_proc() -> None:
    """In this mount namespace `/proc` becomes that of this PID namespace. Raises OSError."""
    _checked(_LIBC.mount(b"none", b"/", None, ctypes.c_ulong(_MS_PRIVATE_BELOW), None), "mount")
    _checked(_LIBC.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(_MS_NOSUID_NODEV_NOEXEC), None), "mount")


def drop_capabilities() -> None:
    """Gives all of them up, for this process and what it executes. Raises OSError."""
    for number in range(_last_capability() + 1):
        prctl(PR_CAPBSET_DROP, number)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _checked(_LIBC.syscall(_CAPSET[machine()], header, (ctypes.c_uint32 * 6)()), "capset")


def _last_capability() -> int:
    with open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        return int(file.read())


def landlock_version() -> int:
    """The version of the kernel's Landlock; 0 for none."""
    version: int = _LIBC.syscall(_LANDLOCK, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, version)


def landlock_ruleset(attributes: bytes) -> int:
    """A descriptor of a new ruleset. Raises OSError."""
    size = ctypes.c_size_t(len(attributes))
    made = _LIBC.syscall(_LANDLOCK, ctypes.c_char_p(attributes), size, ctypes.c_uint32(0))
    return _checked(made, "landlock_create_ruleset")


def landlock_path(ruleset: int, rule: bytes) -> None:
    """Adds a rule about what is beneath a path. Raises OSError."""
    added = _LIBC.syscall(_LANDLOCK + 1, ruleset, 1, ctypes.c_char_p(rule), ctypes.c_uint32(0))
    _checked(added, "landlock_add_rule")


def landlock_restrict(ruleset: int) -> None:
    """From now on for this process and its children. Raises OSError."""
    _checked(_LIBC.syscall(_LANDLOCK + 2, ruleset, ctypes.c_uint32(0)), "landlock_restrict_self")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def seccomp_filter(instructions: bytes) -> None:
    """Installs a BPF program of `instructions`, eight bytes each. Raises OSError."""
    held = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // 8, ctypes.addressof(held))
    number = _SECCOMP[machine()]
    installed = _LIBC.syscall(number, _SECCOMP_SET_MODE_FILTER, ctypes.c_uint32(0), ctypes.byref(program))
    _checked(installed, "seccomp")
