"""The commands of the RPC, with agents in memory."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from exec_daemon.access.chain import ChainPolicy
from exec_daemon.access.grants import Rates
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.tokens import Asker
from exec_daemon.agent_template import AgentTemplate
from exec_daemon.calls.chain import Chain
from exec_daemon.rpc.commands import COMMANDS
from exec_daemon.rpc.desk import Desk
from exec_daemon.store import MemoryStore
from tests.exec_daemon.rpc._peers import HERON, MemoryAgents, Peer, connected, desk_over


async def opened(peer: Peer, task_id: str = "t1", provider: str = "echo") -> None:
    await peer.done("create_or_open_task", taskId=task_id, provider=provider)


async def test_a_task_is_created_and_says_when_it_is_ready(
    peer: Peer, agents: MemoryAgents
) -> None:  # J-16, J-22
    made = await peer.done(
        "create_or_open_task", taskId="t1", provider="echo", model="large", thinkingLevel="high"
    )
    assert made == {"taskId": "t1", "state": "ready", "mode": "created"}
    await peer.until("task_ready")
    said = [(one["event"], one["payload"].get("status")) for one in peer.events]
    assert said == [
        ("task_bootstrap_state", "pending"),
        ("task_bootstrap_state", "ready"),
        ("task_ready", None),
    ]
    told = agents.opened[0].opening.variables
    assert told == {"BOX_TASK_ID": "t1", "BOX_TASK_MODEL": "large", "BOX_TASK_THINKING_LEVEL": "high"}


async def test_a_task_that_is_open_is_not_opened_again(peer: Peer) -> None:  # J-16
    await opened(peer)
    assert await peer.refused("create_or_open_task", taskId="t1") == "TASK_NOT_READY"


async def test_a_stopped_task_is_resumed_and_a_dead_one_recovered(
    peer: Peer, agents: MemoryAgents
) -> None:  # J-16, J-19, J-23
    await opened(peer)
    assert await peer.done("stop_task") == {"taskId": "t1", "state": "stopped"}
    await peer.until("task_stopped")
    assert (await peer.done("create_or_open_task", taskId="t1"))["mode"] == "resumed"
    agents.opened[-1].end(9)
    died = await peer.until("task_error")
    assert (died["payload"]["code"], died["payload"]["retryable"]) == ("PI_PROCESS_DEAD", True)
    assert (await peer.done("runtime_get_state"))["tasks"][0]["state"] == "errored"
    assert await peer.refused("prompt", taskId="t1", message="go") == "PI_PROCESS_DEAD"
    assert (await peer.done("create_or_open_task", taskId="t1"))["mode"] == "recovered"


async def test_an_agent_that_does_not_come_up_is_told_of(peer: Peer, agents: MemoryAgents) -> None:  # J-22
    agents.fails = 1
    assert await peer.refused("create_or_open_task", taskId="t1", provider="echo") == "TASK_BOOTSTRAP_FAILED"
    assert [one["payload"]["status"] for one in peer.events] == ["pending", "errored"]
    assert (await peer.done("runtime_get_state"))["tasks"] == []
    await opened(peer)


async def test_switching_answers_first_and_tells_of_it_then(peer: Peer) -> None:  # J-14, J-17
    await opened(peer, "t1")
    await opened(peer, "t2")
    assert (await peer.done("runtime_get_state"))["activeTaskId"] == "t1"
    peer.events.clear()
    assert await peer.done("switch_task", taskId="t2") == {"status": "switching", "taskId": "t2"}
    await peer.until("task_ready")
    assert [one["event"] for one in peer.events[-2:]] == ["task_switch_started", "task_ready"]
    assert (await peer.done("runtime_get_state"))["activeTaskId"] == "t2"
    assert await peer.refused("switch_task", taskId="t3") == "TASK_NOT_FOUND"


async def test_a_prompt_is_accepted_and_ends(peer: Peer, agents: MemoryAgents) -> None:  # J-18, J-22, J-24
    assert await peer.refused("prompt", message="go") == "TASK_NOT_READY"
    await opened(peer)
    accepted = await peer.done("prompt", message="go", promptId="p1")
    assert accepted == {"accepted": True, "taskId": "t1", "promptId": "p1"}
    agent = agents.opened[0]
    assert agent.told == [("prompt", {"message": "go", "promptId": "p1"})]
    assert await peer.refused("prompt", message="more") == "TASK_NOT_READY"
    assert (await peer.done("runtime_get_state"))["tasks"][0]["state"] == "active"
    agent.audience.said("agent_output", {"chunk": "hi"})
    agent.audience.said("agent_end", {"usage": {"input_tokens": 1}})
    ended = await peer.until("agent_end")
    assert ended["payload"] == {"usage": {"input_tokens": 1}, "taskId": "t1", "promptId": "p1"}
    assert (await peer.done("runtime_get_state"))["tasks"][0]["state"] == "idle"


async def test_an_agent_that_can_pause_is_asked_to(peer: Peer, agents: MemoryAgents) -> None:  # J-21
    await opened(peer)
    assert await peer.done("pause", reason="lunch") == {"taskId": "t1", "paused": "lunch"}
    assert await peer.refused("prompt", message="go") == "TASK_NOT_READY"
    assert await peer.done("resume") == {"taskId": "t1", "paused": None}
    assert [kind for kind, _ in agents.opened[0].told] == ["pause", "resume"]
    await peer.done("prompt", message="go")


async def test_an_agent_that_cannot_pause_is_held(peer: Peer, agents: MemoryAgents) -> None:  # J-21
    await opened(peer)
    agents.opened[0].capabilities = frozenset()
    await peer.done("pause", reason="lunch")
    await peer.done("resume")
    await peer.done("prompt", message="go")
    assert (await peer.done("cancel"))["cancelled"] is True
    assert agents.opened[0].signals == [signal.SIGSTOP, signal.SIGCONT, signal.SIGINT]


async def test_a_prompt_in_flight_can_be_cancelled(peer: Peer, agents: MemoryAgents) -> None:  # J-21
    await opened(peer)
    assert (await peer.done("cancel"))["cancelled"] is False
    await peer.done("prompt", message="go", promptId="p1")
    assert await peer.done("cancel") == {"taskId": "t1", "promptId": "p1", "cancelled": True}
    assert agents.opened[0].told[-1] == ("cancel", {"promptId": "p1"})


async def test_a_task_over_its_budget_is_paused(peer: Peer, agents: MemoryAgents) -> None:  # J-21
    await opened(peer)
    agents.opened[0].audience.said("cost_update", {"total_cost_usd": 0.5})
    agents.opened[0].audience.said("cost_update", {"total_cost_usd": 1.5})
    paused = await peer.until("task_paused")
    assert paused["payload"] == {"taskId": "t1", "reason": "budget_exceeded"}
    assert agents.opened[0].told == [("pause", {"reason": "budget_exceeded"})]


async def test_an_agent_cannot_say_what_only_the_daemon_says(peer: Peer, agents: MemoryAgents) -> None:
    await opened(peer)
    agents.opened[0].audience.said("task_stopped", {"taskId": "other"})
    agents.opened[0].audience.said("agent_end", {"taskId": "other"})
    ended = await peer.until("agent_end")
    assert ended["payload"]["taskId"] == "t1"
    assert "task_stopped" not in [one["event"] for one in peer.events]


async def test_models_are_shown_and_set(peer: Peer, agents: MemoryAgents) -> None:  # J-20
    assert await peer.done("pi_get_available_models") == {
        "models": [
            {"provider": "echo", "model": "small"},
            {"provider": "echo", "model": "large"},
            {"provider": "other", "model": None},
        ]
    }
    await opened(peer)
    assert await peer.done("pi_set_model", model="large") == {"taskId": "t1", "model": "large"}
    await peer.done("extension_ui_response", requestId="q1", value=True)
    assert agents.opened[0].told == [
        ("set_model", {"model": "large"}),
        ("extension_ui_response", {"requestId": "q1", "value": True}),
    ]


async def test_nobody_gets_a_shell(peer: Peer) -> None:  # J-20
    assert await peer.refused("system_bash", command="id") == "FORBIDDEN"


async def test_the_diagnosis_has_the_last_two_hundred_events(
    peer: Peer, agents: MemoryAgents
) -> None:  # J-20
    await opened(peer)
    for number in range(300):
        agents.opened[0].audience.said("agent_output", {"chunk": str(number)})
    found = await peer.done("runtime_diag")
    assert len(found["history"]) == 200
    assert found["history"][-1]["seq"] == found["lastSeq"]
    assert found["providers"] == ["echo", "other"]


async def test_an_agent_that_does_not_read_is_busy(peer: Peer, agents: MemoryAgents) -> None:  # J-25
    await opened(peer)
    agents.opened[0].listens = False
    for command, payload in (
        ("prompt", {"message": "go"}),
        ("pause", {"reason": "x"}),
        ("pi_set_model", {"model": "m"}),
        ("extension_ui_response", {}),
    ):
        assert await peer.refused(command, **payload) == "BUSY"


async def test_so_many_tasks_are_open_at_once_and_no_more(peer: Peer) -> None:
    for number in range(16):
        await opened(peer, f"t{number}")
    assert await peer.refused("create_or_open_task", taskId="one-more", provider="echo") == "BUSY"


@pytest.mark.parametrize("folder", ["..", "/etc", "missing", "link"])
async def test_an_agent_works_in_its_own_folder(
    store: MemoryStore, agents: MemoryAgents, tmp_path: Path, folder: str
) -> None:  # J-25
    root = tmp_path / "work"
    (root / "in").mkdir(parents=True)
    (root / "link").symlink_to("/etc")
    template = AgentTemplate(name="echo", argv=("echo",), folder=root)
    async with connected(desk_over(store, agents, templates={"echo": template})) as peer:
        code = await peer.refused("create_or_open_task", taskId="t1", workingFolder=folder)
        assert code == "WORKSPACE_POLICY_VIOLATION"
        await peer.done("create_or_open_task", taskId="t1", workingFolder="in")
        assert agents.opened[0].opening.folder == root / "in"


async def test_an_agent_without_a_folder_of_its_own_gets_none(peer: Peer) -> None:
    code = await peer.refused("create_or_open_task", taskId="t1", provider="echo", workingFolder="/tmp")
    assert code == "WORKSPACE_POLICY_VIOLATION"


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("create_or_open_task", {"taskId": "../x", "provider": "echo"}),  # J-24
        ("create_or_open_task", {"taskId": "t1", "provider": "nobody"}),
        ("create_or_open_task", {"taskId": "t1"}),
        ("create_or_open_task", {"taskId": "t1", "provider": "echo", "extra": 1}),
        ("prompt", {"message": 7}),
        ("promt", {"message": "go"}),
        ("runtime_get_state", {"since": -1}),
    ],
)
async def test_a_wrong_request_says_what_is_right(peer: Peer, kind: str, payload: dict[str, object]) -> None:
    assert await peer.refused(kind, **payload) == "INVALID_REQUEST"


WRITERS = {Role.OPERATOR, Role.AGENT}


@pytest.mark.parametrize("role", Role)
async def test_who_may_start_workers_may_command_and_everybody_may_look(
    desk: Desk, role: Role
) -> None:  # J-25
    async with connected(desk, Asker(Identity(role, "x"))) as peer:
        for name, command in COMMANDS.items():
            answer = await peer.ask(name)
            denied = not answer["ok"] and answer["error"]["code"] == "FORBIDDEN"
            assert denied is (command.writes and (role not in WRITERS or name == "system_bash")), name


async def test_a_token_for_other_ops_commands_nothing(desk: Desk) -> None:
    async with connected(desk, Asker(HERON.identity, scopes=("box.exec",))) as peer:
        assert await peer.refused("stop_task") == "FORBIDDEN"


async def test_the_rpc_is_no_way_round_a_person_who_approves(
    store: MemoryStore, agents: MemoryAgents
) -> None:  # O-36
    desk = desk_over(store, agents, approval=("swarm.*",))
    async with connected(desk, HERON) as peer:
        assert await peer.refused("stop_task") == "FORBIDDEN"
        assert (await peer.ask("runtime_get_state"))["ok"]


async def test_the_rpc_is_no_way_round_what_was_read(store: MemoryStore, agents: MemoryAgents) -> None:
    chain = Chain(store, ChainPolicy(after=("dm.read",), bar=("swarm.*",)))
    desk = desk_over(store, agents, chain=chain)
    async with connected(desk, HERON) as peer:
        assert await peer.refused("stop_task") == "TASK_NOT_READY"
        await store.add_mark("agent/heron", "ops", "dm.read")
        assert await peer.refused("stop_task") == "FORBIDDEN"


async def test_too_many_requests_are_refused_with_a_time(
    store: MemoryStore, agents: MemoryAgents
) -> None:  # J-25
    async with connected(desk_over(store, agents, rates=Rates(reads_per_min=1, writes_per_min=1))) as peer:
        await peer.done("runtime_diag")
        answer = await peer.ask("runtime_diag")
        assert answer["error"]["code"] == "RATE_LIMITED"
        assert answer["error"]["details"] == {"retry_after_s": 60.0}
