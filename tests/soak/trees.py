"""A thousand programs that fork, take sessions of their own and ignore TERM, stopped at their time limit.

    python -m tests.soak.trees --trees 1000 --at-once 8 [--avoid cgroup]

Afterwards no process of them may be there. A sentinel that has nothing to do with them must still live, while
pids have come round (D024, D029).
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from exec_daemon.programs import Profile, Program, Programs

MARKER: Final = "inband-soak-tree"
# In the shell's words, since it starts in a millisecond: three branches, each with a child of its own.
TREE: Final = (
    "trap '' TERM HUP INT; "
    "for n in 1 2 3; do setsid sh -c 'trap \"\" TERM HUP INT; sleep 7000 & sleep 7001 & wait' $0 & done; "
    "echo up; wait"
)


def survivors() -> list[int]:
    """The processes of any tree: they have the marker among their arguments, or sleep for those seconds."""
    return [
        pid
        for pid, words in _processes()
        if MARKER in words or words in (["sleep", "7000"], ["sleep", "7001"])
    ]


def _processes() -> Iterator[tuple[int, list[str]]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                line = (folder / "cmdline").read_text(errors="replace")
            except OSError:
                continue
            yield int(folder.name), line.rstrip("\0").split("\0")


async def one(programs: Programs, number: int) -> bool:
    """One tree. Was it up when it was stopped?"""
    limit_s = 0.02 + number % 7 / 100
    program = Program(
        argv=("/bin/sh", "-c", TREE, MARKER), profile=Profile(confined=False), time_limit_s=limit_s
    )
    ran = await programs.run(program)
    return ran.timed_out and ran.stdout.text == "up\n"


async def soak(trees: int, at_once: int, avoid: tuple[str, ...]) -> int:
    programs, places = Programs(places=at_once, avoid=avoid), asyncio.Semaphore(at_once)

    async def placed(number: int) -> bool:
        async with places:
            return await one(programs, number)

    standing = await programs.standing(Profile(confined=False))
    print(f"{trees} trees, {at_once} at a time; {standing}")
    began_s = time.monotonic()
    up = sum(await asyncio.gather(*map(placed, range(trees))))
    left = survivors()  # before the nursery ends, which would hide some
    took_s = time.monotonic() - began_s
    await programs.close()
    print(f"{up} were up when they were stopped, {len(left)} processes survived, in {took_s:.1f} s")
    return len(left) + (up < trees // 2)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--trees", type=int, default=1000)
    words.add_argument("--at-once", type=int, default=8)
    words.add_argument("--avoid", action="append", default=[], help="a way to end trees that is not used")
    chosen = words.parse_args()
    sentinel = subprocess.Popen(["sleep", "100000"])
    try:
        failed = asyncio.run(soak(chosen.trees, chosen.at_once, tuple(chosen.avoid)))
        alive = sentinel.poll() is None
        print("the sentinel lives" if alive else "the sentinel was killed")
        return int(bool(failed) or not alive)
    finally:
        sentinel.kill()
        sentinel.wait()


if __name__ == "__main__":
    sys.exit(main())
