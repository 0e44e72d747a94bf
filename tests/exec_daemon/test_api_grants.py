"""Grants over the API: what an operator sets holds from the next call on; everybody may ask about itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from exec_daemon import DaemonLimits
from exec_daemon.access.grants import Grant
from exec_daemon.access.policy import Policy
from exec_daemon.errors import RuleUnusable


def set_grant(daemon: Any, subject: str, **rules: Any) -> Any:
    return daemon.client("operator").put("/grants", json={"subject": subject, "rules": rules})


def test_a_grant_holds_from_the_next_call_on_and_until_it_is_taken_back(daemon: Any) -> None:
    daemon.agent("robin")
    assert daemon.exec("agent/robin", "tools.list").status_code == 200
    assert set_grant(daemon, "agent/robin", deny=["tools.list"]).status_code == 200
    refused = daemon.exec("agent/robin", "tools.list")
    assert refused.status_code == 403
    assert refused.json()["error"]["details"] == {
        "rule": "grant deny",
        "where": "store: grant agent/robin, deny",
    }
    assert not next(
        row for row in daemon.client("agent/robin").get("/ops").json()["ops"] if row["op"] == "tools.list"
    )["allowed"]
    assert daemon.client("operator").delete("/grants?subject=agent/robin").status_code == 200
    assert daemon.exec("agent/robin", "tools.list").status_code == 200


def test_who_may_no_longer_call_gets_no_earlier_answer_either(daemon: Any) -> None:
    daemon.agent("robin")
    daemon.agent("wren")

    def send() -> Any:
        return daemon.exec("agent/robin", "dm.send", {"to": "wren", "text": "x"}, call_id="once")

    first = send().json()
    set_grant(daemon, "agent/robin", deny=["dm.send"])
    assert send().status_code == 403
    daemon.client("operator").delete("/grants?subject=agent/robin")
    assert send().json() == first | {"replayed": True}


def test_who_changed_a_grant_is_in_the_audit(daemon: Any) -> None:  # D108
    set_grant(daemon, "agent/robin", deny=["tools.list"])
    daemon.client("operator").delete("/grants?subject=agent/robin")
    lines = daemon.client("operator").get("/audit?limit=20").json()["lines"]
    said = [(line["op"], line["identity"], line["call_id"]) for line in lines]
    assert ("grant.set", "operator/local", "agent/robin") in said
    assert ("grant.remove", "operator/local", "agent/robin") in said


def test_grants_of_the_store_are_there_after_a_restart(start_daemon: Callable[..., Any]) -> None:
    first = start_daemon()
    set_grant(first, "agent", deny=["box.exec"])
    first.stop()
    again = start_daemon()
    again.agent("robin")
    assert again.exec("agent/robin", "box.exec", {"action": "disk"}).status_code == 403


def test_a_rate_of_one_op_limits_that_op_only(start_daemon: Callable[..., Any]) -> None:
    policy = Policy(grants={"agent/robin": Grant(rates={"tools.*": 1})})
    running = start_daemon(policy=policy, limits=DaemonLimits())
    running.agent("robin")
    statuses = [running.exec("agent/robin", "tools.list").status_code for _ in range(2)]
    assert statuses == [200, 429]
    assert running.exec("agent/robin", "dm.read").status_code == 200


def test_a_rule_that_names_no_op_keeps_the_daemon_from_starting(start_daemon: Callable[..., Any]) -> None:
    with pytest.raises(RuleUnusable, match="names no op"):  # D007
        start_daemon(policy=Policy(grants={"agent": Grant(deny=("dm.sent",))}))


@pytest.mark.parametrize(
    ("subject", "rules", "key"),
    [("agnet", {}, ""), ("agent", {"alow": ["x"]}, "alow"), ("agent", {"deny": ["dm.sent"]}, "deny")],
)
def test_a_wrong_grant_is_refused_with_its_place(
    daemon: Any, subject: str, rules: dict[str, Any], key: str
) -> None:
    refused = set_grant(daemon, subject, **rules)
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_REQUEST")
    assert refused.json()["details"] == {"subject": subject, "key": key}


def test_what_is_built_in_is_listed_and_cannot_be_taken_back(daemon: Any) -> None:
    listed = daemon.client("operator").get("/grants").json()["grants"]
    assert {row["subject"] for row in listed if row["place"] == "built-in"} >= {"agent", "operator"}
    assert daemon.client("operator").delete("/grants?subject=viewer").status_code == 404


def why(daemon: Any, who: str, about: str, op: str = "dm.send", **more: Any) -> Any:
    return daemon.client(who).post("/why", json={"identity": about, "op": op, **more})


def test_everybody_asks_about_itself_and_operators_about_anybody(daemon: Any) -> None:
    daemon.agent("robin")
    mine = why(daemon, "agent/robin", "agent/robin", args={"to": "robin", "text": "x"}).json()
    assert (mine["allowed"], mine["where"]) == (True, "built-in: role agent, allow")
    assert why(daemon, "agent/robin", "operator/local").status_code == 403
    about = why(daemon, "operator", "viewer/eve").json()
    assert (about["allowed"], about["rule"]) == (False, "grant allow")


def test_what_could_not_be_called_is_refused_as_a_call_is(daemon: Any) -> None:
    assert why(daemon, "operator", "agent/robin", "dm.sent").json()["code"] == "UNKNOWN_OP"
    assert why(daemon, "operator", "agent/robin", args={"to": 1}).json()["code"] == "INVALID_ARGS"
    assert why(daemon, "operator", "robin").json()["code"] == "INVALID_REQUEST"
    assert why(daemon, "operator", "agent/robin", "msg").json()["op"] == "dm.send"


def test_asking_why_calls_nothing(daemon: Any) -> None:
    before = daemon.client("operator").get("/jobs").json()
    why(daemon, "operator", "operator/local", args={"to": "robin", "text": "x"})
    assert daemon.client("operator").get("/jobs").json() == before


def test_nobody_acts_for_another_by_naming_it(daemon: Any) -> None:  # D057, D080
    daemon.agent("robin")
    for more in ({"from": "boss"}, {"caller": "admin"}, {"side_effecting": False}):
        assert daemon.exec("agent/robin", "tools.list", **more).json()["error"]["code"] == "INVALID_REQUEST"
    claimed = daemon.exec("agent/robin", "tools.list", on_behalf_of="boss", thread="robin", reply="m1")
    assert claimed.json()["error"]["details"]["rule"] == "behalf role"
