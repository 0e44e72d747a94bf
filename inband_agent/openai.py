"""A model behind an OpenAI-compatible endpoint: `POST <base>/chat/completions`, streamed.

The token goes to that one address: a redirection is an error, and a proxy that an environment variable names
is not used.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import IO, Any, Final

from inband_agent.model import ModelError, Reply, Turn
from messaging.container import LlmEndpoint, SessionUsage
from messaging.strict_json import StrictJsonError, load_object

_TIMEOUT_S: Final = 120.0
# Of what a wrong server sends without a line end, or without an end.
_MOST_LINE_BYTES: Final = 1 << 20
_MOST_REPLY_CHARS: Final = 4 << 20
# Characters of a token of English text or of code, on the safe side: what is sent must fit the context.
_CHARS_PER_TOKEN: Final = 3
_MOST_ERROR_CHARS: Final = 300


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class OpenAIModel:
    """One endpoint; nothing is kept between turns."""

    def __init__(self, endpoint: LlmEndpoint) -> None:
        self._endpoint = endpoint
        self._opener = urllib.request.build_opener(_NoRedirection, urllib.request.ProxyHandler({}))
        if not endpoint.base_url.startswith(("http://", "https://")):
            raise ModelError(
                f"llm.baseUrl must begin with http:// or https://, not {endpoint.base_url[:64]!r}"
            )

    def reply(self, conversation: Sequence[Turn]) -> Reply:
        """One streamed completion."""
        try:
            with self._opener.open(self._request(conversation), timeout=self._timeout_s()) as answer:
                return _read(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                body = refused.read(_MOST_ERROR_CHARS).decode("utf-8", "replace")
            raise ModelError(self._harmless(f"the model answered {refused.code}: {body}")) from None
        except (OSError, http.client.HTTPException, ValueError) as broken:
            raise ModelError(self._harmless(f"model unreachable: {broken}")) from None

    def _timeout_s(self) -> float:
        return float(self._endpoint.request_timeout_secs or _TIMEOUT_S)

    def _request(self, conversation: Sequence[Turn]) -> urllib.request.Request:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._endpoint.token}"}
        url = f"{self._endpoint.base_url.rstrip('/')}/chat/completions"
        body = json.dumps(self._body(conversation)).encode()
        return urllib.request.Request(url, body, headers, method="POST")  # noqa: S310 - checked at the start

    def _body(self, conversation: Sequence[Turn]) -> dict[str, Any]:
        llm = self._endpoint
        wanted = {
            "max_tokens": llm.max_output_tokens,
            "temperature": llm.temperature,
            "top_p": llm.top_p,
            "chat_template_kwargs": _thinking(llm.enable_thinking),
        }
        room = max(0, llm.max_context_tokens - (llm.max_output_tokens or 0)) * _CHARS_PER_TOKEN
        turns = [{"role": turn.role, "content": turn.content} for turn in fitting(conversation, room)]
        always = {"model": llm.model, "messages": turns, "stream": True}
        usage = {"stream_options": {"include_usage": True}}
        return always | usage | {key: value for key, value in wanted.items() if value is not None}

    def _harmless(self, text: str) -> str:
        """Servers quote what they were sent."""
        return text.replace(self._endpoint.token, "[token]") if self._endpoint.token else text


def _thinking(enabled: bool | None) -> dict[str, bool] | None:  # noqa: FBT001 - a value, not a switch
    return None if enabled is None else {"enable_thinking": enabled}


def fitting(conversation: Sequence[Turn], most_chars: int) -> list[Turn]:
    """The system's words, and as many of the last turns as fit; the very last one in any case."""
    head = [turn for turn in conversation if turn.role == "system"]
    rest = [turn for turn in conversation if turn.role != "system"]
    room = most_chars - sum(len(turn.content) for turn in head)
    kept: list[Turn] = []
    for turn in reversed(rest):
        room -= len(turn.content)
        if kept and room < 0:
            break
        kept.append(turn)
    return [*head, *reversed(kept)]


def _read(answer: IO[bytes]) -> Reply:
    text, usage, ended = "", SessionUsage(), False
    for chunk in _chunks(answer):
        if isinstance(chunk.get("error"), dict):
            raise ModelError(f"the model failed: {str(chunk['error'].get('message'))[:_MOST_ERROR_CHARS]}")
        if isinstance(chunk.get("usage"), dict):
            usage = SessionUsage.from_openai(chunk["usage"])
        choice = _first(chunk.get("choices"))
        piece = choice.get("delta") or choice.get("message") or {}
        text += str(piece.get("content") or "")
        ended = ended or choice.get("finish_reason") is not None
        if len(text) > _MOST_REPLY_CHARS:
            raise ModelError(f"the model said over {_MOST_REPLY_CHARS:,} characters")
    if not ended:  # a connection that breaks looks like an end: half a reply must not be acted upon
        raise ModelError("the model's answer broke off")
    return Reply(text, usage)


def _first(choices: Any) -> dict[str, Any]:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _chunks(answer: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The `data:` lines of server-sent events, or one whole object from a server that does not stream."""
    while line := answer.readline(_MOST_LINE_BYTES):
        written = line.decode("utf-8", "replace").strip()
        content = written.removeprefix("data:").strip()
        if content == "[DONE]":
            return
        if not content.startswith("{"):
            continue
        try:
            yield load_object(content)
        except StrictJsonError as wrong:
            raise ModelError(f"the model's answer is no JSON: {wrong}") from None
