"""cpu, memory and disk: how much of the machine is in use."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from exec_daemon.box.kernel_files import cgroup_directory, counters, number, pressure
from exec_daemon.box.ports import BoxContext
from exec_daemon.box.reading import Reading


def percent(part: float, whole: float) -> float:
    """`part` of `whole` in percent, to a tenth; 0 of nothing."""
    return round(100 * part / whole, 1) if whole else 0.0


def cpu(context: BoxContext) -> Reading:
    """Load, cores, use of each core over a short sample, and pressure."""
    before = psutil.cpu_times(percpu=True)
    time.sleep(context.sample_s)
    after = psutil.cpu_times(percpu=True)
    cores = [_busy_percent(a, b) for a, b in zip(before, after, strict=False)]
    data = {
        "load": dict(zip(("1m", "5m", "15m"), (round(load, 2) for load in os.getloadavg()), strict=True)),
        "cores": os.cpu_count(),
        "percent": round(sum(cores) / len(cores), 1) if cores else None,
        "percent_per_core": cores,
        "pressure": pressure("cpu"),
    }
    return Reading(data)


def _busy_percent(before: Any, after: Any) -> float:
    """How busy a core was between two readings of its times (seconds by state)."""
    spent = [b - a for a, b in zip(before, after, strict=True)]
    waiting = (after.idle - before.idle) + (after.iowait - before.iowait)
    # guest time is counted in user time as well (proc(5)).
    whole = sum(spent) - (after.guest - before.guest) - (after.guest_nice - before.guest_nice)
    return min(100.0, max(0.0, percent(whole - waiting, whole)))


def memory(_context: BoxContext) -> Reading:
    """Memory and swap in bytes, pressure, kills by the kernel, and the limit of our own control group."""
    main, swap = psutil.virtual_memory(), psutil.swap_memory()
    data = {
        "total_bytes": main.total,
        "available_bytes": main.available,
        "used_bytes": main.used,
        "available_percent": percent(main.available, main.total),
        "swap": {"total_bytes": swap.total, "used_bytes": swap.used},
        "pressure": pressure("memory"),
        "oom_kills": counters("/proc/vmstat").get("oom_kill"),
        "cgroup": _cgroup_memory(),
    }
    return Reading(data)


def _cgroup_memory() -> dict[str, int | None] | None:
    group = cgroup_directory()
    if group is None:
        return None
    names = {"limit_bytes": "memory.max", "used_bytes": "memory.current"}
    return {name: number(group / file) for name, file in names.items()}


def disk(_context: BoxContext) -> Reading:
    """Each file system on a device of this machine: size, use, inodes, read-only flag.

    Network and FUSE mounts are left out: asking a dead server for its size blocks for ever.
    """
    return Reading({"mounts": list(_mounts())})


def _mounts() -> Iterator[dict[str, Any]]:
    """One row per device, under the first place where it is mounted; the root always."""
    seen: set[int] = set()
    for partition in (*_root(), *psutil.disk_partitions(all=False)):
        try:
            device, space = Path(partition.mountpoint).stat().st_dev, os.statvfs(partition.mountpoint)
        except OSError:
            continue
        if device not in seen and space.f_blocks:
            seen.add(device)
            yield _mount(partition, space)


def _root() -> list[Any]:
    """The root as the mount table has it last: in a container it is on no device, so the others lack it."""
    return [part for part in psutil.disk_partitions(all=True) if part.mountpoint == "/"][-1:]


def _mount(partition: Any, space: os.statvfs_result) -> dict[str, Any]:
    used = space.f_blocks - space.f_bfree
    return {
        "mount": partition.mountpoint,
        "device": partition.device,
        "type": partition.fstype,
        "size_bytes": space.f_blocks * space.f_frsize,
        "free_bytes": space.f_bavail * space.f_frsize,
        # As df(1) has it: of what an ordinary user could use.
        "used_percent": percent(used, used + space.f_bavail),
        "inodes_used_percent": percent(space.f_files - space.f_ffree, space.f_files),
        "read_only": bool(space.f_flag & os.ST_RDONLY),
    }
