"""Streams and polls over real TLS: what is there, what comes, and an end with the token that opened them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from math import ceil
from typing import Any

from tests.exec_daemon.conftest import post
from tests.patience import in_time, meanwhile


def events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line[6:])


def test_a_stream_shows_what_is_there_and_what_comes(daemon: Any, thread: str) -> None:
    client = daemon.client("operator")
    post(client, thread, "before")
    with client.stream("GET", f"/threads/{thread}/stream") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        found = events(stream.iter_lines())
        assert next(found)["body"] == "before"
        with meanwhile(0.05, lambda: post(daemon.client("harvester"), thread, "after")):
            assert next(found)["body"] == "after"


def test_a_stream_goes_on_where_the_client_was(daemon: Any, thread: str) -> None:
    client = daemon.client("operator")
    for number in range(3):
        post(client, thread, str(number))
    with client.stream("GET", f"/threads/{thread}/stream", headers={"last-event-id": "2"}) as stream:
        assert next(events(stream.iter_lines()))["body"] == "2"
    with client.stream("GET", f"/threads/{thread}/stream", params={"after": 1}) as stream:
        assert next(events(stream.iter_lines()))["body"] == "1"
    for wrong in ("x", "--1", "1.0", "9" * 19):
        assert client.get(f"/threads/{thread}/stream", headers={"last-event-id": wrong}).status_code == 400


def test_hostile_text_stays_inside_its_event(daemon: Any, thread: str) -> None:
    body = "a\n\nevent: message\ndata: {}\r\n\r\n: x\u2028"
    post(daemon.client("operator"), thread, body)
    with daemon.client("operator").stream("GET", f"/threads/{thread}/stream") as stream:
        assert next(events(stream.iter_lines()))["body"] == body


def test_a_harvester_can_wait_for_the_next_reply(daemon: Any, thread: str) -> None:
    harvester = daemon.client("harvester")
    before = harvester.get("/replies", params={"limit": 200}).json()["position"]
    began = time.monotonic()
    with meanwhile(0.1, lambda: post(daemon.client("operator"), thread, "late", **{"as": "heron"})):
        page = harvester.get("/replies", params={"after": before, "wait": 30}).json()
    assert [row["message"]["body"] for row in page["replies"]] == ["late"]
    assert time.monotonic() - began < 29
    assert harvester.get("/replies", params={"wait": "soon"}).status_code == 400


def told_after(daemon: Any, thread: str, token: str, end: Callable[[], Any]) -> list[str]:
    """The lines of a stream whose token comes to an end; none where it had ended before."""
    with daemon.bearing(token) as client, client.stream("GET", f"/threads/{thread}/stream") as stream:
        lines = stream.iter_lines()
        if (first := next(lines)) != ": keep-alive":
            return []
        end()
        post(daemon.client("operator"), thread, "not for you")
        return [first, *lines]


def test_a_stream_ends_with_its_token_when_that_is_revoked(daemon: Any, thread: str) -> None:  # O-33
    operator = daemon.client("operator")
    made = operator.post("/tokens", json={"identity": "agent/heron"}).json()
    told = told_after(daemon, thread, made["token"], lambda: operator.delete(f"/tokens/{made['id']}"))
    assert told
    assert "not for you" not in "".join(told)


def test_a_stream_ends_with_its_token_when_that_expires(daemon: Any, thread: str) -> None:  # O-33
    def told_for(life_s: float) -> list[str]:
        order = {"identity": "agent/heron", "ttl_s": ceil(life_s)}
        token = daemon.client("operator").post("/tokens", json=order).json()["token"]
        return told_after(daemon, thread, token, lambda: time.sleep(ceil(life_s) + 0.1))

    told = in_time(told_for, bool)
    assert told
    assert "not for you" not in "".join(told)


def test_a_poll_tells_nothing_to_a_token_that_was_revoked_meanwhile(daemon: Any, thread: str) -> None:  # O-33
    operator = daemon.client("operator")
    made = operator.post("/tokens", json={"identity": "harvester/brief"}).json()

    def revoke_and_reply() -> None:
        operator.delete(f"/tokens/{made['id']}")
        post(operator, thread, "not for you", **{"as": "heron"})

    with daemon.bearing(made["token"]) as client:
        before = client.get("/replies", params={"limit": 200}).json()["position"]
        with meanwhile(0.3, revoke_and_reply):
            answer = client.get("/replies", params={"after": before, "wait": 8})
    assert (answer.status_code, "not for you" in answer.text) == (401, False)
