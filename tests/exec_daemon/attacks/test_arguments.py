"""Hostile arguments through a whole daemon, by each way that a call can come in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from exec_daemon.ops import ALLOWLIST
from patterns import vocabulary
from tests.exec_daemon.conftest import Running

KEYED = [one.name for one in vocabulary().box_actions.values() if one.argument is not None]
MARKER = Path("/tmp/inband-pwned")
HOSTILE = [
    *("-h", "-", "--", f"--output={MARKER}"),  # D001
    *(f"x{mark}touch {MARKER}" for mark in (";", "|", "&", "$(", "`", ">", "<")),  # D003
    *("5\n", "bob\n", "nginx\r\n"),  # D005
    *("../../etc/shadow", "/var/log/../../etc/shadow", "%2e%2e/x"),  # D018
    "x /etc/shadow",  # D009
    "x" * 129,  # D023
]


@pytest.fixture
def counted(start_daemon: Callable[..., Running], tmp_path: Path) -> Iterator[tuple[Running, Path]]:
    """A daemon whose reads are answered by a program that notes each run."""
    program, runs = tmp_path / "other-ctl", tmp_path / "runs"
    program.write_text(f"#!/bin/sh\necho run >> {runs}\necho '{{\"data\":{{}}}}'\n")
    program.chmod(0o755)
    yield start_daemon(box_ctl=program), runs
    assert not MARKER.exists()


def test_a_read_with_a_hostile_argument_starts_no_program(counted: tuple[Running, Path]) -> None:
    running, runs = counted
    for action in KEYED:
        for hostile in HOSTILE:
            refused = running.exec("operator", "box.exec", {"action": action, "arg": hostile})
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_ARGS")
    assert not runs.exists()


def mcp(client: httpx2.Client, op: str, args: dict[str, Any]) -> str:
    """The code that a call gets over the Model Context Protocol, in a session of its own."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    fields = {"accept": "application/json, text/event-stream"}

    def ask(method: str, params: dict[str, Any]) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return client.post("/mcp", json=body, headers=fields)

    fields |= {"mcp-session-id": ask("initialize", hello).headers["mcp-session-id"]}
    _, _, said = ask("tools/call", {"name": op, "arguments": args}).text.partition("data: ")
    return str(json.loads(said)["result"]["structuredContent"]["error"]["code"])


def test_each_way_in_ends_in_the_same_check(daemon: Running) -> None:  # D008
    local = httpx2.HTTPTransport(uds=str(daemon.home / "daemon.sock"))
    over_tls = daemon.client("operator")
    with httpx2.Client(base_url="http://localhost", transport=local) as over_unix:
        for op, args, code in (
            ("box.exec", {"action": "logs", "arg": "--output=x"}, "INVALID_ARGS"),
            ("box.exec", {"action": "disk", "env": {"LD_PRELOAD": "x"}}, "INVALID_ARGS"),  # D014
            ("dm.send", {"to": "heron", "text": "x", "from": "boss"}, "INVALID_ARGS"),
            ("dm.send\n", {"to": "heron", "text": "x"}, "UNKNOWN_OP"),
        ):
            body = {"op": op, "args": args}
            said = [
                client.post("/exec", json=body).json()["error"]["code"] for client in (over_tls, over_unix)
            ]
            assert [*said, mcp(over_tls, op, args)] == [code] * 3


