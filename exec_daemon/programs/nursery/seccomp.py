"""A seccomp filter: system calls that no program of ours needs and that others break out with.

It names what is refused, since what ordinary programs need is not to be foreseen. Refused calls fail with
EPERM; `clone3` and those of another instruction set with ENOSYS, so that a program takes the older call,
whose arguments can be looked at.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping
from struct import pack
from typing import Final

from exec_daemon.programs.nursery import kernel

# linux/bpf_common.h: load a word, jump if equal / at least / any bit, and, return.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
# Where things are in struct seccomp_data. An argument's lower half comes first on both machines.
_NUMBER, _ARCH, _ARGUMENT = 0, 4, 16
_ARCHES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Numbers above are of the x32 instruction set, under which the same calls have other numbers.
_X32: Final = 0x40000000
_CLONE_NEW: Final = 0x7E020000 | 0x80  # all namespaces, CLONE_NEWTIME among them
_TERMINAL: Final = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX put words into the mouth of a terminal
_AF_UNIX: Final = 1

# x86_64 and aarch64; None where the machine has no such call.
_CALLS: Final[Mapping[str, tuple[int | None, int | None]]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "open_by_handle_at": (304, 265), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "quotactl": (179, 60), "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None),
    "vhangup": (153, 58),
}  # fmt: skip
_CLONE, _CLONE3, _IOCTL, _SOCKET = (56, 220), (435, 435), (16, 29), (41, 198)


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return pack("=HBBI", code, then, otherwise, value & 0xFFFFFFFF)


def _refuse(number: int) -> bytes:
    return _instruction(_RETURN, _ERRNO | number)


def _when(test: bytes, code: int, value: int) -> bytes:
    """`test` where the accumulator fits, and past it otherwise."""
    return _instruction(code, value, 0, len(test) // 8) + test


def _unless(test: bytes, code: int, value: int) -> bytes:
    return _instruction(code, value, len(test) // 8, 0) + test


def _argument(index: int) -> bytes:
    """The lower half of an argument: the kernel looks at no more of it in the calls below (D043)."""
    return _instruction(_LOAD, _ARGUMENT + 8 * index)


def _call(number: int, test: bytes) -> bytes:
    """`test`, which may load anything, where this is the call."""
    return _when(test + _instruction(_LOAD, _NUMBER), _EQUAL, number)


def filter_of(machine: str, *, network: str) -> bytes:
    """The BPF program. `network` is `none`, `local` (Unix sockets) or `all`. Raises KeyError elsewhere."""
    arch, column = _ARCHES[machine], list(_ARCHES).index(machine)
    no = _refuse(errno.EPERM)
    parts = [
        _instruction(_LOAD, _ARCH),
        _unless(_refuse(errno.ENOSYS), _EQUAL, arch),
        _instruction(_LOAD, _NUMBER),
        _when(_refuse(errno.ENOSYS), _AT_LEAST, _X32),
        _when(_refuse(errno.ENOSYS), _EQUAL, _CLONE3[column]),
        _call(_CLONE[column], _argument(0) + _when(no, _ANY_BIT, _CLONE_NEW)),
        _call(_IOCTL[column], _argument(1) + b"".join(_when(no, _EQUAL, each) for each in _TERMINAL)),
        *_sockets(_SOCKET[column], network),
        *(_when(no, _EQUAL, number) for number in _numbers(column)),
        _instruction(_RETURN, _ALLOW),
    ]
    return b"".join(parts)


def _numbers(column: int) -> Iterable[int]:
    return (number for row in _CALLS.values() if (number := row[column]) is not None)


def _sockets(number: int, network: str) -> list[bytes]:
    no = _refuse(errno.EPERM)
    if network == "all":
        return []
    return [_call(number, no if network == "none" else _argument(0) + _unless(no, _EQUAL, _AF_UNIX))]


def restrict(*, network: str) -> str:
    """From now on. Says what holds. Raises OSError, or KeyError on a machine that it has no numbers for."""
    kernel.seccomp_filter(filter_of(kernel.machine(), network=network))
    return f"{len(_CALLS)} calls refused, network {network}"
