"""Who may begin when many programs are asked for at once."""

from __future__ import annotations

import asyncio

from exec_daemon.programs.turns import Turn, Turns
from tests.patience import AGES_S, PATIENCE_S


async def next_of(turns: Turns) -> Turn:
    return await asyncio.wait_for(turns.next(), PATIENCE_S)


async def waits(turns: Turns) -> bool:
    waiting = asyncio.create_task(turns.next())
    await asyncio.sleep(0)
    return waiting.cancel()


async def test_no_more_begin_at_a_time_than_there_are_turns() -> None:
    turns = Turns(most=1, turn_s=AGES_S)
    first = await turns.next()
    assert await waits(turns)
    first.end()
    (await next_of(turns)).end()


async def test_a_program_that_takes_longer_than_a_turn_holds_up_nobody() -> None:
    turns = Turns(most=1)
    await turns.next()  # and it never ends
    (await next_of(turns)).end()


async def test_a_turn_that_ends_twice_gives_its_place_back_once() -> None:
    turns = Turns(most=1, turn_s=AGES_S)
    first = await turns.next()
    first.end()
    first.end()
    second = await next_of(turns)
    assert await waits(turns)
    second.end()
