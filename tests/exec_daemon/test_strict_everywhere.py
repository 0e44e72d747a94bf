"""One strict reader of JSON behind every way in: what is not exactly right is a typed 400, never a fault."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from exec_daemon.api.app import ROWS
from exec_daemon.api.openapi.operations import OPERATIONS
from exec_daemon.api.route import Row
from messaging.ipc.socket_address import short_address
from tests.patience import PATIENCE_S

JSON = {"content-type": "application/json"}
HOSTILE = [
    b"",
    b"null",
    b"[]",
    b'"x"',
    b"\xff",
    b"\xef\xbb\xbf{}",
    b'{"op":"tools.list","op":"dm.send"}',  # D054
    b'{"a":{"b":1,"\\u0062":2}}',
    b'{"a":NaN}',  # D056
    b'{"a":-Infinity}',
    b'{"a":1e999}',
    b'{"a":' + b"9" * 5000 + b"}",  # D053
    b'{"a":' + b"[" * 70 + b"]" * 70 + b"}",
    b"[" * 100_000,
    b'{"a":"\\ud800"}',  # D035
    b'{"\\udc00":1}',
    b'{"a":"\\u0000"}',  # D006
    b'{"a":"\x00"}',
    b'{"a":"\t"}',
    b"{} {}",
    b"{'a':1}",
    b'{"a":1,}',
    b"{/**/}",
    b'{"side_effecting":false,"caller":"operator/local"}',  # D057
    b"{" + b",".join(b'"k%d":1' % number for number in range(20_000)) + b"}",  # D142
]


def takes_a_body(row: Row) -> bool:
    operation = OPERATIONS.get((row.method, row.path))
    return operation is not None and operation.body is not None


@pytest.mark.parametrize("row", [*filter(takes_a_body, ROWS)], ids=lambda row: f"{row.method} {row.path}")
def test_a_body_that_is_not_strict_is_a_typed_400(daemon: Any, row: Row) -> None:
    daemon.agent("heron")
    who = next(name for name in ("operator", "harvester") if name in row.roles)
    path = row.path.format(id="heron", op="x", name="heron", sha256="x")
    for content in HOSTILE:
        answer = daemon.client(who).request(row.method, path, content=content, headers=JSON)
        refused = answer.json().get("error", answer.json())
        assert (answer.status_code, refused["code"]) == (400, "INVALID_REQUEST"), (content[:40], answer.text)
        assert "Traceback" not in answer.text  # D138


def lines(connection: socket.socket) -> Iterator[dict[str, Any]]:
    with connection.makefile("rb") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


@pytest.mark.parametrize("content", [one for one in HOSTILE if one and b"u0000" not in one])
def test_the_rpc_answers_what_is_not_strict_with_an_error(daemon: Any, content: bytes) -> None:  # D008
    with socket.socket(socket.AF_UNIX) as connection, short_address(daemon.home / "rpc.sock") as address:
        connection.settimeout(PATIENCE_S)
        connection.connect(address)
        connection.sendall(content + b"\n")
        connection.shutdown(socket.SHUT_WR)
        said = next(line for line in lines(connection) if "ok" in line)
    assert (said["ok"], said["error"]["code"]) in {(False, "INVALID_REQUEST"), (False, "INVALID_FRAME")}


@pytest.mark.parametrize(
    "query",
    [
        "after=-1",
        "after=1e3",
        "after=%D9%A1",
        "after=99999999999999999999",
        "limit=x",
        "limit=%00",
        "after=1&after=2",
    ],
)
def test_a_query_that_is_no_number_is_a_typed_400(daemon: Any, query: str) -> None:
    daemon.agent("heron")
    answer = daemon.client("operator").get(f"/threads/heron/messages?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("last-event-id", "x"),
        ("last-event-id", "9" * 40),
        ("last-event-id", "\xff"),
        ("idempotency-key", ""),
        ("idempotency-key", "\xe9"),
        ("idempotency-key", "k" * 300),
        ("prefer", "wait=" + "9" * 100),
        ("prefer", "\xff, wait=, ,"),
        ("accept", "\xff/\xff"),
        ("traceparent", "00-x"),
        ("authorization", "Bearer \xff"),
        ("authorization", "Bearer " + "x" * 10_000),
    ],
)
def test_a_header_that_is_not_right_is_no_fault(daemon: Any, name: str, value: str) -> None:
    daemon.agent("heron")
    token = {} if name == "authorization" else {"authorization": f"Bearer {daemon.token('operator')}"}
    fields = {**token, **JSON, name: value.encode("latin-1")}
    with daemon.bearing(None) as client:
        posted = client.post("/threads/heron/messages", json={"body": "x"}, headers=fields)
        called = client.post("/exec", json={"op": "tools.list"}, headers=fields)
        with client.stream("GET", "/threads/heron/stream", headers=fields) as followed:
            assert max(posted.status_code, called.status_code, followed.status_code) < 500


def test_a_token_in_the_query_proves_nothing(daemon: Any) -> None:  # D075
    token = daemon.token("operator")
    with daemon.bearing(None) as client:
        assert client.get(f"/ops?token={token}&access_token={token}").status_code == 401
    assert token not in (daemon.home / "daemon.log").read_text()
