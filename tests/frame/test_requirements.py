"""Requirements and tests: each is shown by one or says why not, and none is shown by chance."""

from __future__ import annotations

import os
import re
from pathlib import Path

import hypothesis
import pytest

from scripts.requirements import Area, Requirement, areas, citations, faults, main, numbers, report

ROOT = Path(__file__).resolve().parents[2]


def test_every_requirement_has_a_test_or_a_reason() -> None:
    assert list(faults(areas(), citations())) == []


@pytest.mark.parametrize(
    ("row", "cited", "fault"),
    [
        (Requirement("Z-01", "is"), {"Z-01": ["tests/a.py"]}, None),
        (Requirement("Z-01", "is", later="with timers"), {}, None),
        (Requirement("Z-01", "is", record="README.md"), {}, None),
        (Requirement("Z-01", "is", record="NO.md"), {}, "its record NO.md does not exist"),
        (Requirement("Z-01", "is"), {}, "no test cites it"),
        (
            Requirement("Z-01", "is"),
            {"Z-01": ["a"], "Z-20": ["b"]},
            "Z-20: cited by b, but it is no requirement",
        ),
        (
            Requirement("D001", "is"),
            {"D001": ["a"], "D199": ["b"]},
            "D199: cited by b, but it is no requirement",
        ),
    ],
)
def test_what_is_missing_or_unknown_is_a_fault(
    row: Requirement, cited: dict[str, list[str]], fault: str | None
) -> None:
    found = list(faults([Area(row.number[0], "of a test", (row,))], cited))
    assert len(found) == (fault is not None)
    assert fault is None or fault in found[0]


@pytest.mark.parametrize(
    ("comment", "cited"),
    [
        ("# O-16, M-02, D001 D143", ["D001", "D143", "O-16", "M-02"]),
        ("# M-05 to M-07", ["M-05", "M-06", "M-07"]),
        ("# U+D100, D800, AD100, D1000", []),
    ],
)
def test_a_comment_cites_by_number_and_a_surrogate_is_none(comment: str, cited: list[str]) -> None:
    assert list(numbers(comment)) == cited


def test_a_requirement_is_printed_with_its_tests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["O-01"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("O-01  ")
    assert "tests/harvester/test_forms.py::test_the_two_engine_words_are_equal" in printed
    assert "O-02" not in printed


def test_without_a_name_every_requirement_is_printed() -> None:
    lines = report([], areas(), {})
    numbers = [found[0] for line in lines if (found := re.match(r"[A-Z]-\d\d|D\d{3}", line))]
    assert numbers == [one.number for area in areas() for one in area.requirements]


def test_properties_try_the_same_examples_in_each_run() -> None:  # O-82
    assert hypothesis.settings().derandomize or "HYPOTHESIS_PROFILE" in os.environ


def written(*patterns: str) -> int:
    """How many tests stand in the files; rows of a table are not counted."""
    texts = [path.read_text(encoding="utf-8") for glob in patterns for path in ROOT.glob(f"tests/{glob}.py")]
    return sum(len(re.findall(r"^(?:async )?def test_", text, re.MULTILINE)) for text in texts)


def test_there_are_more_tests_than_the_originals_had() -> None:  # O-82
    assert written("harvester/test_*", "patterns/test_*", "messaging/test_normalise") > 38
    assert (
        written("prompt_envelope/test_*", "frame/test_documents", "**/test_docs_*", "**/test_grammar_page")
        > 32
    )
