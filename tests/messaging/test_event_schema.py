"""What reads as a job event, and what does not (M-01 to M-09, M-80, M-89)."""

from __future__ import annotations

from typing import Any

import pytest

import messaging
from messaging import EventError, EventType, JobEvent, decode_event, read_event
from messaging.event_schema import SCHEMA
from tests.messaging._events import PAYLOADS, event

REF = {"uri": "file:///a", "sha256": "0" * 64, "bytes": 3, "content_type": "text/plain"}


def document(kind: EventType = EventType.PROGRESS, **changes: Any) -> dict[str, Any]:
    return event(0, kind).to_json() | changes


@pytest.mark.parametrize("kind", EventType)
def test_each_type_reads_back_as_it_was(kind: EventType) -> None:  # M-04
    assert read_event(document(kind)) == event(0, kind)
    assert decode_event(event(0, kind).encode()) == event(0, kind)


def test_every_type_has_a_model_and_no_other() -> None:  # M-04
    assert set(SCHEMA) == set(EventType)


WRONG: dict[str, dict[str, Any]] = {
    "no job id": {"job_id": ""},
    "a number for a job id": {"job_id": 7},
    "a negative number": {"seq": -1},
    "a text for a number": {"seq": "0"},
    "a truth value for a number": {"seq": True},
    "a fraction for a number": {"seq": 1.0},
    "no time": {"ts": "yesterday"},
    "an unknown type": {"type": "done"},
    "a type that is no text": {"type": 3},
    "pct over 100": {"pct": 101},  # M-06
    "pct below 0": {"pct": -1},
    "pct as text": {"pct": "50"},
    "a stage that is no text": {"stage": 1},
    "a message that is no text": {"message": 1},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_by_name(changes: dict[str, Any]) -> None:
    with pytest.raises(EventError) as raised:
        read_event(document(**changes))
    assert next(iter(changes)) in raised.value.problems[0]


@pytest.mark.parametrize("field", ["job_id", "seq", "ts", "type"])
def test_each_field_of_the_envelope_is_required(field: str) -> None:  # M-01
    broken = document()
    del broken[field]
    with pytest.raises(EventError, match=field):
        read_event(broken)


@pytest.mark.parametrize("kind", EventType)
def test_each_type_requires_its_own_fields(kind: EventType) -> None:  # M-05, M-06, M-07, M-08, M-09
    for field in PAYLOADS[kind]:
        broken = document(kind)
        del broken[field]
        with pytest.raises(EventError, match=field):
            read_event(broken)


def test_a_null_result_is_a_result() -> None:  # M-08
    assert read_event(document(EventType.SUCCEEDED, result=None)).payload == {"result": None}


def test_an_optional_field_that_is_null_is_absent() -> None:  # M-19
    assert read_event(document(pct=None, message=None)).payload == {"stage": "extract"}


def test_fields_that_we_do_not_know_are_kept() -> None:
    assert read_event(document(colour="red")).payload["colour"] == "red"


@pytest.mark.parametrize("kind", sorted(set(EventType) - {EventType.SUCCEEDED}))
def test_artifacts_appear_on_success_alone(kind: EventType) -> None:  # M-89
    with pytest.raises(EventError, match="artifacts"):
        read_event(document(kind, artifacts=[REF]))


def test_artifacts_are_read_strictly() -> None:  # M-80
    good = document(EventType.SUCCEEDED, artifacts=[REF])
    assert read_event(good).payload["artifacts"] == [REF]
    for broken in (REF | {"sha256": "A" * 64}, REF | {"bytes": -1}, REF | {"extra": 1}, {"uri": "x"}):
        with pytest.raises(EventError, match="artifacts"):
            read_event(document(EventType.SUCCEEDED, artifacts=[broken]))


@pytest.mark.parametrize("line", [b"", b"[]", b"nonsense", b"\xff", b'{"a":1,"a":2}', b'{"seq":NaN}'])
def test_a_line_that_is_no_strict_json_object_is_no_event(line: bytes) -> None:
    with pytest.raises(EventError):
        decode_event(line)


def test_an_event_is_one_line_and_has_the_same_key_for_each_delivery() -> None:  # M-37, M-42
    one = event(3, EventType.WARNING, message="two\nlines \ud800")
    assert b"\n" not in one.encode()
    assert one.encode() == one.encode()
    assert one.key == "job-1:3"
    assert isinstance(decode_event(one.encode()), JobEvent)


def test_the_package_has_no_names_but_its_own() -> None:
    assert not hasattr(messaging, "nothing_of_that_name")
