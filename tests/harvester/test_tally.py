"""What was harvested, counted by kind."""

from __future__ import annotations

from harvester.parse import parse
from harvester.tally import Tally
from messaging import ErrorCode, Result, error

TEXT = '[TOOL tools.list]\n\n[TOOL dm.send {"to": "a", "text": "b"}]\n\n`[TOOL tools.list]`\n'


def test_calls_are_counted_by_form_and_outcome_and_skipped_places_by_reason() -> None:
    tally, parsed = Tally(), parse(TEXT)
    results = [Result(op="tools.list"), Result(op="dm.send", error=error(ErrorCode.FORBIDDEN, "no"))]
    tally.add(parsed, results)
    tally.add(parsed, results)
    assert tally.take() == {
        "directives": [
            {"form": "F3", "outcome": "OK", "count": 2},
            {"form": "F1", "outcome": "FORBIDDEN", "count": 2},
        ],
        "skipped": [{"reason": "code_span", "count": 2}],
    }


def test_what_was_taken_is_not_taken_again() -> None:
    tally = Tally()
    tally.add(parse(TEXT), [])
    assert [(row["form"], row["outcome"]) for row in tally.take()["directives"]] == [
        ("F3", "not_called"),
        ("F1", "not_called"),
    ]
    assert tally.take() == {"directives": [], "skipped": []}
