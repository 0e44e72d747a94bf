"""Which test shows which requirement: `python scripts/requirements.py [O | O-16 | D001 …]`, or `--check`.

The requirements stand in `tests/requirements/<letter>.toml`. A test shows one by citing its number in a
comment within the test or beside one of its rows: `# O-16`, `# O-16, M-02`, `# M-05 to M-08`, and attacks
without a dash: `# D001`. A number in a docstring only says what a file is about. `--check` fails for a
requirement without a test that does not say why, and for a citation of a number that does not exist.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
TABLES: Final = ROOT / "tests" / "requirements"
CITED: Final = re.compile(r"\b([A-Z])-(\d\d)\b(?: to (?:\1-)?(\d\d)\b)?")
# None is above D199: U+D800 and what follows it are surrogates.
CITED_ATTACK: Final = re.compile(r"(?<![+\w])D[01]\d\d\b")


class Requirement(NamedTuple):
    """`later`: what of it is not built, and why. `record`: the page that keeps what no test can show.

    `tried`: the attack or failure that it answers.
    """

    number: str
    text: str
    later: str = ""
    record: str = ""
    tried: str = ""

    @property
    def reason(self) -> str:
        """Why no test shows it, or not all of it."""
        return self.later or self.record


class Area(NamedTuple):
    """The requirements of one letter; `page` of docs/ shows them."""

    letter: str
    title: str
    requirements: tuple[Requirement, ...]
    tables: Mapping[str, str] = MappingProxyType({})  # `O 7.3` -> which literal it is
    page: str = "requirements.md"


def areas() -> list[Area]:
    """All tables, by letter."""
    return [_area(path) for path in sorted(TABLES.glob("*.toml"))]


def _area(path: Path) -> Area:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    title, tables = table.pop("title"), table.pop("tables", {})
    page = table.pop("page", Area._field_defaults["page"])
    rows = (Requirement(number, row.pop("is"), **row) for number, row in table.items())
    return Area(path.stem, title, tuple(rows), tables, page)


def citations() -> Mapping[str, list[str]]:
    """Number -> the tests that cite it, as `tests/x/test_y.py::test_z`."""
    found = defaultdict[str, list[str]](list)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for number, test in _in_file(path):
            if test not in found[number]:
                found[number].append(test)
    return found


def _in_file(path: Path) -> Iterator[tuple[str, str]]:
    source, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
    tests = _tests(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        inside = next((test for test, lines in tests.items() if line in lines), None)
        for number in numbers(token.string):
            yield number, f"{name}::{inside}" if inside else name


def _tests(source: str) -> dict[str, range]:
    """The lines of each test, with its decorators."""
    nodes = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)
    )
    return {
        node.name: range(
            min([node.lineno, *(one.lineno for one in node.decorator_list)]), (node.end_lineno or 0) + 1
        )
        for node in nodes
        if node.name.startswith("test_")
    }


def numbers(comment: str) -> Iterator[str]:
    """The requirements that a comment cites."""
    yield from CITED_ATTACK.findall(comment)
    for letter, first, last in CITED.findall(comment):
        for number in range(int(first), int(last or first) + 1):
            yield f"{letter}-{number:02d}"


def faults(found: list[Area], cited: Mapping[str, list[str]]) -> Iterator[str]:
    """One sentence for each requirement without a test or a reason, and for each number that is none."""
    for area in found:
        known = {one.number: one for one in area.requirements}
        for number, one in known.items():
            if not (cited.get(number) or one.reason):
                yield f"{number}: no test cites it, and tests/requirements/{area.letter}.toml says no reason"
            if one.record and not (ROOT / one.record).exists():
                yield f"{number}: its record {one.record} does not exist"
        for number in sorted(cited):
            if number.startswith(area.letter) and number not in known:
                yield f"{number}: cited by {cited[number][0]}, but it is no requirement"


def report(wanted: list[str], found: list[Area], cited: Mapping[str, list[str]]) -> Iterator[str]:
    """Each requirement with its tests; only those of `wanted`, letters and numbers, if there are any."""
    for area in found:
        for one in area.requirements:
            if wanted and not {area.letter, one.number} & set(wanted):
                continue
            yield f"{one.number}  {one.text}"
            yield from (f"      {test}" for test in cited.get(one.number, ()))
            if one.reason:
                yield f"      {'later' if one.later else 'record'}: {one.reason}"


def main(arguments: list[str]) -> int:
    found, cited = areas(), citations()
    if arguments != ["--check"]:
        print("\n".join(report(arguments, found, cited)))
        return 0
    wrong = list(faults(found, cited))
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
