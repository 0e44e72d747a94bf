"""Small files of the kernel under /proc and /sys, any of which may be missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

# The longest of the files read here, /proc/vmstat, has about 5 KB.
_MOST_BYTES: Final = 65536


def read_text(path: str | Path) -> str | None:
    """The file's text, or None when it is missing or closed to us."""
    try:
        with Path(path).open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def pressure(resource: str) -> dict[str, dict[str, float]] | None:
    """Pressure stall information of `cpu`, `memory` or `io` as `{"some": {"avg10": …}, "full": …}`.

    Percent of wall time in which some (or all) tasks waited; None where the kernel does not tell.
    """
    text = read_text(f"/proc/pressure/{resource}")
    return dict(_pressure_line(line) for line in text.splitlines()) if text else None


def _pressure_line(line: str) -> tuple[str, dict[str, float]]:
    kind, *pairs = line.split()
    averages = (pair.partition("=") for pair in pairs if pair.startswith("avg"))
    return kind, {name: float(percent) for name, _, percent in averages}


def counters(path: str) -> dict[str, int]:
    """Lines `name number`, as /proc/vmstat has them; empty when there is no such file."""
    words = (line.split() for line in (read_text(path) or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdecimal()}


def assignments(text: str) -> dict[str, str]:
    """Lines `KEY=value` or `KEY="value"`, as /etc/os-release has them."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def number(path: str | Path) -> int | None:
    """The one number that the file holds; None when there is none (`max` in a cgroup file)."""
    text = (read_text(path) or "").strip()
    return int(text) if text.isdecimal() else None


def cgroup_directory() -> Path | None:
    """Where the unified (v2) control group of this process stands."""
    for line in (read_text("/proc/self/cgroup") or "").splitlines():
        if line.startswith("0::"):
            found = Path("/sys/fs/cgroup") / line[3:].lstrip("/")
            return found if (found / "cgroup.controllers").exists() else None
    return None


def first_lines(*paths: str) -> list[Any]:
    """The first line of each of `paths` that has one."""
    texts = (read_text(path) for path in paths)
    return [text.strip().splitlines()[0] for text in texts if text and text.strip()]
