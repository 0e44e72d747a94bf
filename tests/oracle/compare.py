"""Compare the scanner with the oracle on seeded texts: python -m tests.oracle.compare --seed 1 --count 10000

Prints each difference once, made as small as it gets, and how many texts agreed.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harvester.policy import ScanPolicy
from tests.oracle.files import CASES, json_lines
from tests.oracle.generate import markdown, mutated
from tests.oracle.shrink import smallest
from tests.oracle.subject import Difference, differs

# GRAMMAR 2: everything deeper than 32 is inert; far beyond that a scanner need not follow the structure.
_TOO_DEEP = re.compile(r"(?:(?:[-*+>]|[0-9]+[.)])[ \t]*){60}")
# More tags in the middle of lines than any model writes: the scanner takes the rest for reasoning.
_TAGS = re.compile(r"(?i)<[a-z]+(?=[\s>])")
_MOST_TAGS = ScanPolicy().max_inline_tags
_LONGEST = 3000  # longer case texts only repeat themselves


def case_texts(folder: Path = CASES) -> list[str]:
    """The texts of all case files that are short enough to be mutated usefully."""
    found = [
        case["text"] for file in sorted(folder.glob("*.jsonl")) for case in json_lines(file) if "text" in case
    ]
    found += [file.read_text() for file in sorted(folder.glob("**/*.md"))]
    return [text for text in found if len(text) <= _LONGEST]


def texts(seed: int, count: int, cases: list[str]) -> Iterator[str]:
    """`count` texts of a seed: half mutated cases, half random Markdown."""
    chance = random.Random(seed)
    while count:
        text = mutated(chance, cases) if cases and chance.random() < 0.5 else markdown(chance)
        if not _TOO_DEEP.search(text) and len(_TAGS.findall(text)) <= _MOST_TAGS:
            count -= 1
            yield text


def compare(
    seed: int, count: int, seconds: float, cases: list[str]
) -> tuple[int, dict[str, Difference], Counter[str]]:
    """How many texts were read, the differences by shape, and how many of each kind."""
    found: dict[str, Difference] = {}
    kinds: Counter[str] = Counter()
    until = time.monotonic() + seconds
    read = 0
    for read, text in enumerate(texts(seed, count, cases), start=1):
        difference = differs(text, read)
        if difference is not None:
            kinds[difference.kind] += 1
            small = _small(difference, read)
            found.setdefault(shape(small.text), small)
        if time.monotonic() > until:
            break
    return read, found, kinds


def shape(text: str) -> str:
    """The text with names and engines made alike: two differences of one shape are one."""
    return re.sub(r"(?<=\[)EXEC|(?<=\[)DM", "TOOL", re.sub(r"[a-z][a-z.]*", "a", text))


def _small(difference: Difference, seed: int) -> Difference:
    def shows(text: str) -> bool:
        other = differs(text, seed)
        return other is not None and other.kind == difference.kind

    return differs(smallest(difference.text, shows), seed) or difference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--cases", type=Path, default=CASES, help="folder of case files (*.jsonl, *.md)")
    given = parser.parse_args()
    read, found, kinds = compare(given.seed, given.count, given.seconds, case_texts(given.cases))
    for difference in sorted(found.values(), key=lambda one: (one.kind, len(one.text))):
        print(f"{difference.kind} {difference.text!r}")
        print(f"    scanner {difference.scanner}\n    oracle  {difference.oracle}")
    agreed = 100 * (1 - sum(kinds.values()) / max(read, 1))
    print(f"seed {given.seed}: {read} texts, {agreed:.4f} % agree, {dict(kinds)}, {len(found)} different")


if __name__ == "__main__":
    main()
