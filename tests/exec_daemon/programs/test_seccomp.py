"""The filter of system calls, read by a machine that does what the kernel does."""

from __future__ import annotations

import platform
import sys
from struct import unpack

import pytest

from exec_daemon.programs.nursery import seccomp


def verdict(program: bytes, *, arch: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """What the BPF program returns for a system call (linux/filter.h)."""
    words = {0: number, 4: arch}
    for index, argument in enumerate(arguments):
        words[16 + 8 * index] = argument & 0xFFFFFFFF
    steps = [unpack("=HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    loaded, at = 0, 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            loaded = words.get(value, 0)
        else:
            test = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += then if test else otherwise


ALLOWED, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@pytest.mark.parametrize("machine", ARCHES)
def test_the_filter_refuses_what_it_names_and_allows_the_rest(machine: str) -> None:
    program = seccomp.filter_of(machine, network="none")
    arch, column = ARCHES[machine], list(ARCHES).index(machine)
    for name, numbers in seccomp._CALLS.items():
        number = numbers[column]
        assert number is None or verdict(program, arch=arch, number=number) == EPERM, name
    execve, read = {"x86_64": (59, 0), "aarch64": (221, 63)}[machine]
    assert verdict(program, arch=arch, number=execve) == verdict(program, arch=arch, number=read) == ALLOWED


@pytest.mark.parametrize("machine", ARCHES)
def test_another_instruction_set_gets_no_call_at_all(machine: str) -> None:
    program = seccomp.filter_of(machine, network="all")
    assert verdict(program, arch=0x40000003, number=4) == ENOSYS  # i386
    assert verdict(program, arch=ARCHES[machine], number=0x40000000 | 1) == ENOSYS  # x32
    assert verdict(program, arch=ARCHES[machine], number=435) == ENOSYS  # clone3: its flags are in memory


@pytest.mark.parametrize("machine", ARCHES)
def test_arguments_are_looked_at_in_their_lower_half(machine: str) -> None:  # D043
    program = seccomp.filter_of(machine, network="local")
    arch, column = ARCHES[machine], list(ARCHES).index(machine)
    ioctl, clone, socket = (pair[column] for pair in (seccomp._IOCTL, seccomp._CLONE, seccomp._SOCKET))
    for number, arguments, wanted in (
        (ioctl, (0, 0x5412), EPERM),
        (ioctl, (0, 0x5412 + (1 << 32)), EPERM),
        (ioctl, (0, 0x541C), EPERM),
        (ioctl, (0, 0x5413), ALLOWED),
        (clone, (0x10000000 | 17,), EPERM),
        (clone, (0x01200011,), ALLOWED),
        (clone, (0x00004111,), ALLOWED),  # vfork
        (socket, (1, 1), ALLOWED),
        (socket, (2, 1), EPERM),
    ):
        assert verdict(program, arch=arch, number=number, arguments=arguments) == wanted


def test_this_machine_is_one_that_the_numbers_are_of() -> None:
    assert platform.machine() in ARCHES or sys.platform != "linux"


def test_a_machine_whose_calls_have_no_numbers_here_has_no_filter_and_everything_else() -> None:  # D044
    with pytest.raises(KeyError):  # what `confine` leaves the layer out for
        seccomp.filter_of("riscv64", network="none")
