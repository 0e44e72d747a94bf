"""Gates over the API, with real programs: who may name one, and what it gets to see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from exec_daemon.gate_spec import GateSpec
from tests.exec_daemon.conftest import Running, start
from tests.patience import until

# Tells what it sees as the data of its decision.
LOOK = """
import json, os, sys
print("looking")
seen = {"env": sorted(os.environ), "stdin": sys.stdin.read(), "folder": os.getcwd()}
print(json.dumps({"wakeAgent": True, "data": seen}))
"""
GATES = {
    "look": GateSpec(name="look", argv=("python3", "-I", "-c", LOOK), agents=("her*",)),
    "shut": GateSpec(name="shut", argv=("echo", '{"wakeAgent": false}'), environment={"GREETING": "hello"}),
    "slow": GateSpec(name="slow", argv=("sleep", "600"), time_limit_s=0.3),
}
YEARLY = {"schedule": "0 0 1 1 *", "prompt": "Read it.", "tz": "UTC"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("gates") / "home", gates=GATES)
    running.agent("heron")
    running.agent("wren")
    yield running
    running.stop()


def asked(daemon: Running, who: str, op: str = "cron.create", **args: Any) -> dict[str, Any]:
    return dict(daemon.exec(who, op, (YEARLY if op == "cron.create" else {}) | args).json())


def ran(daemon: Running, timer: str) -> dict[str, Any]:
    """One run now, when its gate has decided."""
    operator = daemon.client("operator")
    assert operator.post(f"/timers/{timer}/run").json()["state"] == "queued"

    def begun() -> dict[str, Any]:
        run = operator.get(f"/timers/{timer}/runs").json()["runs"][0]
        return {} if run["state"] == "queued" else dict(run)

    return until(begun)


def test_a_gate_decides_in_a_clean_environment(
    daemon: Running, monkeypatch: pytest.MonkeyPatch
) -> None:  # T-77, T-78
    monkeypatch.setenv("MY_SECRET_TOKEN", "s3cret")
    assert asked(daemon, "agent/heron", name="mail", script="look")["result"]["script"] == "look"
    run = ran(daemon, "mail")
    body = daemon.client("operator").get("/threads/heron/messages").json()["messages"][-1]["body"]
    data, _, rest = body.partition("Script output:\n")[2].partition("\n\nInstructions:\n")
    seen = json.loads(data)
    assert rest.startswith("Read it.")
    assert (seen["stdin"], seen["folder"]) == ("", "/")
    assert set(seen["env"]) <= {"HOME", "LC_ALL", "LC_CTYPE", "PATH", "TERM", "TZ"}
    assert (run["state"], run["outcome"]) == ("open", None)
    listed = asked(daemon, "agent/heron", "cron.list")["result"]["timers"]
    assert [one["script"] for one in listed] == ["look"]


@pytest.mark.parametrize(
    ("gate", "outcome", "why"), [("shut", "gate", None), ("slow", "gate_failed", "it ran over 0.3 s")]
)
def test_a_gate_that_says_no_or_nothing_is_history(
    daemon: Running, gate: str, outcome: str, why: str | None
) -> None:  # T-76, T-78
    assert asked(daemon, "operator", target="wren", name=gate, script=gate)["ok"]
    run = ran(daemon, gate)
    assert (run["state"], run["outcome"], run["summary"]) == ("skipped", outcome, why)
    assert daemon.client("operator").get("/threads/wren/messages").json()["messages"] == []


@pytest.mark.parametrize(
    ("who", "script", "code", "says"),
    [
        ("agent/wren", "look", "NOT_FOUND", "there is no gate 'look' for you. The operator writes"),
        ("agent/heron", "shut", "NOT_FOUND", "there is no gate 'shut' for you."),
        ("operator", "shot", "NOT_FOUND", "Did you mean shut"),
        ("agent/heron", "#!/bin/sh\nid", "INVALID_ARGS", "names a gate, and is no script"),
    ],
)
def test_a_gate_is_named_by_whom_the_operator_lets(
    daemon: Running, who: str, script: str, code: str, says: str
) -> None:
    target = {"target": "wren"} if who == "operator" else {}
    error = asked(daemon, who, script=script, **target)["error"]
    assert error["code"] == code
    assert says in error["message"]


def test_an_update_keeps_another_gate_or_takes_it_away(daemon: Running) -> None:  # T-64
    made = asked(daemon, "operator", target="wren", name="kept", script="shut")["result"]["id"]

    def update(**args: Any) -> Any:
        return asked(daemon, "operator", "cron.update", id=made, **args)["result"]["script"]

    assert update(prompt="Another.") == "shut"
    assert update(script="look") == "look"
    assert update(script="") is None
