"""A notice that a message did not arrive is known by who wrote it and what it answers, not by its words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from messaging.threads import AuthorKind, Message, MessageKind
from messaging.undelivered import undelivered, why_undelivered

NOTICE = Message(
    id="m2",
    thread="heron",
    seq=2,
    position=2,
    author="harvester/local",
    author_kind=AuthorKind.SYSTEM,
    kind=MessageKind.NOTICE,
    body=undelivered("its worker failed 2 times"),
    created_at="2026-12-01T04:00:00.000Z",
    in_reply_to="m1",
)


def test_such_a_notice_says_why() -> None:  # O-85
    assert why_undelivered(NOTICE) == "its worker failed 2 times"


@pytest.mark.parametrize(
    "other",
    [
        replace(NOTICE, author_kind=AuthorKind.AGENT),
        replace(NOTICE, author_kind=AuthorKind.HUMAN),
        replace(NOTICE, kind=MessageKind.TEXT),
        replace(NOTICE, in_reply_to=None),
        replace(NOTICE, body="Delivered."),
        replace(NOTICE, body="It was " + NOTICE.body),
    ],
)
def test_any_other_message_says_nothing_of_it(other: Message) -> None:  # O-85
    assert why_undelivered(other) is None
