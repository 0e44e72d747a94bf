"""The ops as tools of the Model Context Protocol: two independent clients, both eras, over real TLS."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from exec_daemon.calls.registry import registry
from exec_daemon.mcp.tools import CALL_ID
from exec_daemon.operator_ops.spec import specs
from exec_daemon.ops import ALLOWLIST
from tests.exec_daemon.conftest import start
from tests.patience import PATIENCE_S

MODES = ("legacy", "auto")
OPS = {op.name: op for op in registry(ALLOWLIST).infos}


def context_of(daemon: Any) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=daemon.home / "ca.pem")


@asynccontextmanager
async def connected(daemon: Any, who: str, mode: str) -> AsyncIterator[Any]:
    headers = {"authorization": f"Bearer {daemon.token(who)}"}
    http = httpx2.AsyncClient(verify=context_of(daemon), headers=headers)
    async with (
        http,
        Client(streamable_http_client(f"{daemon.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def fast(daemon: Any, who: str) -> Any:
    headers = {"authorization": f"Bearer {daemon.token(who)}"}
    return FastClient(
        StreamableHttpTransport(f"{daemon.url}/mcp", headers=headers, verify=context_of(daemon))
    )


@pytest.mark.parametrize("mode", MODES)
async def test_each_op_is_a_tool_with_its_schema_and_all_four_hints(daemon: Any, mode: str) -> None:  # O-50
    daemon.agent("heron")
    async with connected(daemon, "agent/heron", mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools.keys() >= OPS.keys()
    for name, op in OPS.items():
        assert tools[name].input_schema == op.args_schema
        assert tools[name].output_schema is not None
        hints = tools[name].annotations
        assert hints is not None
        assert hints.read_only_hint is not op.side_effecting
        assert None not in (hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_runs_as_the_asker_and_its_answer_is_text_and_structure(daemon: Any, mode: str) -> None:
    daemon.agent("heron")
    async with connected(daemon, "agent/heron", mode) as client:
        answer = await client.call_tool("box.exec", {"action": "disk"})
    assert not answer.is_error
    assert answer.structured_content["ok"] is True
    assert json.loads(answer.content[0].text) == answer.structured_content["result"]
    job = daemon.client("operator").get(f"/jobs/{answer.structured_content['job_id']}").json()
    assert job["identity"] == "agent/heron"


@pytest.mark.parametrize("mode", MODES)
async def test_a_refusal_is_a_result_that_a_model_can_read(daemon: Any, mode: str) -> None:  # O-33
    async with connected(daemon, "viewer/eye", mode) as client:
        denied = await client.call_tool("dm.send", {"to": "heron", "text": "x"})
        unknown = await client.call_tool("no.such.op", {})
        wrong = await client.call_tool("box.exec", {"acton": "disk"})
    codes = [answer.structured_content["error"]["code"] for answer in (denied, unknown, wrong)]
    assert codes == ["FORBIDDEN", "UNKNOWN_OP", "INVALID_ARGS"]
    assert all(answer.is_error for answer in (denied, unknown, wrong))
    assert "box.exec takes" in wrong.content[0].text


@pytest.mark.parametrize("mode", MODES)
async def test_our_call_id_in_meta_makes_a_call_happen_once(daemon: Any, mode: str) -> None:
    daemon.agent("heron")
    args, meta = {"to": "heron", "text": f"once {mode}"}, {CALL_ID: f"mcp-{mode}"}
    async with connected(daemon, "agent/heron", mode) as client:
        first = await client.call_tool("dm.send", args, meta=meta)
        second = await client.call_tool("dm.send", args, meta=meta)
        other = await client.call_tool("dm.send", {**args, "text": "other"}, meta=meta)
    assert first.structured_content["job_id"] == second.structured_content["job_id"]
    assert second.structured_content["replayed"] is True
    assert other.structured_content["error"]["code"] == "DUPLICATE_ID"
    messages = daemon.client("operator").get("/threads/heron/messages").json()["messages"]
    assert [message["body"] for message in messages].count(f"once {mode}") == 1


async def test_fastmcps_client_lists_and_calls(daemon: Any) -> None:
    daemon.agent("heron")
    async with fast(daemon, "agent/heron") as client:
        names = {tool.name for tool in await client.list_tools()}
        answer = await client.call_tool("tools.list", {})
    assert names >= OPS.keys()
    assert answer.structured_content["ok"] is True


def test_without_a_token_there_is_no_mcp(daemon: Any) -> None:
    with daemon.bearing(None) as nobody:
        assert nobody.post("/mcp", json={}).status_code == 401
        assert nobody.delete("/mcp").status_code == 401


def test_a_session_of_another_identity_does_not_exist(daemon: Any) -> None:
    accept = {"accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    daemon.agent("heron")
    daemon.agent("wren")
    opened = daemon.client("agent/heron").post("/mcp", json=hello, headers=accept)
    session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    mine = daemon.client("agent/heron").post("/mcp", json=listing, headers=accept | session)
    theirs = daemon.client("agent/wren").post("/mcp", json=listing, headers=accept | session)
    assert (mine.status_code, theirs.status_code) == (200, 404)


@pytest.mark.parametrize("body", ['{"a":1,"a":2}', '{"a":NaN}', "[]", "\xff", '{"jsonrpc":"2.0"'])
def test_what_is_no_strict_json_object_is_a_parse_error(daemon: Any, body: str) -> None:
    answer = daemon.client("operator").post(
        "/mcp", content=body.encode("latin-1"), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A daemon with an op that takes half a second and one that takes half a minute."""
    ops = specs(
        {
            "nap.short": {"argv": ["/bin/sleep", "0.5"], "summary": "Sleep for half a second."},
            "nap.long": {"argv": ["/bin/sleep", "30"], "summary": "Sleep for half a minute."},
        }
    )
    made = start(tmp_path_factory.mktemp("slow"), ops=ops)
    yield made
    made.stop()


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_takes_its_time_tells_its_steps_as_progress(slow: Any, mode: str) -> None:
    told: list[str | None] = []

    async def note(_: float, __: float | None, message: str | None) -> None:
        told.append(message)

    async with connected(slow, "operator", mode) as client:
        answer = await client.call_tool("nap.short", {}, progress_callback=note)
    assert not answer.is_error
    assert told == ["accepted", "succeeded"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_gives_up_cancels_the_job(slow: Any, mode: str) -> None:
    async with connected(slow, "operator", mode) as client:
        before = len(await jobs(slow, "nap.long"))
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "nap.long", {})
            while len(await jobs(slow, "nap.long")) == before:  # noqa: ASYNC110 - another process sets no event
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        assert await ended(slow, "nap.long") == "CANCELLED"


async def ended(slow: Any, op: str) -> str:
    """The code that the newest job of the op ended with."""
    until_s = anyio.current_time() + PATIENCE_S
    while (job := (await jobs(slow, op))[0])["state"] != "failed":
        assert anyio.current_time() < until_s, job
        await anyio.sleep(0.05)
    return str(job["error"]["code"])


async def jobs(slow: Any, op: str) -> list[dict[str, Any]]:
    """The jobs of the op, the newest first."""
    answer = await anyio.to_thread.run_sync(lambda: slow.client("operator").get("/jobs"))
    return [one for one in answer.json()["jobs"] if one["op"] == op]
