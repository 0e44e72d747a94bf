"""A deadline on one timer; a response in one piece."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from exec_daemon.cork import Corked
from exec_daemon.deadline import Deadline
from tests.patience import PATIENCE_S


class Late:
    """Counts, and lets a test wait for it."""

    def __init__(self) -> None:
        self.times = 0
        self.happened = asyncio.Event()
        self.deadline = Deadline(asyncio.get_running_loop(), self)

    def __call__(self) -> None:
        self.times += 1
        self.happened.set()


async def test_a_deadline_that_passes_is_told_once() -> None:
    late = Late()
    late.deadline.within(0.01)
    await asyncio.wait_for(late.happened.wait(), PATIENCE_S)
    await asyncio.sleep(0.03)
    assert (late.times, late.deadline.due_s) == (1, None)


async def test_a_deadline_that_is_moved_on_or_taken_back_does_not_pass() -> None:
    late = Late()
    late.deadline.within(0.01)
    late.deadline.within(60)
    await asyncio.sleep(0.05)
    late.deadline.within(0.01)
    late.deadline.within(None)
    await asyncio.sleep(0.05)
    assert late.times == 0
    late.deadline.within(60)
    late.deadline.stop()


async def test_a_nearer_deadline_does_not_wait_for_the_farther_one() -> None:
    late = Late()
    late.deadline.within(60)
    late.deadline.within(0.01)
    await asyncio.wait_for(late.happened.wait(), PATIENCE_S)


class Wire:
    """What was sent, piece by piece."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.closed = False

    def write(self, piece: bytes) -> None:
        self.pieces.append(piece)

    def close(self) -> None:
        self.closed = True


def corked() -> tuple[Wire, Any]:
    wire = Wire()
    return wire, Corked(cast("asyncio.Transport", wire))


async def test_the_head_of_a_response_goes_with_its_body() -> None:
    wire, response = corked()
    for piece in (b"head", b"body", b"more"):
        response.write(piece)
    assert wire.pieces == [b"headbody", b"more"]
    await asyncio.sleep(0)
    assert wire.pieces == [b"headbody", b"more"]


async def test_a_head_without_a_body_waits_for_one_turn_of_the_loop() -> None:
    wire, response = corked()
    response.write(b"head")
    assert wire.pieces == []
    await asyncio.sleep(0)
    response.write(b"body")
    assert wire.pieces == [b"head", b"body"]


async def test_what_was_written_is_sent_before_the_end() -> None:
    wire, response = corked()
    response.write(b"head")
    response.close()
    assert (wire.pieces, wire.closed) == ([b"head"], True)
