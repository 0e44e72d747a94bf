"""The header says the facts of O-63, one line each, whatever the names are."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt_envelope import EnvelopeContext, EnvelopeError

NOW = datetime(2026, 12, 1, 7, 0, 3, tzinfo=UTC)


def lines(**facts: Any) -> list[str]:
    return list(EnvelopeContext(**{"now": NOW} | facts).lines())


def test_all_facts_have_a_line():  # O-63
    berlin = ZoneInfo("Europe/Berlin")
    assert lines(
        now=NOW.astimezone(berlin),
        due=datetime(2026, 12, 1, 8, tzinfo=berlin),
        job="j-17",
        timer="nightly disk",
        thread="heron",
        deadline=datetime(2026, 12, 1, 8, 30, tzinfo=timezone(timedelta(hours=1))),
        attempt=2,
        attempts=3,
        worker="w1",
    ) == [
        "job: j-17",
        "timer: nightly disk",
        "thread: heron",
        "due: 2026-12-01T08:00:00+01:00 Europe/Berlin",
        "now: 2026-12-01T08:00:03+01:00 Europe/Berlin",
        "deadline: 2026-12-01T08:30:00+01:00 UTC+01:00",
        "attempt: 2/3",
        "worker: tmux attach -t w1",
    ]


def test_what_is_not_known_has_no_line_but_a_worker_is_denied():  # O-63
    assert lines() == ["now: 2026-12-01T07:00:03+00:00 UTC", "attempt: 1/1", "worker: none"]


def test_an_id_of_128_characters_stays_whole():
    assert lines(job="j" * 128)[0] == f"job: {'j' * 128}"


def test_a_long_name_is_cut_and_says_so():
    line = lines(timer="é" * 200)[0]
    assert line.endswith("é…")
    assert len(line.encode()) <= len("timer: ") + 80


def test_a_session_name_is_quoted_for_a_shell():
    assert lines(worker="a; rm -rf x")[-1] == "worker: tmux attach -t 'a; rm -rf x'"


@given(st.text(), st.text(), st.text(), st.text())
def test_no_name_breaks_out_of_its_line(job, timer, thread, worker):
    found = lines(job=job, timer=timer, thread=thread, worker=worker)
    assert [line.partition(":")[0] for line in found] == [
        "job",
        "timer",
        "thread",
        "now",
        "attempt",
        "worker",
    ]
    assert not any("`" in line or len(line.splitlines()) != 1 or "[TOOL" in line for line in found)


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"due": datetime(2026, 12, 1)}, "due needs a time zone"),  # noqa: DTZ001 that is what is refused
        ({"attempt": 0}, "attempt 0 of 1"),
        ({"attempt": 3, "attempts": 2}, "attempt 3 of 2"),
    ],
)
def test_impossible_facts_are_refused(facts, problem):
    with pytest.raises(EnvelopeError, match=problem):
        EnvelopeContext(**{"now": NOW} | facts)
