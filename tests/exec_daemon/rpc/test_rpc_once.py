"""A request happens once, whoever repeats it; and a client that comes back finds what it missed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from exec_daemon.rpc.commands import COMMANDS
from exec_daemon.rpc.desk import Desk
from exec_daemon.store import MemoryStore
from messaging.rpc import MOST_KEPT
from tests.exec_daemon.rpc._peers import HERON, MemoryAgents, Peer, connected, desk_over
from tests.patience import PATIENCE_S

OPEN: dict[str, Any] = {"taskId": "t1", "provider": "echo"}


async def test_the_same_request_again_has_no_second_effect(
    peer: Peer, agents: MemoryAgents
) -> None:  # J-07, J-09
    first = await peer.ask("create_or_open_task", "r1", **OPEN)
    again = await peer.ask("create_or_open_task", "r1", provider="echo", taskId="t1")
    assert again == first
    await peer.ask("prompt", "p1", message="go")
    await peer.ask("prompt", "p1", message="go")
    assert len(agents.opened) == 1
    assert len(agents.opened[0].told) == 1


EVERY_CHANGE: dict[str, dict[str, Any]] = {
    "create_or_open_task": {"taskId": "t2", "provider": "echo"},
    "switch_task": {"taskId": "t1"},
    "prompt": {"message": "go"},
    "pi_set_model": {"model": "large"},
    "extension_ui_response": {"requestId": "q1"},
    "cancel": {},
    "pause": {"reason": "lunch"},
    "resume": {},
    "stop_task": {},
    "system_bash": {},
}


async def test_every_command_that_changes_something_happens_once(
    peer: Peer, agents: MemoryAgents
) -> None:  # J-13
    assert set(EVERY_CHANGE) == {name for name, command in COMMANDS.items() if command.writes}
    await peer.done("create_or_open_task", **OPEN)
    for kind, payload in EVERY_CHANGE.items():
        first = await peer.ask(kind, f"once-{kind}", **payload)
        told, last = len(agents.opened[0].told), (await peer.done("runtime_get_state"))["lastSeq"]
        assert await peer.ask(kind, f"once-{kind}", **payload) == first
        assert len(agents.opened[0].told) == told, kind
        assert (await peer.done("runtime_get_state"))["lastSeq"] == last, kind


@pytest.mark.parametrize(
    ("kind", "payload"), [("stop_task", OPEN), ("create_or_open_task", {"taskId": "t2"})]
)
async def test_the_id_of_another_request_is_refused(
    peer: Peer, kind: str, payload: dict[str, Any]
) -> None:  # J-08
    await peer.ask("create_or_open_task", "r1", **OPEN)
    answer = await peer.ask(kind, "r1", **payload)
    assert answer["error"]["code"] == "INVALID_REQUEST"
    assert answer["error"]["retryable"] is False
    assert answer["error"]["details"] == {"reason": "duplicate_id"}


async def test_a_repetition_joins_the_request_that_runs(
    desk: Desk, agents: MemoryAgents
) -> None:  # J-10, J-30
    agents.gate.clear()
    async with connected(desk) as one, connected(desk) as two:
        asked = [asyncio.create_task(peer.ask("create_or_open_task", "r1", **OPEN)) for peer in (one, two)]
        await asyncio.sleep(0)
        other = await asyncio.wait_for(_other(desk), PATIENCE_S)
        agents.gate.set()
        answers = await asyncio.gather(*asked)
    assert answers[0] == answers[1]
    assert other["error"]["details"] == {"reason": "duplicate_id"}
    assert len(agents.opened) == 1


async def _other(desk: Desk) -> dict[str, Any]:
    """The id of a request that still runs, for something else."""
    async with connected(desk) as third:
        while True:
            answer = await third.ask("stop_task", "r1", taskId="t9")
            if answer["error"]["code"] == "INVALID_REQUEST":
                return answer


async def test_what_may_be_tried_again_is_tried_again(peer: Peer, agents: MemoryAgents) -> None:  # J-11
    agents.fails = 1
    failed = await peer.ask("create_or_open_task", "r1", **OPEN)
    assert failed["error"]["retryable"] is True
    assert (await peer.ask("create_or_open_task", "r1", **OPEN))["ok"] is True


async def test_ids_are_each_identitys_own(desk: Desk, agents: MemoryAgents) -> None:  # J-12, J-30
    async with connected(desk) as mine, connected(desk, HERON) as theirs:
        await mine.ask("create_or_open_task", "r1", **OPEN)
        assert (await theirs.ask("create_or_open_task", "r1", **OPEN))["result"]["mode"] == "created"
        assert (await theirs.done("runtime_get_state"))["lastSeq"] == 3
    assert len(agents.opened) == 2


async def test_answers_and_tasks_outlive_a_restart(store: MemoryStore) -> None:  # J-12, J-15, J-23, J-31
    before, after = MemoryAgents(), MemoryAgents()
    desk = desk_over(store, before)
    async with connected(desk) as peer:
        first = await peer.ask("create_or_open_task", "r1", **OPEN)
        await peer.done("create_or_open_task", taskId="t2", provider="other")
        await peer.done("stop_task", taskId="t2")
    await desk.close()
    async with connected(desk_over(store, after)) as peer:
        assert await peer.ask("create_or_open_task", "r1", **OPEN) == first
        assert after.opened == []
        state = await peer.done("runtime_get_state")
        assert [(task["taskId"], task["state"]) for task in state["tasks"]] == [
            ("t1", "errored"),
            ("t2", "stopped"),
        ]
        assert (await peer.done("create_or_open_task", taskId="t1"))["mode"] == "recovered"
        assert (await peer.done("create_or_open_task", taskId="t2"))["mode"] == "resumed"


async def test_an_answer_is_kept_for_a_day(store: MemoryStore, agents: MemoryAgents) -> None:  # J-12
    desk = desk_over(store, agents)
    async with connected(desk) as peer:
        assert (await peer.ask("stop_task", "r1", taskId="t1"))["error"]["code"] == "TASK_NOT_FOUND"
        kept = await store.rpc_answer("operator/local", "r1")
        assert kept is not None
        await store.keep_rpc_answer(replace(kept, at="2020-01-01T00:00:00.000Z"), since="", most=MOST_KEPT)
        await peer.done("create_or_open_task", **OPEN)
        assert (await peer.ask("stop_task", "r1", taskId="t1"))["ok"] is True


async def test_a_client_that_went_away_changes_nothing(desk: Desk, agents: MemoryAgents) -> None:  # J-10
    agents.gate.clear()
    async with connected(desk) as gone:
        gone.write({"id": "r1", "type": "create_or_open_task", "payload": OPEN})
        await gone.until("task_bootstrap_state")
    async with connected(desk) as back:
        asking = asyncio.create_task(back.ask("create_or_open_task", "r1", **OPEN))
        agents.gate.set()
        assert (await asking)["result"]["mode"] == "created"
    assert len(agents.opened) == 1


async def test_missed_events_are_replayed(desk: Desk, agents: MemoryAgents) -> None:  # J-15, J-31
    async with connected(desk) as peer:
        await peer.done("create_or_open_task", **OPEN)
        seen = (await peer.until("task_ready"))["seq"]
        epoch = peer.events[-1]["epoch"]
    for number in range(3):
        agents.opened[0].audience.said("agent_output", {"chunk": str(number)})
    async with connected(desk) as peer:
        state = await peer.done("runtime_get_state", since=seen, epoch=epoch)
        assert [one["payload"]["chunk"] for one in state["events"]] == ["0", "1", "2"]
        assert (state["epoch"], state["lastSeq"], state["lagged"], state["more"]) == (
            epoch,
            seen + 3,
            None,
            False,
        )
        everything = await peer.done("runtime_get_state", since=seen, epoch="of an earlier daemon")
        assert [one["seq"] for one in everything["events"]] == list(range(1, seen + 4))
    assert epoch == "epoch-1"


async def test_what_is_too_much_for_one_answer_comes_in_several(
    peer: Peer, agents: MemoryAgents
) -> None:  # J-15
    await peer.done("create_or_open_task", **OPEN)
    for _ in range(5):
        agents.opened[0].audience.said("agent_output", {"chunk": "x" * 200_000})
    since, seen = 3, list[int]()
    while True:
        state = await peer.done("runtime_get_state", since=since)
        seen += [one["seq"] for one in state["events"]]
        since = seen[-1]
        if not state["more"]:
            break
    assert seen == [4, 5, 6, 7, 8]


async def test_a_slow_reader_is_told_what_it_lost_and_holds_up_nobody(
    desk: Desk, agents: MemoryAgents
) -> None:  # J-32
    async with connected(desk) as slow, connected(desk) as quick:
        await slow.done("runtime_diag")
        await quick.done("create_or_open_task", **OPEN)
        for number in range(2500):
            agents.opened[0].audience.said("agent_output", {"chunk": str(number)})
        quick_state = await quick.done("runtime_get_state")
        lagged = await slow.until("lagged")
        rest = [await slow.read() for _ in range(1000)]
        state = await slow.done("runtime_get_state", since=0)
    assert quick_state["lastSeq"] == 2503
    assert lagged["payload"] == {"from": 1, "to": 1503}
    assert [one["seq"] for one in rest] == list(range(1504, 2504))
    assert state["lagged"] == {"from": 1, "to": 1503}


async def test_events_have_no_gaps_and_say_whose_they_are(
    peer: Peer, agents: MemoryAgents
) -> None:  # J-03, J-14, J-31
    await peer.done("create_or_open_task", **OPEN)
    await peer.done("prompt", message="go")
    agents.opened[0].audience.said("agent_end", {})
    await peer.until("agent_end")
    assert [one["seq"] for one in peer.events] == [1, 2, 3, 4]
    assert {(one["type"], one["agent"], one["epoch"]) for one in peer.events} == {
        ("event", "echo", "epoch-1")
    }
    assert all(one["ts"].endswith("Z") and "payload" in one for one in peer.events)


async def test_a_bad_line_is_answered_and_the_connection_goes_on(peer: Peer) -> None:  # J-06
    peer.write(
        b"{\n\n", {"id": "r1", "type": "runtime_diag"}, b'{"id":"r2","type":"runtime_diag","payload":{}}'
    )
    peer.end()
    answers = await peer.rest()
    assert [(one["id"], one["ok"]) for one in answers] == [(None, False), ("r1", False), ("r2", True)]


async def test_a_store_that_cannot_serve_is_worth_another_try(desk: Desk, store: MemoryStore) -> None:  # J-11
    async with connected(desk) as peer:
        await peer.done("runtime_diag")
        await store.close()
        answer = await peer.ask("stop_task", taskId="t1")
    assert (answer["error"]["code"], answer["error"]["retryable"]) == ("BUSY", True)


async def test_a_silent_connection_shows_that_it_stands(desk: Desk) -> None:  # J-01
    async with connected(desk, keep_alive_s=0.01) as peer:
        async with asyncio.timeout(PATIENCE_S):
            assert await anext(peer._lines) == b"\n"
