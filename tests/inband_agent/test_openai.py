"""A model behind an OpenAI-compatible endpoint, played by a real HTTP server."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from inband_agent.model import ModelError, Turn
from inband_agent.openai import OpenAIModel, fitting
from messaging.container import LlmEndpoint, SessionUsage, Status
from tests.inband_agent._agent import START, Agent

TOKEN = "t0p-s3cret-token"
CHUNKS: list[dict[str, Any]] = [
    {"choices": [{"delta": {"role": "assistant", "content": "[TOOL box."}, "finish_reason": None}]},
    {"choices": [{"delta": {"content": 'exec {"action":"health"}]'}, "finish_reason": None}]},
    {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 30,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 10},
        },
    },
]
SAID = '[TOOL box.exec {"action":"health"}]'


def events(chunks: list[dict[str, Any]], end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f": keep-alive\n\ndata: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


class Endpoint(ThreadingHTTPServer):
    """Answers with `status` and `body`, and remembers what it was asked."""

    daemon_threads = True
    status, body = 200, events(CHUNKS)
    headers: Mapping[str, str] = MappingProxyType({})
    asked: list[tuple[str, str, dict[str, Any]]]
    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Answer(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], asked))
        self.server.meanwhile()
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(("127.0.0.1", 0), Answer) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def llm(endpoint: Endpoint, **more: Any) -> LlmEndpoint:
    return LlmEndpoint(base_url=endpoint.url, token=TOKEN, model="big", max_context_tokens=1000, **more)


def test_a_streamed_completion_is_put_together_and_its_usage_mapped(endpoint: Endpoint) -> None:
    # T-09, T-17
    reply = OpenAIModel(llm(endpoint, temperature=0.5, enable_thinking=False)).reply([Turn("user", "hi")])
    assert reply.text == SAID
    assert reply.usage == SessionUsage(input_tokens=20, output_tokens=7, cache_read_input_tokens=10)
    path, authorization, body = endpoint.asked[0]
    assert (path, authorization) == ("/v1/chat/completions", f"Bearer {TOKEN}")
    assert body == {
        "model": "big",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_a_server_that_does_not_stream_is_understood(endpoint: Endpoint) -> None:
    endpoint.body = json.dumps(
        {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    ).encode()
    assert OpenAIModel(llm(endpoint)).reply([Turn("user", "x")]).text == "hi"


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (500, b"overloaded", "500: overloaded"),
        (401, f"bad key {TOKEN}".encode(), "bad key [token]"),
        (200, events(CHUNKS[:2], ""), "broke off"),
        (200, b"data: {nope\n\n", "no JSON"),
        (200, b"<html>hello</html>", "broke off"),
        (200, events([{"error": {"message": "context too long"}}]), "context too long"),
    ],
)
def test_a_failing_model_says_why_and_never_shows_the_token(
    endpoint: Endpoint, status: int, body: bytes, says: str
) -> None:
    # T-18
    endpoint.status, endpoint.body = status, body
    with pytest.raises(ModelError) as failed:
        OpenAIModel(llm(endpoint)).reply([Turn("user", "x")])
    assert says in str(failed.value)
    assert TOKEN not in str(failed.value)


def test_the_token_follows_no_redirection(endpoint: Endpoint) -> None:
    # T-18
    endpoint.status, endpoint.headers = 307, {"Location": f"{endpoint.url}/elsewhere"}
    with pytest.raises(ModelError, match="307"):
        OpenAIModel(llm(endpoint)).reply([Turn("user", "x")])
    assert len(endpoint.asked) == 1


def test_nobody_there_and_a_file_for_an_address_are_errors() -> None:
    nowhere = LlmEndpoint(base_url="http://127.0.0.1:9/v1", token="", model="m", max_context_tokens=1)
    with pytest.raises(ModelError, match="unreachable"):
        OpenAIModel(nowhere).reply([Turn("user", "x")])
    with pytest.raises(ModelError, match="baseUrl"):
        OpenAIModel(LlmEndpoint(base_url="file:///etc", token="", model="m", max_context_tokens=1))


def test_the_oldest_turns_make_room_and_the_last_stays() -> None:
    # T-17
    turns = [Turn("system", "ss"), *(Turn("user", f"{number}" * 10) for number in range(5))]
    assert fitting(turns, 1000) == turns
    assert fitting(turns, 25) == [turns[0], *turns[4:]]
    assert fitting(turns, 0) == [turns[0], turns[5]]


def test_the_token_is_in_no_argument_environment_or_log_of_the_agent_and_its_script(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    # T-18
    agent, seen = Agent(tmp_path), []

    def look() -> None:
        assert agent.process
        folder = Path(f"/proc/{agent.process.pid}")
        seen.extend([(folder / "environ").read_bytes(), (folder / "cmdline").read_bytes()])

    endpoint.meanwhile = look
    start = START | {"llm": llm(endpoint).to_json()}
    start["script"] = (
        f"env > {tmp_path}/env; cat /proc/$PPID/environ >> {tmp_path}/env; echo '{{\"wakeAgent\":true}}'"
    )
    agent.start(start)
    while agent.process is None:  # the endpoint may be asked at once
        time.sleep(0.01)
    said = agent.idle()[0]
    assert (said.status, said.result) == (Status.SUCCESS, SAID)
    agent.close()
    assert agent.ended() == 0
    seen += [(tmp_path / "env").read_bytes(), (tmp_path / "stderr").read_bytes()]
    assert len(seen) == 4
    assert all(seen[:3])
    assert not [content for content in seen if TOKEN.encode() in content]
    kept = [path.read_bytes() for path in (tmp_path / "state").rglob("*.jsonl")]
    assert kept
    assert not [content for content in kept if TOKEN.encode() in content]
    assert not [value for value in os.environ.values() if TOKEN in value]
