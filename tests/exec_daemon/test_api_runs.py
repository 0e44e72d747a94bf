"""What runs of agents used is counted once and shown to those whom it concerns."""

from __future__ import annotations

from typing import Any

import pytest

RUN = {"key": "r1", "model": "m", "input_tokens": 24, "output_tokens": 118, "cost_usd": 0.0123}


def usage(daemon: Any, who: str) -> list[dict[str, Any]]:
    result = daemon.exec(who, "box.exec", {"action": "usage"}).json()["result"]
    shown: list[dict[str, Any]] = result["data"]["usage"]
    return shown


def about(daemon: Any, who: str, name: str) -> dict[str, Any]:
    result = daemon.exec(who, "box.exec", {"action": "agent", "arg": name}).json()["result"]
    agent: dict[str, Any] = result["data"]["agent"]
    return agent


def count(daemon: Any, agent: str, run: dict[str, Any], who: str = "harvester") -> Any:
    return daemon.client(who).post(f"/agents/{agent}/runs", json=run)


def test_a_run_is_counted_once_and_the_agent_sees_its_own_usage_only(daemon: Any) -> None:
    # O-46
    for name in ("otter", "stoat"):
        daemon.agent(name)
    assert (count(daemon, "otter", RUN).status_code, count(daemon, "otter", RUN).status_code) == (201, 200)
    count(daemon, "otter", {"key": "r2", "model": "m", "input_tokens": 1})
    count(daemon, "stoat", {"key": "r3"})
    of_otter = {
        "agent": "otter",
        "model": "m",
        "tokens_today": 143,
        "tokens_7d": 143,
        "usd_today": 0.0123,
        "usd_7d": 0.0123,
        "usd_left": None,
    }
    assert usage(daemon, "agent/otter") == [of_otter]
    [of_stoat] = usage(daemon, "agent/stoat")
    assert (of_stoat["model"], of_stoat["tokens_7d"], of_stoat["usd_7d"]) == ("not reported", None, None)
    assert of_otter in usage(daemon, "operator")


def test_an_agents_last_session_is_shown_to_itself_and_to_operators(daemon: Any) -> None:
    # A-08, O-46
    for name in ("otter", "stoat"):
        daemon.agent(name)
    count(daemon, "otter", {"key": "r4", "adapter": "claude", "session": "s-1"})
    shown = {who: about(daemon, who, "otter") for who in ("operator", "agent/otter", "agent/stoat")}
    assert {who: agent.get("session") for who, agent in shown.items()} == {
        "operator": "s-1",
        "agent/otter": "s-1",
        "agent/stoat": None,
    }
    assert {agent["adapter"] for agent in shown.values()} == {"claude"}
    everybody = daemon.exec("agent/stoat", "box.exec", {"action": "agents"}).text
    assert "s-1" not in everybody


def test_a_run_of_nobody_is_not_counted(daemon: Any) -> None:
    assert count(daemon, "nobody", RUN).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [{}, {"key": ""}, {"key": "k", "cost_usd": -1}, {"key": "k", "input_tokens": 2**60}, RUN | {"x": 1}],
)
def test_a_run_that_cannot_be_is_refused(daemon: Any, wrong: dict[str, Any]) -> None:
    daemon.agent("otter")
    assert count(daemon, "otter", wrong).status_code == 400


def test_an_agent_does_not_write_its_own_bill(daemon: Any) -> None:
    daemon.agent("otter")
    assert count(daemon, "otter", RUN | {"key": "r9"}, who="agent/otter").status_code == 403
