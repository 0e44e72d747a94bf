"""Hostile replies at the scanner: none raises, hangs, reads differently in pieces, or makes a result run.

    ./box fuzz scanner [--inputs 100000] [--seed BLOCK] [--jobs N]

Inputs come in numbered blocks, each its own seed. A run goes on behind the last block that this source of the
scanner has been read with, so that totals add up over runs; `--seed` begins at that block instead. A text on
which something fails is made small and written to `.box/fuzz-scanner-faults.jsonl`, a line as the case files
have it. Exit code 1 if there is one, 130 after Ctrl-C or a TERM; what was read until then counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TextIO

sys.path.insert(0, str(Path(__file__).parents[2]))

from harvester.scanner import Scanner
from tests.fuzz._checks import DEADLINE_S, Fault, Make, fault
from tests.fuzz._texts import text
from tests.fuzz._totals import ROOT, Run, add, digest, next_block, runs, table
from tests.oracle.compare import case_texts, shape
from tests.oracle.shrink import smallest

BLOCK_INPUTS = 500
# Enough to see what is wrong; a scanner with more of them is not worth reading on.
MOST_FAULTS = 20
TOTALS, FAULTS = ROOT / ".box" / "fuzz-scanner.jsonl", ROOT / ".box" / "fuzz-scanner-faults.jsonl"

Read = Callable[[int], list[Fault]]


@cache
def cases() -> list[str]:
    return case_texts()


def block_texts(number: int, inputs: int = BLOCK_INPUTS) -> Iterator[str]:
    """The texts of a block; the same for ever, unless the generator or the case files change."""
    chance = random.Random(f"scanner {number}")
    return (text(chance, cases()) for _ in range(inputs))


def read_block(number: int, make: Make = Scanner, *, seconds: float = DEADLINE_S) -> list[Fault]:
    """What fails in a block, each made small."""
    found = (fault(one, make, seconds=seconds) for one in block_texts(number))
    return [small(one, make, seconds) for one in islice(filter(None, found), MOST_FAULTS)]


def small(found: Fault, make: Make, seconds: float) -> Fault:
    """The same fault on as little text as shows it."""

    def shows(shorter: str) -> bool:
        other = fault(shorter, make, seconds=seconds)
        return other is not None and other.kind == found.kind

    return fault(smallest(found.text, shows), make, seconds=seconds) or found


def case_line(found: Fault) -> str:
    """As a case file has it; what it should make (`expect`) is for who mends it to say."""
    name = hashlib.sha256(found.text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    case = {"id": f"fuzz-{name}", "kind": "fuzz", "text": found.text, "expect": []}
    return json.dumps(case | {"why": f"{found.kind}: {found.detail[:300]}"})


def leave_ends_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def in_blocks(numbers: Iterable[int], jobs: int, read: Read) -> Generator[list[Fault], None, None]:
    """Block by block in order, on so many processes."""
    if jobs == 1:
        yield from map(read, numbers)
        return
    # Ctrl-C is for the parent, which then ends them.
    pool = get_context("fork").Pool(jobs, leave_ends_to_the_parent)
    with pool:
        yield from pool.imap(read, numbers)


class Progress:
    """One line that moves, on a terminal only."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._live = out.isatty()
        self._next_s = 0.0

    def show(self, run: Run, inputs: int) -> None:
        if self._live and (run.seconds >= self._next_s or run.inputs == inputs):
            self._next_s = run.seconds + 0.2
            done = f"{run.inputs:,} of {inputs:,} inputs, {run.speed:,.0f}/s, {run.faults} faults"
            self._out.write(f"\r\x1b[K{done}")
            self._out.flush()

    def end(self) -> None:
        if self._live:
            self._out.write("\r\x1b[K")
            self._out.flush()


class Faults:
    """Says the first fault of each kind and shape, and writes it down."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: set[tuple[str, str]] = set()

    def keep(self, found: list[Fault]) -> None:
        for one in found:
            if (one.kind, shape(one.text)) not in self._seen:
                self._seen.add((one.kind, shape(one.text)))
                self._write(one)

    def _write(self, one: Fault) -> None:
        self._file.parent.mkdir(exist_ok=True)
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(case_line(one) + "\n")
        print(f"{one.kind}: {one.text!r}\n    {one.detail[:600]}\n    written to {self._file}", flush=True)


def after(run: Run, found: list[Fault], began_s: float) -> Run:
    """The run with one more block read."""
    inputs, faults = run.inputs + BLOCK_INPUTS, run.faults + len(found)
    return replace(run, end=run.end + 1, inputs=inputs, faults=faults, seconds=time.monotonic() - began_s)


def fuzz(run: Run, blocks: Iterator[list[Fault]], inputs: int, faults: Faults) -> tuple[Run, bool]:
    """Take what is found block by block, unless too much fails; the run, and whether nobody broke it off."""
    began_s, progress = time.monotonic(), Progress(sys.stderr)
    try:
        for found in blocks:
            run = after(run, found, began_s)
            faults.keep(found)
            progress.show(run, inputs)
            if run.faults >= MOST_FAULTS:
                break
    except KeyboardInterrupt:
        return run, False
    finally:
        progress.end()
    return run, True


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./box fuzz scanner", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--inputs", type=int, default=100_000, help="texts to read (default 100000)")
    parser.add_argument("--seed", type=int, metavar="BLOCK", help="first block (default: behind the last)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    given = parser.parse_args(words)
    if given.inputs < 1 or given.jobs < 1:
        parser.error("--inputs and --jobs are 1 or more")
    return given


def main(words: list[str], totals: Path = TOTALS, faults: Path = FAULTS, read: Read = read_block) -> int:
    given = arguments(words)
    done, subject = runs(totals), digest((ROOT / "harvester" / "scanner").glob("*.py"))
    first = next_block(done, subject) if given.seed is None else given.seed
    begun, count = Run(subject, first, first, 0, 0, 0.0), -(-given.inputs // BLOCK_INPUTS)
    with closing(in_blocks(range(first, first + count), given.jobs, read)) as blocks:
        run, whole = fuzz(begun, blocks, count * BLOCK_INPUTS, Faults(faults))
    add(totals, run)
    print(table(run, [*done, run]))
    print(f"blocks {run.first} to {run.end} of {BLOCK_INPUTS}; the next run goes on with --seed {run.end}")
    return 1 if run.faults else 0 if whole else 130


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(BrokenPipeError):
        sys.exit(main(sys.argv[1:]))
