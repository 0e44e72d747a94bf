"""The mutator itself: what it makes of a source, and that a mutant is told from the scanner as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.judge import NO_PROGRAM, killer
from tests.mutants.made import Mutant, mutants_of
from tests.mutants.source import Source
from tests.mutants.verdicts import Judged, equivalents

SCANNER = Path(__file__).parents[2] / "harvester" / "scanner"
FORMS = "test_forms::test_the_two_engine_words_are_equal[0]"
VERDICT = "test_scanner::test_a_verdict_says_its_summary_and_artifacts[0]"


def changed(source: str) -> set[str]:
    """Last lines of the mutants of a source."""
    return {mutant.text.strip().splitlines()[-1].strip() for mutant in mutants_of(Source.of("x", source))}


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a not in b", {"a in b"}),
        ("a and b", {"a or b", "True and b", "a and True"}),
        ("not a", {"(a)"}),
        ("x = 3", {"x = 4", "x = (2)"}),
        ("x = True", {"x = False"}),
        ("a + b", {"a - b"}),
        ("x = (a, b)", {"x = (b, )", "x = (a, )"}),
        ('x = {"é": a}', {"x = {}", "x = {'é\\x00': a}"}),
        ("x = a.strip(' \\t')", {f"x = a.{new}" for new in
            ("lstrip(' \\t')", "rstrip(' \\t')", "strip(' ')", "strip('\\t')")}),
        ("a[b:]", {"a[:]"}),
        ("x = r'[ab]*+'", {"x = r'[b]*+'", "x = r'[ab]++'"}),
        ("x = r'(?!a){0,3}$'", {f"x = r'{new}'" for new in
            ("(?=a){0,3}$", "(?!a){1,3}$", "(?!a){0,4}$", "(?!a){0,2}$", "(?!a){0,3}")}),
        ("def f() -> int:\n    '''Doc.'''\n    return a", {"return None"}),
        ("def f():\n    g()", {"pass"}),
        ("assert a < 3\nfrom b import c\nx: int\n", set()),
    ],
)  # fmt: skip
def test_a_mutant_differs_in_one_place(source: str, mutants: set[str]) -> None:
    assert changed(source) == mutants


def test_a_mutant_is_known_by_its_lines_wherever_they_stand() -> None:
    source = "class A:\n    def f(self):\n        return  (1,\n            2)\n"
    one, moved = (
        next(mutant for mutant in mutants_of(Source.of("x", text)) if mutant.rule == "row left out")
        for text in (source, "# é\n\n" + source)
    )
    assert one.key == moved.key == ("x", "A.f", "return (1, 2)", "return (2, )")
    assert (one.line, moved.line) == (3, 5)


def mutant(text: str) -> Mutant:
    return Mutant("verdicts", "", 1, "by hand", "", "", text)


def test_a_mutant_is_killed_by_the_first_test_that_fails_on_it() -> None:
    text = (SCANNER / "verdicts.py").read_text()
    assert killer(mutant(text), (FORMS, VERDICT)) is None
    assert killer(mutant(text + "\nread_verdict = lambda *_: None\n"), (FORMS, VERDICT)) == VERDICT
    assert killer(mutant(text + "\nimport no_such_module\n"), (FORMS, VERDICT)) == NO_PROGRAM


def test_every_equivalent_mutant_has_its_reason() -> None:
    assert all(len(why) > 10 for why in equivalents().values())


def test_a_verdict_holds_for_the_same_scanner_and_a_survivor_for_the_same_tests(tmp_path: Path) -> None:
    killed, survivor = (mutant(text) for text in ("A", "B"))
    first = Judged(tmp_path / "verdicts", "scanner", "tests")
    first.add(killed, "some test")
    first.add(survivor, None)
    with (tmp_path / "verdicts").open("a") as lines:
        lines.write('{"mutant": "cut off')
    again, more_tests, other = (
        Judged(tmp_path / "verdicts", *names)
        for names in (("scanner", "tests"), ("scanner", "more tests"), ("other", "tests"))
    )
    assert [one in again for one in (killed, survivor)] == [True, True]
    assert [one in more_tests for one in (killed, survivor)] == [True, False]
    assert [one in other for one in (killed, survivor)] == [False, False]
    assert again.killer(killed) == "some test"
