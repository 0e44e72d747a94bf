"""What a worker is told next, by its thread alone."""

from __future__ import annotations

from typing import Any

from harvester.worker_host.turns import next_turn
from messaging import AuthorKind, Message, MessageKind

WORKER = "w-1"


def thread(*said: tuple[str, MessageKind, str, str | None]) -> list[Message]:
    """Messages of `(author, kind, body, id that is answered)`; the first has the id `m1`."""
    kinds = {WORKER: AuthorKind.AGENT, "operator": AuthorKind.HUMAN}
    return [
        Message(
            id=f"m{seq}",
            thread=WORKER,
            seq=seq,
            position=seq,
            author=author,
            author_kind=kinds.get(author, AuthorKind.SYSTEM),
            kind=kind,
            body=body,
            created_at="2026-12-01T09:00:00.000Z",
            in_reply_to=answers,
        )
        for seq, (author, kind, body, answers) in enumerate(said, 1)
    ]


ENVELOPE: Any = ("workers", MessageKind.ENVELOPE, "do it", None)
REPLY: Any = (WORKER, MessageKind.TEXT, "[TOOL box.exec disk]", "m1")
RESULT: Any = ("harvester", MessageKind.RESULT, "1 % full", "m2")


def told(*said: Any) -> str | None:
    turn = next_turn(thread(*said), WORKER)
    return turn.prompt if turn else None


def test_the_envelope_is_the_first_turn() -> None:
    assert told(ENVELOPE) == "do it"


def test_a_turn_that_was_answered_is_not_run_again() -> None:
    assert told(ENVELOPE, REPLY) is None


def test_results_of_its_directives_are_the_next_turn() -> None:
    assert told(ENVELOPE, REPLY, RESULT) == "1 % full"
    assert told(ENVELOPE, REPLY, RESULT, (WORKER, MessageKind.TEXT, "fine", "m3")) is None


def test_what_came_during_a_turn_is_the_next_one() -> None:
    more: Any = ("operator", MessageKind.DM, "hurry", None)
    assert told(ENVELOPE, more, REPLY) == "hurry"
    assert told(ENVELOPE, more) == "do it\n\nhurry"


def test_a_notice_for_people_wakes_nobody() -> None:
    notice: Any = ("harvester", MessageKind.NOTICE, "too many rounds", "m2")
    assert told(ENVELOPE, REPLY, notice) is None


def test_being_asked_for_the_verdict_does_not_answer_the_envelope() -> None:  # O 7.6
    nudge: Any = ("timer", MessageKind.NOTICE, "no verdict yet", "m1")
    assert told(ENVELOPE, nudge) == "do it\n\nno verdict yet"
    assert told(ENVELOPE, REPLY, nudge) == "no verdict yet"


def test_a_turn_without_a_word_was_a_turn() -> None:
    silent: Any = ("harvester", MessageKind.NOTICE, "ended without a word", "m1")
    assert told(ENVELOPE, silent) is None
