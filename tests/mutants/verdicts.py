"""What is known of mutants: which are equivalent and why, and how each was judged in earlier runs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.made import Mutant

Key = tuple[str, str, str, str]
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant that does what its source does. `before` and `after` are the lines that differ."""

    module: str
    within: str
    before: str
    after: str
    why: str

    @property
    def key(self) -> Key:
        return self.module, self.within, self.before, self.after


def equivalents(file: Path = EQUIVALENT) -> dict[Key, str]:
    """The listed ones, each with its reason."""
    rows = tomllib.loads(file.read_text(encoding="utf-8")).get("equivalent", [])
    return {one.key: one.why for one in (Equivalent(**row) for row in rows)}


class Judged:
    """Verdicts of earlier runs, in a file. One that was killed stays so while the scanner is the same.

    A survivor is judged again when the tests have changed.
    """

    def __init__(self, file: Path, scanner: str, tests: str) -> None:
        self._file, self._scanner, self._tests = file, scanner, tests
        self._known = dict(self._read())

    def _read(self) -> Iterable[tuple[str, str | None]]:
        for line in self._file.read_text().splitlines() if self._file.exists() else []:
            try:
                row = json.loads(line)
                if row["scanner"] == self._scanner and (row["killer"] or row["tests"] == self._tests):
                    yield row["mutant"], row["killer"]
            except (ValueError, KeyError):  # a line that a kill cut off
                continue

    def __contains__(self, mutant: Mutant) -> bool:
        return mutant.digest in self._known

    def killer(self, mutant: Mutant) -> str | None:
        """What killed it."""
        return self._known[mutant.digest]

    def add(self, mutant: Mutant, killer: str | None) -> None:
        """Note a verdict."""
        self._known[mutant.digest] = killer
        self._file.parent.mkdir(exist_ok=True)
        row = {"mutant": mutant.digest, "killer": killer, "scanner": self._scanner, "tests": self._tests}
        with self._file.open("a") as lines:
            lines.write(json.dumps(row) + "\n")
