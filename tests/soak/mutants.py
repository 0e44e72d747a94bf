"""Single-rule mutants of the scanner: each has to be killed by a test, or be listed as equivalent.

    ./box soak mutants [--count 120] [--seed 1] [--all] [--tests quick|most|all] [MODULE …]

A mutant is the scanner with one place changed: a condition turned round, a row of a table left out, a bound
off by one, a character class that takes one more. They are made from the source as it is now; `--count` of
them are drawn, or all of the modules named. Survivors are printed: write the test that kills one, or say in
`tests/mutants/equivalent.toml` why nothing can. Verdicts are kept in `.box/mutants.jsonl`, so that a run that
was broken off goes on. Exit code 1 if one survives.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fuzz._totals import ROOT, digest
from tests.mutants.judge import HANGS, NO_PROGRAM, Timed, killer, timed
from tests.mutants.made import Mutant, mutants
from tests.mutants.verdicts import Judged, equivalents

SCANNER = ROOT / "harvester" / "scanner"
VERDICTS = ROOT / ".box" / "mutants.jsonl"
TESTS = (ROOT / "tests" / "harvester", ROOT / "tests" / "oracle", ROOT / "tests" / "cases")

# Which tests judge, by how long one takes and how many of its kind there are. A survivor takes them all.
SELECTIONS: dict[str, Callable[[Timed, int], bool]] = {
    "quick": lambda test, _: test.seconds < 0.005,
    "most": lambda test, of_its_kind: test.seconds < 0.1 or of_its_kind < 20,
    "all": lambda _test, _: True,
}
ENDS = {"equivalent", HANGS, NO_PROGRAM}


def drawn(given: argparse.Namespace) -> list[Mutant]:
    """The mutants of a run, in an order of chance."""
    made = [one for one in mutants(SCANNER) if not given.modules or one.module in given.modules]
    random.Random(given.seed).shuffle(made)
    return made if given.all else made[: given.count]


class Order:
    """The tests, quickest first; one that has killed goes to the front, since mutants die of the same few."""

    def __init__(self, wanted: Callable[[Timed, int], bool]) -> None:
        self._wanted = wanted
        self._names: list[str] | None = None

    def names(self) -> list[str]:
        if self._names is None:
            tests = timed()
            kinds = Counter(kind(test.name) for test in tests)
            self._names = [test.name for test in tests if self._wanted(test, kinds[kind(test.name)])]
        return self._names

    def killed(self, name: str) -> None:
        if name in self.names():
            self.names().remove(name)
            self.names().insert(0, name)


def kind(name: str) -> str:
    """The test's function."""
    return name.partition("[")[0]


def judge(mutant: Mutant, known: Judged, order: Order) -> str | None:
    """What kills a mutant, from an earlier run if that is known."""
    if mutant not in known:
        known.add(mutant, killer(mutant, order.names()))
        order.killed(known.killer(mutant) or "")
    return known.killer(mutant)


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./box soak mutants", description=(__doc__ or "").partition("\n")[0]
    )
    names = sorted(file.stem for file in SCANNER.glob("*.py"))
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of these only: {' '.join(names)}")
    parser.add_argument("--count", type=int, default=120, help="how many (default 120)")
    parser.add_argument("--seed", type=int, default=1, help="which (default 1)")
    parser.add_argument("--all", action="store_true", help="all that there are: hours")
    parser.add_argument(
        "--tests", choices=SELECTIONS, default="most", help="which tests judge (default most)"
    )
    given = parser.parse_args(words)
    if unknown := sorted(set(given.modules) - set(names)):
        parser.error(f"no module {' '.join(unknown)} in {SCANNER.relative_to(ROOT)}")
    return given


def known_verdicts(selection: str) -> Judged:
    files = sorted(file for folder in TESTS for file in folder.glob("*") if file.is_file())
    return Judged(VERDICTS, digest(SCANNER.glob("*.py")), f"{digest([*files, Path(__file__)])} {selection}")


def say(text: str) -> None:
    """On a terminal the moving line gives way."""
    print(f"\r\x1b[K{text}" if sys.stdout.isatty() else text, flush=True)


def main(words: list[str]) -> int:
    given, listed, began_s = arguments(words), equivalents(), time.monotonic()
    known, order = known_verdicts(given.tests), Order(SELECTIONS[given.tests])
    chosen, count = drawn(given), Counter[str]()
    for number, mutant in enumerate(chosen, start=1):
        by = "equivalent" if mutant.key in listed else judge(mutant, known, order)
        count[by if by in ENDS else "survived" if by is None else "killed by a test"] += 1
        if by is None:
            say(str(mutant))
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{number} of {len(chosen)} mutants, {count['survived']} survive")
    say(
        "\n".join(
            ["| mutants | |", "|---|---|", *(f"| {what} | {many} |" for what, many in count.most_common())]
        )
    )
    print(f"{len(chosen)} mutants in {time.monotonic() - began_s:.0f} s, seed {given.seed}")
    return 1 if count["survived"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
