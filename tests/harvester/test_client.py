"""The client against a scripted transport: what is asked, what comes back, when it is asked again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from harvester.client import DaemonClient, RetryPolicy
from harvester.errors import ProtocolError, Refused, Unauthenticated, Unavailable
from messaging import Call, CallRequest, ErrorCode
from messaging.artifacts import sha256_of
from tests.harvester._scripted import MESSAGE, TOKEN, Script, answer, run

OK = {"ok": True, "op": "dm.send", "call_id": "c1", "job_id": "j1", "duration_ms": 2, "result": {"to": "ada"}}
BUSY = {"ok": False, "op": "dm.send", "error": {"code": "BUSY", "message": "all taken", "retryable": True}}


def request(call_id: str | None = "c1", **more: Any) -> CallRequest:
    return CallRequest(call=Call("dm.send", {"to": "ada", "text": "hi"}, call_id), **more)


def test_a_call_carries_token_thread_reply_and_author_and_comes_back_as_a_result() -> None:
    # O-31, O-33
    script = Script(answer(200, OK))
    asked = request(thread="ops", reply="m1", on_behalf_of="heron")
    result, waits = run(script, lambda client: client.call(asked))
    assert (result.ok, result.job_id, result.data, waits) == (True, "j1", {"to": "ada"}, [])
    assert script.asked[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert json.loads(script.asked[0].content)["on_behalf_of"] == "heron"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"ok": False, "op": "", "error": {"code": "UNKNOWN_OP", "message": "no"}}),
        (404, {"type": "about:blank", "title": "no", "status": 404, "code": "UNKNOWN_OP", "detail": "no"}),
    ],
)
def test_a_refused_call_is_a_result_with_its_code_and_raises_nothing(status: int, body: Any) -> None:
    # O-13
    result, _ = run(Script(answer(status, body)), lambda client: client.call(request()))
    assert result.error is not None
    assert (result.op, result.error.code, result.error.message) == ("dm.send", ErrorCode.UNKNOWN_OP, "no")


@pytest.mark.parametrize(("wait_s", "written"), [(0.5, "0.500"), (5e-05, "0.000"), (20, "20")])
def test_a_wait_is_written_in_digits_however_short_it_is(wait_s: float, written: str) -> None:
    script = Script(answer(200, {"events": []}))
    run(script, lambda client: client.job_events("job-1", wait_s=wait_s))
    assert script.asked[0].url.params["wait"] == written


def test_a_busy_daemon_is_asked_again_with_growing_pauses() -> None:
    script = Script(answer(503, BUSY), answer(503, BUSY), answer(200, OK))
    result, waits = run(script, lambda client: client.call(request()))
    assert result.ok
    assert waits == [0.2, 0.4]


def test_retry_after_says_how_long_to_wait() -> None:
    script = Script(answer(429, BUSY, **{"Retry-After": "7"}), answer(200, OK))
    _, waits = run(script, lambda client: client.call(request()))
    assert waits == [7.0]


def test_a_retry_after_beyond_our_patience_gives_the_refusal_at_once() -> None:
    script = Script(answer(429, BUSY, **{"Retry-After": "3600"}))
    result, waits = run(script, lambda client: client.call(request()))
    assert result.error is not None
    assert (result.error.code, waits) == (ErrorCode.BUSY, [])


def test_a_retry_after_that_is_a_date_is_no_number_of_ours() -> None:
    script = Script(answer(429, BUSY, **{"Retry-After": "Fri, 31 Dec 2027 23:59:59 GMT"}), answer(200, OK))
    _, waits = run(script, lambda client: client.call(request()))
    assert waits == [0.2]


def test_the_last_refusal_is_the_result_when_attempts_run_out() -> None:
    script = Script(*[answer(503, BUSY)] * 3)
    result, waits = run(script, lambda client: client.call(request()))
    assert not result.ok
    assert len(waits) == 2


def test_a_call_may_be_asked_for_with_more_patience_than_the_client_has() -> None:
    patience = RetryPolicy(attempts=5, sleep=lambda _wait_s: None)
    script = Script(*[answer(503, BUSY)] * 4, answer(200, OK))
    result, waits = run(script, lambda client: client.call(request(), patience))
    assert (result.ok, waits) == (True, [])


def test_a_stored_refusal_is_not_asked_for_again() -> None:
    script = Script(answer(503, BUSY | {"replayed": True}))
    result, waits = run(script, lambda client: client.call(request()))
    assert result.replayed
    assert waits == []


def test_a_broken_connection_repeats_a_call_that_has_an_id() -> None:
    # O-16: the call id is the idempotency key
    script = Script(httpx2.ReadError("reset"), answer(200, OK))
    result, _ = run(script, lambda client: client.call(request()))
    assert result.ok
    assert script.asked[0].content == script.asked[1].content


def test_a_broken_connection_does_not_repeat_a_call_without_an_id() -> None:
    script = Script(httpx2.ReadError("reset"))
    with pytest.raises(Unavailable):
        run(script, lambda client: client.call(request(None)))
    assert len(script.asked) == 1


def test_a_call_without_an_id_that_never_left_is_sent_again() -> None:
    script = Script(httpx2.ConnectError("refused"), answer(200, OK))
    result, _ = run(script, lambda client: client.call(request(None)))
    assert result.ok


def test_nobody_listening_says_how_to_start_the_daemon() -> None:
    script = Script(*[httpx2.ConnectError("refused")] * 3)
    with pytest.raises(Unavailable, match="box up"):
        run(script, lambda client: client.call(request()))


def test_an_expired_token_is_unauthenticated_also_for_a_call() -> None:
    problem = {"code": "UNAUTHENTICATED", "detail": "token expired", "status": 401}
    for ask in (lambda client: client.call(request()), lambda client: client.threads()):
        with pytest.raises(Unauthenticated, match=r"token expired.*box token create"):
            run(Script(answer(401, problem)), ask)


def test_a_damaged_token_is_refused_before_anything_is_sent_and_never_shown() -> None:
    with pytest.raises(Unauthenticated) as caught:
        DaemonClient("https://box.test", "se\ncret", "unused.pem", transport=httpx2.MockTransport(Script()))
    assert "cret" not in str(caught.value)


def test_a_problem_document_is_refused_with_its_code() -> None:
    problem = {"code": "NOT_FOUND", "title": "Not Found", "detail": "there is no thread 'x'", "status": 404}
    with pytest.raises(Refused, match="there is no thread") as caught:
        run(Script(answer(404, problem)), lambda client: client.thread("x"))
    assert caught.value.error.code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize(
    "strange",
    [
        httpx2.Response(200, text="<html>"),
        httpx2.Response(307, json={}, headers={"Location": "https://evil.test/"}),
        httpx2.Response(200, json=[1]),
        httpx2.Response(200, json={"jobs": []}),
        httpx2.Response(200, json={"threads": [{"id": "x"}]}),
    ],
)
def test_what_is_not_our_api_is_a_protocol_error_and_no_redirect_is_followed(
    strange: httpx2.Response,
) -> None:  # D096
    script = Script(strange)
    with pytest.raises(ProtocolError):
        run(script, lambda client: client.threads())
    assert len(script.asked) == 1


THREAD = {"id": "ops", "title": "Ops", "agent": None, "created_at": "T"}
JOB = {
    "id": "j1",
    "op": "dm.send",
    "args": {},
    "call_id": "c1",
    "identity": "agent/heron",
    "state": "running",
    "created_at": "T",
    "side_effecting": True,
}
OP = {"op": "a.b", "side_effecting": False, "summary": "S.", "args_schema": {}, "example": {}, "aliases": []}

# What is asked of the client, what the daemon answers, how it was asked, and a part of what comes back.
METHODS: list[tuple[Callable[[DaemonClient], Any], Any, str, Callable[[Any], Any], Any]] = [
    (lambda c: c.ops(), {"ops": [OP]}, "GET /ops", lambda got: got[0].name, "a.b"),
    (lambda c: c.op("a.b"), OP, "GET /ops/a.b", lambda got: got.name, "a.b"),
    (lambda c: c.jobs(), {"jobs": [JOB]}, "GET /jobs?limit=50", lambda got: got[0].id, "j1"),
    (lambda c: c.jobs("failed", 2), {"jobs": []}, "GET /jobs?limit=2&state=failed", len, 0),
    (lambda c: c.job("j1"), JOB, "GET /jobs/j1", lambda got: got.state, "running"),
    (lambda c: c.job_events("j1"), {"events": [{"seq": 0}]}, "GET /jobs/j1/events", len, 1),
    (lambda c: c.cancel("j1"), JOB, "POST /jobs/j1/cancel", lambda got: got.id, "j1"),
    (lambda c: c.threads(), {"threads": [THREAD]}, "GET /threads", lambda got: got[0].id, "ops"),
    (lambda c: c.threads("ada"), {"threads": []}, "GET /threads?agent=ada", len, 0),
    (lambda c: c.thread("ops"), THREAD, "GET /threads/ops", lambda got: got.title, "Ops"),
    (lambda c: c.create_thread("ops"), THREAD, "POST /threads", lambda got: got.id, "ops"),
    (
        lambda c: c.messages("ops", 3, 9),
        {"messages": [MESSAGE]},
        "GET /threads/ops/messages?after=3&limit=9",
        lambda got: got[0].body,
        "hi",
    ),
    (lambda c: c.cursor("w"), {"position": 4}, "GET /cursors/w", lambda got: got, 4),
    (lambda c: c.set_cursor("w", 5), {"position": 5}, "PUT /cursors/w", lambda got: got, None),
    (lambda c: c.agents(), {"agents": [{"name": "ada"}]}, "GET /agents", len, 1),
    (lambda c: c.add_agent("ada"), {"name": "ada"}, "POST /agents", lambda got: got["name"], "ada"),
    (lambda c: c.tokens(), {"tokens": []}, "GET /tokens", len, 0),
    (lambda c: c.create_token("agent/ada"), {"token": "x"}, "POST /tokens", lambda got: got["token"], "x"),
    (lambda c: c.revoke_token("t1"), {"id": "t1"}, "DELETE /tokens/t1", lambda got: got["id"], "t1"),
    (lambda c: c.health(), {"status": "ok"}, "GET /healthz", lambda got: got["status"], "ok"),
    (lambda c: c.ready(), {"status": "ready"}, "GET /readyz", lambda got: got["status"], "ready"),
]


@pytest.mark.parametrize(("ask", "body", "asked", "part", "wanted"), METHODS, ids=[row[2] for row in METHODS])
def test_each_method_asks_its_endpoint(
    ask: Callable[[DaemonClient], Any], body: Any, asked: str, part: Callable[[Any], Any], wanted: Any
) -> None:
    # O-80
    script = Script(answer(200, body))
    got, _ = run(script, ask)
    request = script.asked[0]
    assert f"{request.method} {request.url.raw_path.decode()}" == asked
    assert part(got) == wanted


def test_names_are_quoted_in_paths() -> None:
    script = Script(answer(404, {"code": "NOT_FOUND"}))
    with pytest.raises(Refused):
        run(script, lambda client: client.thread("../jobs?x"))
    assert script.asked[0].url.raw_path == b"/threads/..%2Fjobs%3Fx"


def test_a_post_with_a_key_happens_once_and_says_whether_it_was_there_before() -> None:
    script = Script(httpx2.ReadTimeout("slow"), answer(200, MESSAGE))
    posted, _ = run(script, lambda client: client.post_message("ops", "hi", key="result:m0"))
    assert (posted.message.id, posted.replayed) == ("m1", True)
    assert script.asked[1].headers["Idempotency-Key"] == "result:m0"


def test_a_post_without_a_key_is_sent_once() -> None:
    script = Script(httpx2.ReadTimeout("slow"))
    with pytest.raises(Unavailable):
        run(script, lambda client: client.post_message("ops", "hi"))


def test_replies_come_with_the_position_up_to_which_they_were_looked_for() -> None:
    rows = {"replies": [{"position": 7, "message": MESSAGE, "thread": {}}], "position": 9}
    script = Script(answer(200, rows))
    found, _ = run(script, lambda client: client.replies(3, wait_s=20))
    assert ([one.id for one in found.messages], found.position) == (["m1"], 9)
    assert dict(script.asked[0].url.params) == {"after": "3", "wait": "20", "limit": "100"}
    assert script.asked[0].extensions["timeout"]["read"] == 30
    assert script.asked[0].extensions["timeout"]["connect"] == 5


def test_a_dry_run_is_a_result_that_says_what_would_happen() -> None:
    would = {"op": "dm.send", "args": {}, "side_effecting": True}
    script = Script(answer(200, {"ok": True, "dry_run": True, "would": would}))
    result, _ = run(script, lambda client: client.call(request(None, dry_run=True)))
    assert result.data == {"would": would}


def test_an_artifact_is_compared_with_the_hash_that_names_it() -> None:
    # M-84
    right = sha256_of(b"soup")
    content, _ = run(Script(httpx2.Response(200, content=b"soup")), lambda client: client.artifact(right))
    assert content == b"soup"
    with pytest.raises(ProtocolError, match="other content"):
        run(Script(httpx2.Response(200, content=b"stew")), lambda client: client.artifact(right))
    with pytest.raises(Refused):
        run(Script(answer(404, {"code": "NOT_FOUND", "detail": "no"})), lambda client: client.artifact("x/y"))
    with pytest.raises(Unavailable):
        run(Script(httpx2.ReadError("gone")), lambda client: client.artifact(right))
