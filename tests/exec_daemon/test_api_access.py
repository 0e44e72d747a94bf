"""Who may use which endpoint: the whole table, and tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from exec_daemon.access.identity import Role
from exec_daemon.api.app import EVERY_ROW, ROWS
from exec_daemon.api.route import Row
from exec_daemon.operator_ops.spec import specs

NAMES = {Role.OPERATOR: "operator", Role.HARVESTER: "harvester"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_an_endpoint_is_closed_to_every_role_that_its_row_does_not_name(daemon: Any, row: Row) -> None:
    path = row.path.format(id="none", op="none", name="none", sha256="none")  # O-33 default deny
    for role in Role:
        client = daemon.client(NAMES.get(role, f"{role}/x"))
        if role in row.roles and path.endswith("/stream"):
            continue
        answer = client.request(row.method, path, json={} if row.method != "GET" else None)
        assert (answer.status_code == 403) is (role not in row.roles), answer.text


def test_no_endpoint_stands_twice() -> None:
    keys = [(row.method, row.path) for row in EVERY_ROW]
    assert len(keys) == len(set(keys))


def test_health_asks_for_no_identity_and_tells_nothing(daemon: Any) -> None:
    with daemon.bearing(None) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json() == {"status": "ready"}


def test_what_is_around_programs_is_told_to_operators_and_viewers_alone(daemon: Any) -> None:  # D044
    found = daemon.client("viewer/eve").get("/health").json()
    assert found["status"] == "ready"
    assert found["programs"]["trees"] in ("cgroup", "pid namespace", "walk")
    assert "memory_bytes" in found["programs"]["layers"]["limits"]
    assert found["ops"] == {}
    assert daemon.client("agent/heron").get("/health").status_code == 403


def test_what_is_around_each_op_of_the_operators_own_is_told(start_daemon: Callable[..., Any]) -> None:
    plain: dict[str, Any] = {"argv": ["true"], "summary": "x"}
    table = {"my.plain": plain, "my.loose": plain | {"confined": False}}
    table |= {"my.boxed": plain | {"sandbox": "bubblewrap"}}
    found = start_daemon(ops=specs(table)).client("operator").get("/health").json()
    assert found["ops"] == {"my.plain": "layers", "my.loose": "nothing", "my.boxed": "bubblewrap"}


def test_a_token_is_shown_once_and_its_hash_never(daemon: Any) -> None:  # O-33
    client = daemon.client("operator")
    made = client.post("/tokens", json={"identity": "viewer/eve", "ttl_s": 60, "scopes": ["tools.*"]}).json()
    assert made["token"].startswith("inband_")
    listed = next(row for row in client.get("/tokens").json()["tokens"] if row["id"] == made["id"])
    assert listed == {key: value for key, value in made.items() if key != "token"}
    assert made["token"] not in client.get("/tokens").text
    with daemon.bearing(made["token"]) as eve:
        assert eve.post("/exec", json={"op": "tools.list"}).status_code == 200
        assert eve.post("/exec", json={"op": "box.cpu"}).status_code == 403


def test_a_token_may_be_limited_to_the_op_of_the_longest_name(daemon: Any) -> None:
    scopes = [f"{'s' * 32}.{'t' * 48}"]  # a server's, and its tool's
    asked = daemon.client("operator").post("/tokens", json={"identity": "viewer/eve", "scopes": scopes})
    assert asked.json()["scopes"] == scopes


@pytest.mark.parametrize("scopes", [[], [""], ["dm.send\n"], ["[a-z]*"], ["!dm.send"], ["dm.*"] * 65])
def test_a_limit_that_limits_nothing_or_names_nothing_makes_no_token(daemon: Any, scopes: list[str]) -> None:
    """An empty list of ops is no wish for all of them."""
    asked = daemon.client("operator").post("/tokens", json={"identity": "viewer/eve", "scopes": scopes})
    assert (asked.status_code, asked.json()["code"]) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("row", [row for row in ROWS if row.method != "GET"], ids=lambda row: row.path)
def test_a_token_that_is_limited_to_ops_gets_its_bearer_nothing_else(daemon: Any, row: Row) -> None:
    """Else it could make a token without limits, or write a reply whose directives run without any."""
    made = daemon.client("operator").post(
        "/tokens", json={"identity": "operator/narrow", "scopes": ["tools.*"]}
    )
    path = row.path.format(id="none", op="none", name="none", sha256="none")
    with daemon.bearing(made.json()["token"]) as narrow:
        answer = narrow.request(row.method, path, json={})
    limited = "limited to the ops tools.*" in answer.text
    asks_itself = {"/exec", "/why", "/rpc", "/mcp", "/session", "/timers/preview"}
    takes_back = {"/jobs/{id}/cancel", "/threads/{id}/read"}
    assert limited is (Role.OPERATOR in row.roles and row.path not in asks_itself | takes_back)


def test_a_revoked_token_is_worth_nothing_at_once(daemon: Any) -> None:
    client = daemon.client("operator")
    made = client.post("/tokens", json={"identity": "viewer/mallory"}).json()
    with daemon.bearing(made["token"]) as mallory:
        assert mallory.get("/ops").status_code == 200
        for _ in range(2):
            assert client.delete(f"/tokens/{made['id']}").json() == {"id": made["id"], "revoked": True}
        assert mallory.get("/ops").status_code == 401
    assert client.delete("/tokens/tok-0").status_code == 404


def test_a_token_shows_when_it_was_last_used(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon()
    made = running.client("operator").post("/tokens", json={"identity": "viewer/eve"}).json()
    with running.bearing(made["token"]) as eve:
        assert eve.get("/ops").status_code == 200
    running.stop()
    tokens = start_daemon().client("operator").get("/tokens").json()["tokens"]
    used = next(row["last_used_at"] for row in tokens if row["id"] == made["id"])
    assert used >= made["created_at"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"identity": "root/x"},
        {"identity": "agent"},
        {"identity": "agent/x", "ttl_s": 0},
        {"identity": "agent/x", "ttl_s": 10**18},
    ],
)
def test_a_token_is_for_a_real_identity_and_a_real_time(daemon: Any, body: dict[str, Any]) -> None:
    answer = daemon.client("operator").post("/tokens", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_REQUEST")


def test_no_token_stands_in_the_log(start_daemon: Callable[..., Any]) -> None:
    daemon = start_daemon()
    token = daemon.token("agent/secretive")
    with daemon.bearing(token) as client:
        client.get("/ops", params={"token": token})
        client.get(f"/jobs/{token}")
    daemon.stop()
    text = (daemon.home / "daemon.log").read_text()
    assert "agent/secretive" in text
    assert daemon.token("operator") not in text


def test_what_is_read_has_no_head(daemon: Any) -> None:
    daemon.agent("heron")
    for path in ("/threads/heron/stream", "/threads/heron", "/jobs"):
        assert daemon.client("operator").head(path).status_code == 405
    assert daemon.client("operator").head("/healthz").status_code == 200


def test_no_client_is_sent_to_the_host_that_a_request_names(daemon: Any) -> None:
    answer = daemon.client("operator").get("/threads/", headers={"host": "elsewhere.example"})
    assert (answer.status_code, "location" in answer.headers) == (421, False)
    answer = daemon.client("operator").get("/threads/")
    assert (answer.status_code, "location" in answer.headers) == (404, False)