def plain(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A field's types."""
    yield from schema.get("anyOf", [schema])


FIELDS = [
    (op, name, kind)
    for op in ALLOWLIST
    for name, schema in op.arguments.model_json_schema()["properties"].items()
    for kind in plain(schema)
    if kind.get("type") != "null"
]
# What is a text for people, which may have lines.
FREE = {"text", "prompt", "reason", "filter", "command"}


@pytest.mark.parametrize(
    ("op", "name", "kind"), FIELDS, ids=[f"{op.name}-{name}-{kind.get('type')}" for op, name, kind in FIELDS]
)
def test_no_field_of_any_op_takes_a_line_break_or_another_type(
    daemon: Running, op: Any, name: str, kind: dict[str, Any]
) -> None:
    daemon.agent("heron")
    strange: dict[str, list[Any]] = {
        "string": [True, ["x"], {}] + (["5\n"] if name not in FREE else []),  # D005
        "integer": [True, "five", 1.5, 10**30],  # D056
        "number": [True, "five"],
        "boolean": [1, "true"],
    }
    for value in strange.get(kind["type"], []):
        answer = daemon.exec("operator", op.name, {**op.example, name: value})
        assert (answer.status_code, answer.json()["ok"]) in ((400, False), (404, False)), (value, answer.text)


def test_names_in_paths_and_bodies_end_where_they_end(daemon: Running) -> None:  # D005
    client = daemon.client("operator")
    asked = [
        client.post("/agents", json={"name": "bob\n"}),
        client.post("/threads", json={"id": "t\n"}),
        client.post("/tokens", json={"identity": "viewer/bob\n"}),
        client.put("/grants", json={"subject": "agent/bob\n", "rules": {}}),
        client.post("/exec", json={"op": "tools.list", "call_id": "c\n"}),
        client.post("/callback", json={"job_id": "j\n"}),
        client.post("/sign-in-links", json={"next": "/ui/\n"}),
        client.get("/threads/heron%0A"),
        client.get("/ops/tools.list%0A"),
        client.get("/jobs/job-1%0A"),
        daemon.client("harvester").get("/cursors/w%0A"),
    ]
    assert {answer.status_code for answer in asked} <= {400, 404}, [one.text for one in asked]


@pytest.mark.parametrize("recipient", ["herоn", "heron\u200b", "HERON", "ｈeron", "heron ", "hérōn"])
def test_a_recipient_that_only_looks_like_one_is_nobody(daemon: Running, recipient: str) -> None:  # D119
    daemon.agent("heron")
    before = len(daemon.client("operator").get("/threads/heron/messages").json()["messages"])
    refused = daemon.exec("operator", "dm.send", {"to": recipient, "text": "x"})
    assert refused.json()["error"]["code"] in ("INVALID_ARGS", "NOT_FOUND")
    after = daemon.client("operator").get("/threads/heron/messages").json()["messages"]
    assert len(after) == before


def test_who_sends_is_who_asked_whatever_the_call_says(daemon: Running) -> None:  # D080
    daemon.agent("heron")
    boss = daemon.agent("boss")
    for more in ({"from": "boss"}, {"author": "boss"}, {"sender": "operator/local"}):
        refused = daemon.exec("agent/heron", "dm.send", {"to": "heron", "text": "x", **more})
        assert refused.json()["error"]["code"] == "INVALID_ARGS"
    sent = daemon.exec("agent/heron", "dm.send", {"to": "boss", "text": "it is I, boss"}).json()
    assert boss.get("/threads/boss/messages").json()["messages"][-1]["author"] == "heron"
    (line,) = daemon.client("operator").get("/audit?limit=1").json()["lines"]
    assert (line["identity"], line["job_id"]) == ("agent/heron", sent["job_id"])


@pytest.mark.parametrize("written", ["-1", "nan", "inf", "1e309", "0x10", "1,5", "1_0", "", "9" * 400, "١"])
def test_nobody_makes_the_daemon_wait_longer_than_it_likes(daemon: Running, written: str) -> None:  # D137
    daemon.agent("heron")
    harvester = daemon.client("harvester")
    assert harvester.get("/replies", params={"wait": written}).status_code == 400
    assert harvester.get("/workers", params={"wait": written}).status_code == 400
    body = {"op": "tools.list"}
    prefer = {b"prefer": f"wait={written}".encode()}
    assert daemon.client("operator").post("/exec", json=body, headers=prefer).status_code == 200


@pytest.mark.parametrize("limit", [-1, 0, 1.5, "60", True, 10**12])
def test_a_time_limit_of_a_caller_is_a_number_within_bounds(daemon: Running, limit: Any) -> None:  # D137
    for op, args in (
        ("swarm.spawn", {"prompt": "x", "timeout_s": limit}),
        ("cron.create", {"schedule": "5m", "prompt": "x", "timeout_s": limit}),
    ):
        refused = daemon.exec("operator", op, args)
        assert refused.json()["error"]["code"] == "INVALID_ARGS", refused.text
