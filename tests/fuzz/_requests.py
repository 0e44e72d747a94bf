"""Seeded requests: for each endpoint what it takes, more or less."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from exec_daemon.api.openapi.operations import OPERATIONS
from exec_daemon.certificates.requests import new_request
from exec_daemon.ops import ALLOWLIST
from messaging.signature import SIGNATURE, sign
from tests.fuzz._values import Values

QUERIES: Final = (
    *"after before limit wait state agent subject seen".split(),
    *"next code noted day filter thread q cursor token".split(),
)
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "prefer": ("wait=0", "respond-async", "wait=x", ",,", "wait=1, respond-async"),
    "last-event-id": ("0", "-5", "x", "9" * 30),
    "idempotency-key": ("k1", "k2", "", "x" * 300),
    "accept": ("text/event-stream", "application/json", "*/*", "text/html;q=0", ";;"),
    "content-type": ("application/json", "text/plain", "application/json; charset=utf-16", ""),
    "if-none-match": ("*", '"x"'),
    "range": ("bytes=0-1", "bytes=9-1", "lines=1"),
    "origin": ("https://evil.example", "null", ""),
    "cookie": ("__Host-inband=x", "a=b; __Host-inband=%00", "=", ";" * 50),
    "traceparent": ("00-x", f"00-{'a' * 32}-{'b' * 16}-01"),
    "mcp-protocol-version": ("2025-06-18", "2025-11-25", "x"),
    "x-inband-proof": ("x", "0" * 64),
    "content-encoding": ("gzip", "identity"),
}
FORM: Final = "application/x-www-form-urlencoded"
# What each step of a job elsewhere tells.
_STEPS: Final[Mapping[str, dict[str, Any]]] = {
    "accepted": {"url": "https://tool.example/1"},
    "progress": {"stage": "x", "pct": 5, "message": "half of it [TOOL tools.list {}]"},
    "succeeded": {"result": {"n": 1}},
}


class Asked(NamedTuple):
    """One request, but for who sends it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[bytes, bytes]
    content: bytes | None


class Requests:
    """`secret` gives that of a job's callbacks, `token` may sign in, `files` are names of the page's."""

    def __init__(
        self, values: Values, secret: Callable[[str], str], token: str, files: tuple[str, ...]
    ) -> None:
        self._values = values
        self._chance = values.chance
        self._secret = secret
        self._token = token
        self._names: dict[str, Callable[[], str]] = {
            "jobs": lambda: values.seen("job-"),
            "approvals": lambda: values.seen("job-"),
            "callback": lambda: self._chance.choice(("cb-1", "cb-2", "cb-3")),
            "artifacts": lambda: values.seen("/artifacts/")[len("/artifacts/") :],
            "threads": lambda: self._chance.choice(("heron", "wren", "t1")),
            "messages": lambda: values.seen("msg-"),
            "timers": lambda: values.seen("tmr-"),
            "workers": lambda: values.seen("w-"),
            "tokens": lambda: values.seen("tok-"),
            "certificates": lambda: values.seen(length=40),
            "agents": lambda: self._chance.choice(("heron", "wren")),
            "cursors": lambda: "watcher",
            "ops": lambda: self._chance.choice(ALLOWLIST).name,
            "static": lambda: self._chance.choice(files),
        }

    def one(self, method: str, path: str) -> Asked:
        """A request to this row: half of them as they should be, the others more or less wrong."""
        self._values.wild = self._chance.choice((0.0, 0.0, 0.1, 0.5))
        where, headers = self._path(path), self._headers()
        content = self._content(method, path, where, headers)
        if path == "/mcp":
            headers["accept"] = "application/json, text/event-stream"
            if b"initialize" not in (content or b""):
                headers["mcp-session-id"] = self._values.seen(length=32)
        query = {}
        if self._chance.random() < 0.4:
            query = {self._chance.choice(QUERIES): self._word() for _ in range(2)}
        fields = {name.encode(): value.encode("utf-8", "replace") for name, value in headers.items()}
        return Asked(method, where, query, fields, content)

    def _word(self) -> str:
        right = ("0", "1", "heron", "viewer", "all")
        return self._values.text()[:200] if self._values.hurts() else self._chance.choice(right)

    def _path(self, path: str) -> str:
        made: list[str] = []
        for part in path.split("/"):
            if part.startswith("{"):
                kind = "messages-of" if part == "{seq}" else made[-1]
                right = self._names.get(kind, lambda: "1")
                made.append(quote(self._word() if self._values.hurts() else right(), safe=""))
            else:
                made.append(part)
        return "/".join(made) or "/"

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json"}
        while self._values.hurts():
            name = self._chance.choice(list(FIELDS))
            headers[name] = self._chance.choice(FIELDS[name])
        return headers

    def _content(self, method: str, path: str, where: str, headers: dict[str, str]) -> bytes | None:
        if method in ("GET", "HEAD") or (method == "DELETE" and not self._values.hurts()):
            return None
        if path == "/sign-in":
            headers["content-type"] = FORM
            wrong = (b"token=x", b"code=%00&token=", b"%zz=&&&=", b"token=" + b"x" * 5000)
            return self._chance.choice(wrong) if self._values.hurts() else f"token={self._token}".encode()
        content = json.dumps(self._document(method, path, where)).encode()
        if self._values.hurts():
            at = self._chance.randrange(len(content) + 1)
            strange = self._chance.choice((b"", b"\xff", b"\0", b'"', b"}", b"[" * 80))
            content = content[:at] + strange + content[at:]
        if path.startswith("/callback/"):
            headers[SIGNATURE] = sign(self._secret(where.rpartition("/")[2]), content)
        return content

    def _document(self, method: str, path: str, where: str) -> Any:
        if path in ("/exec", "/why"):
            return self._call({} if path == "/exec" else {"identity": "agent/heron"})
        if path == "/mcp":
            return self._mcp()
        if path == "/callback":
            return {"job_id": self._chance.choice(("cb-1", "cb-2", "cb-3"))}
        if path.startswith("/callback/"):
            return self._event(where.rpartition("/")[2])
        if path == "/certificates":
            return {"identity": "viewer/v", "csr": new_request()[1]}
        operation = OPERATIONS.get((method, path))
        if operation is None or operation.body is None:
            return {"id": "r1", "type": self._word(), "payload": self._values.hostile()}
        return self._values.of(operation.body.model_json_schema())

    def _call(self, around: dict[str, Any]) -> dict[str, Any]:
        op = self._chance.choice(ALLOWLIST)
        args = (
            self._values.of(op.arguments.model_json_schema()) if self._chance.random() < 0.7 else op.example
        )
        return {"op": op.name, "args": args, **around}

    def _mcp(self) -> Any:
        call = self._call({})
        method = self._chance.choice(("initialize", "tools/list", "tools/call", "ping", "x"))
        params: Any = {}
        if method == "tools/call":
            params = {"name": call["op"], "arguments": call["args"]}
        elif method == "initialize":
            info = {"name": "f", "version": "1"}
            params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        params = self._values.hostile() if self._values.hurts() else params
        return {
            "jsonrpc": "2.0",
            "id": self._chance.choice((1, "a", None)),
            "method": method,
            "params": params,
        }

    def _event(self, job: str) -> Any:
        kind = self._chance.choice(list(_STEPS))
        told = self._values.hostile() if self._values.hurts() else _STEPS[kind]
        about = {
            "job_id": job,
            "seq": self._chance.randrange(3),
            "ts": "2026-12-01T09:00:00.000Z",
            "type": kind,
        }
        return about | told if isinstance(told, dict) else told
