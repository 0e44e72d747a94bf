"""A scripted transport for the client: it answers step by step and keeps what was asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2

from harvester.client import DaemonClient, RetryPolicy

TOKEN = "tok_0123456789"
MESSAGE = {
    "id": "m1",
    "thread": "ops",
    "seq": 1,
    "position": 7,
    "author": "heron",
    "author_kind": "agent",
    "kind": "text",
    "body": "hi",
    "created_at": "2026-01-01T00:00:00.000Z",
}

Step = httpx2.Response | Exception


def answer(status: int, body: Any, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, json=body, headers=headers)


class Script:
    """A transport that gives its steps one after the other and keeps what was asked."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.asked: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def client_of(script: Callable[[httpx2.Request], httpx2.Response], waits: list[float]) -> DaemonClient:
    retry = RetryPolicy(sleep=waits.append, uniform=lambda _low, high: high)
    transport = httpx2.MockTransport(script)
    return DaemonClient("https://box.test/", TOKEN, "unused.pem", retry=retry, transport=transport)


def run(script: Script, ask: Callable[[DaemonClient], Any]) -> tuple[Any, list[float]]:
    waits: list[float] = []
    with client_of(script, waits) as client:
        return ask(client), waits
