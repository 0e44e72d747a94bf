"""Every case of the case files, whole and in pieces (GRAMMAR 1 to 8; O-01 to O-15)."""

from __future__ import annotations

import random

import pytest

from harvester.scanner import scan_reply
from tests.harvester.scanned import Case, calls, cases, replies, scan, verdict

CASES = [*cases("directives.jsonl"), *cases("own.jsonl"), *replies()]
SHORT = [case for case in CASES if len(case.text) <= 2000]
LONG = [case for case in CASES if len(case.text) > 2000]


def _id(case: Case) -> str:
    return case.id


@pytest.mark.parametrize("case", CASES, ids=_id)
def test_a_case_makes_exactly_its_calls_and_its_verdict(case: Case) -> None:
    events = scan_reply(case.text)
    assert calls(events) == case.expect
    assert case.verdict in {"", verdict(events)}


@pytest.mark.parametrize("case", CASES, ids=_id)
def test_events_are_ordered_by_where_they_begin_and_lie_within_the_reply(case: Case) -> None:
    spans = [event.span for event in scan_reply(case.text)]
    assert spans == sorted(spans, key=lambda span: span[0])
    assert all(0 <= start <= end <= len(case.text) for start, end in spans)


@pytest.mark.parametrize("case", SHORT, ids=_id)
def test_no_cut_in_two_and_no_cut_into_characters_changes_an_event(case: Case) -> None:
    whole = scan_reply(case.text)
    for cut in range(1, len(case.text)):
        assert scan(case.text, (case.text[:cut], case.text[cut:])) == whole
    assert scan(case.text, case.text) == whole


@pytest.mark.parametrize("case", LONG, ids=_id)
def test_no_cut_of_a_long_reply_changes_an_event(case: Case) -> None:
    whole, chance = scan_reply(case.text), random.Random(case.id)
    for _ in range(50 if len(case.text) < 50_000 else 5):
        cuts = sorted(chance.sample(range(len(case.text)), 8))
        pieces = [case.text[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
        assert scan(case.text, pieces) == whole
