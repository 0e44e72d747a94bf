"""info: which machine this is."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import psutil

from exec_daemon.box.kernel_files import assignments, first_lines, read_text
from exec_daemon.box.ports import BoxContext
from exec_daemon.box.reading import Reading
from exec_daemon.box.times import iso

# Files that a container engine leaves in the containers it makes.
_ENGINE_MARKS: Final = (("/.dockerenv", "docker"), ("/run/.containerenv", "podman"))
# What the firmware of a virtual machine says of itself, lower case, and the kind of machine that is.
_HYPERVISORS: Final = (
    ("amazon ec2", "amazon"),
    ("google", "google"),
    ("qemu", "kvm"),
    ("kvm", "kvm"),
    ("vmware", "vmware"),
    ("innotek", "virtualbox"),
    ("virtualbox", "virtualbox"),
    ("virtual machine", "hyper-v"),
    ("xen", "xen"),
    ("bochs", "bochs"),
)
_FIRMWARE: Final = ("/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name", "/sys/hypervisor/type")


def info(context: BoxContext) -> Reading:
    """Names, versions, kind of machine, and the time it has."""
    now, booted, machine = context.clock(), psutil.boot_time(), os.uname()
    data = {
        "hostname": machine.nodename,
        "os": assignments(read_text("/etc/os-release") or "").get("PRETTY_NAME"),
        "kernel": machine.release,
        "arch": machine.machine,
        "container": _container(),
        "vm": _virtual_machine(),
        "booted_at": iso(booted),
        "uptime_s": round(now - booted),
        "time": iso(now),
        "tz": _zone(),
        "versions": {"inband": _own_version(), "python": platform.python_version()},
    }
    return Reading(data)


def _container() -> str | None:
    """systemd's own note first (it knows nspawn, lxc and others), then what the engines leave."""
    for name in first_lines("/run/systemd/container"):
        return str(name)
    return next((engine for mark, engine in _ENGINE_MARKS if Path(mark).exists()), None)


def _virtual_machine() -> str | None:
    """None on bare metal, `unknown` where only the processor admits to it."""
    said = " ".join(first_lines(*_FIRMWARE)).lower()
    named = next((kind for word, kind in _HYPERVISORS if word in said), None)
    return named or ("unknown" if _processor_says_virtual() else None)


def _processor_says_virtual() -> bool:
    flags: Any = (
        line for line in (read_text("/proc/cpuinfo") or "").splitlines() if line.startswith("flags")
    )
    return " hypervisor" in next(flags, "")


def _zone() -> str:
    """The IANA name where the system has one, else the abbreviation."""
    target = os.path.realpath("/etc/localtime")
    _, found, name = target.partition("/zoneinfo/")
    return name if found else time.tzname[0]


def _own_version() -> str | None:
    try:
        return metadata.version("inband")
    except metadata.PackageNotFoundError:
        return None
