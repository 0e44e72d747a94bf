"""All mutants of a folder of modules: each is its source with one edit. Some do not even compile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.rules import RULES
from tests.mutants.source import Edit, Source, code


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change. It is known by the lines that it touches, `before` and `after`, wherever they stand."""

    module: str
    within: str
    line: int
    rule: str
    before: str
    after: str
    text: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.module, self.within, self.before, self.after

    @property
    def digest(self) -> str:
        """A name for the mutated module."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        place = f"{self.module}.py:{self.line} {self.within or 'module'}"
        return f"{place} ({self.rule})\n    - {self.before}\n    + {self.after}"


def mutants(folder: Path) -> list[Mutant]:
    """Of every module of a package, in order."""
    return [
        mutant
        for file in sorted(folder.glob("*.py"))
        for mutant in mutants_of(Source.of(file.stem, file.read_text(encoding="utf-8")))
    ]


def mutants_of(source: Source) -> Iterator[Mutant]:
    """Of one module; two edits that make the same text count once."""
    seen = {source.text}
    for edit in _edits(source):
        text = source.edited(edit)
        if text not in seen:
            seen.add(text)
            before, after = source.lines_around(edit)
            line = source.line(edit.start)
            yield Mutant(source.name, source.within(line), line, edit.rule, before, after, text)


def _edits(source: Source) -> Iterator[Edit]:
    for node in [source.tree, *code(source.tree)]:
        for rule in RULES:
            yield from rule(source, node)
