"""`POST /exec`, `GET /ops` and `/jobs` over real TLS."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from exec_daemon.__main__ import list_ops
from exec_daemon.api.answers import dump
from exec_daemon.api.app import ROWS
from messaging import ERRORS, ErrorCode, Result

JSON = {"content-type": "application/json"}


def code(body: dict[str, Any]) -> str:
    return str(body["error"]["code"] if "error" in body else body["code"])


def test_list_ops_and_tools_list_are_equal_byte_for_byte(daemon: Any) -> None:  # O-51
    printed = subprocess.run(
        [sys.executable, "-m", "exec_daemon", "--list-ops"], capture_output=True, check=True, timeout=60
    ).stdout
    answered = daemon.exec("viewer/v", "tools.list").content
    assert printed == list_ops()
    assert b'"ops":' + printed.strip() in answered


def test_ops_shows_every_op_with_what_the_asker_may(daemon: Any) -> None:  # O-50, O-52
    ops = daemon.client("viewer/v").get("/ops").json()["ops"]
    bare = [{key: value for key, value in op.items() if key != "allowed"} for op in ops]
    assert dump(bare) + b"\n" == list_ops()
    assert {op["op"]: op["allowed"] for op in ops}["dm.send"] is False
    refused = daemon.exec("viewer/v", "dm.send", {"to": "x", "text": "x"})
    assert (refused.status_code, code(refused.json())) == (403, "FORBIDDEN")


def test_one_op_is_found_by_name_and_by_alias(daemon: Any) -> None:  # O-20
    client = daemon.client("operator")
    assert client.get("/ops/dm").json() == client.get("/ops/dm.send").json()
    unknown = client.get("/ops/dm.sned")
    assert (unknown.status_code, code(unknown.json())) == (404, "UNKNOWN_OP")


def test_a_call_answers_with_its_result(daemon: Any) -> None:  # O-31
    answer = daemon.exec("operator", "box.cpu", call_id="cpu-1")
    body = answer.json()
    assert answer.status_code == 200
    assert set(body) == {"ok", "op", "call_id", "job_id", "side_effecting", "duration_ms", "result"}
    assert (body["ok"], body["op"], body["call_id"]) == (True, "box.exec", "cpu-1")
    assert Result.from_json(body).data["action"] == "cpu"
    assert daemon.exec("operator", "box.cpu", call_id="cpu-1").json() == body | {"replayed": True}


def test_refusals_have_the_status_of_their_code(daemon: Any) -> None:  # O-35
    daemon.agent("heron")
    daemon.exec("operator", "tools.list", call_id="dup")
    answers = {
        ErrorCode.INVALID_ARGS: daemon.exec("operator", "dm.send", {"to": 1}),
        ErrorCode.UNKNOWN_OP: daemon.exec("operator", "no.such"),
        ErrorCode.UNKNOWN_ACTION: daemon.exec("operator", "box.exec", {"action": "reboot"}),
        ErrorCode.NOT_FOUND: daemon.exec("operator", "dm.send", {"to": "nobody", "text": "x"}),
        ErrorCode.DUPLICATE_ID: daemon.exec("operator", "dm.read", {"thread": "heron"}, call_id="dup"),
        ErrorCode.TOO_LARGE: daemon.exec("operator", "dm.send", {"to": "heron", "text": "x" * 17000}),
        ErrorCode.FORBIDDEN: daemon.exec("harvester", "tools.list"),
    }
    for expected, answer in answers.items():
        assert (answer.status_code, code(answer.json())) == (ERRORS[expected].http_status, expected)
        assert answer.json()["ok"] is False


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b'{"op":"tools.list"}x',
        b'{"op":"tools.list","op":"dm.read"}',
        b'{"op":"tools.list","args":{"a":NaN}}',
        b'{"op":"tools.list","args":{"a":1e999}}',
        b'{"op":"tools.list","args":{"a":"\\ud800"}}',
        b'{"op":"tools.list","args":' + b"[" * 100 + b"]" * 100 + b"}",
        b'{"op":"tools.list","args":{"a":' + b"9" * 5000 + b"}}",
        b'{"op":"\xff"}',
        b'{"op":5}',
        b'{"op":""}',
        b'{"args":{}}',
        b'{"op":"tools.list","args":[]}',
        b'{"op":"tools.list","call_id":""}',
        b'{"op":"tools.list","call_id":"a b"}',
        b'{"op":"tools.list","dry_run":1}',
        b'{"op":"tools.list","identity":"operator/local"}',
        b'{"op":"tools.list","on_behalf_of":"heron"}',
    ],
)
def test_a_malformed_body_is_a_typed_400(daemon: Any, body: bytes) -> None:
    answer = daemon.client("operator").post("/exec", content=body, headers=JSON)
    assert (answer.status_code, code(answer.json())) == (400, "INVALID_REQUEST")
    assert answer.json()["error"]["message"]


def test_a_body_that_is_too_large_is_refused_announced_or_not(daemon: Any) -> None:  # D050
    client, body = daemon.client("operator"), b'{"op":"' + b"x" * 400_000 + b'"}'
    announced = client.post("/exec", content=body, headers=JSON)
    chunked = client.post("/exec", content=iter([body]), headers=JSON)
    for answer in (announced, chunked):
        assert (answer.status_code, code(answer.json())) == (413, "TOO_LARGE")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer wrong", "Basic b3BlcmF0b3I6eA==", "bearer  x  y"]
)
def test_without_a_valid_token_there_is_no_identity(daemon: Any, header: str | None) -> None:  # O-33 D078
    with daemon.bearing(None) as client:
        headers = {"authorization": header} if header is not None else {}
        for row in ROWS:
            answer = client.request(
                row.method, row.path.format(id="x", op="x", name="x", sha256="x"), headers=headers
            )
            assert (answer.status_code, code(answer.json())) == (401, "UNAUTHENTICATED")
            assert answer.headers["www-authenticate"].startswith("Bearer")


def test_two_authorization_fields_are_refused(daemon: Any) -> None:  # D064
    token = daemon.token("operator")
    with daemon.bearing(None) as client:
        fields = [("authorization", f"Bearer {token}"), ("authorization", "Bearer x")]
        assert client.get("/ops", headers=fields).status_code == 400


def test_a_dry_run_says_what_would_be_called_and_calls_nothing(daemon: Any) -> None:  # O-31
    daemon.agent("dry")
    answer = daemon.exec("operator", "tell", {"agent": "dry", "msg": "x"}, dry_run=True)
    would = {"op": "dm.send", "args": {"to": "dry", "text": "x"}, "side_effecting": True}
    assert answer.json() == {"ok": True, "dry_run": True, "would": would}
    assert daemon.client("operator").get("/threads/dry/messages").json()["messages"] == []


def test_a_caller_that_asks_not_to_wait_is_shown_where_the_job_is(daemon: Any) -> None:
    client = daemon.client("operator")
    body = {"op": "box.exec", "args": {"action": "cpu"}}
    answer = client.post("/exec", json=body, headers={"prefer": "respond-async"})
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/jobs/{answer.json()['job_id']}"
    with client.stream(
        "GET", answer.headers["location"] + "/events", headers={"accept": "text/event-stream"}
    ) as events:
        text = "".join(events.iter_text())
    assert "event: accepted" in text
    assert "event: succeeded" in text
    job = client.get(answer.headers["location"]).json()
    assert (job["state"], job["op"]) == ("succeeded", "box.exec")
    steps = client.get(answer.headers["location"] + "/events").json()["events"]
    assert [step["type"] for step in steps] == ["accepted", "succeeded"]


def test_a_stream_of_a_job_whose_end_the_client_has_is_over(daemon: Any) -> None:
    job = daemon.exec("operator", "tools.list").json()["job_id"]
    headers = {"accept": "text/event-stream", "last-event-id": "1"}
    assert daemon.client("operator").get(f"/jobs/{job}/events", headers=headers).status_code == 204


def test_a_preference_to_wait_is_met_by_a_quick_job(daemon: Any) -> None:
    body = {"op": "tools.list"}
    answer = daemon.client("operator").post("/exec", json=body, headers={"prefer": "respond-async, wait=10"})
    assert answer.status_code == 200


def test_an_agent_sees_its_own_jobs_and_foreign_ones_are_missing(daemon: Any) -> None:  # O-46
    daemon.agent("owl")
    daemon.agent("kite")
    job = daemon.exec("agent/owl", "tools.list").json()["job_id"]
    owl, kite = daemon.client("agent/owl"), daemon.client("agent/kite")
    assert [row["id"] for row in owl.get("/jobs").json()["jobs"]] == [job]
    assert kite.get("/jobs").json()["jobs"] == []
    for path, method in (
        (f"/jobs/{job}", "GET"),
        (f"/jobs/{job}/events", "GET"),
        (f"/jobs/{job}/cancel", "POST"),
    ):
        foreign = kite.request(method, path)
        missing = kite.request(method, path.replace(job, "job-0"))
        assert foreign.status_code == missing.status_code == 404
        assert foreign.json()["detail"].replace(job, "X") == missing.json()["detail"].replace("job-0", "X")


def test_jobs_can_be_listed_by_state(daemon: Any) -> None:
    client = daemon.client("operator")
    daemon.exec("operator", "dm.send", {"to": "nobody", "text": "x"})
    failed = client.get("/jobs", params={"state": "failed", "limit": 1}).json()["jobs"]
    assert [job["state"] for job in failed] == ["failed"]
    assert client.get("/jobs", params={"state": "asleep"}).status_code == 400
    assert client.get("/jobs", params={"limit": "-1"}).status_code == 400


def test_cancelling_a_job_that_has_ended_changes_nothing(daemon: Any) -> None:
    job = daemon.exec("operator", "tools.list").json()["job_id"]
    answer = daemon.client("operator").post(f"/jobs/{job}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (200, "succeeded")


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nope", 404), ("DELETE", "/ops", 405)])
def test_what_the_api_does_not_have_is_a_problem_document(
    daemon: Any, method: str, path: str, status: int
) -> None:
    answer = daemon.client("operator").request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"type", "title", "status", "detail", "code", "retryable", "details"}


def test_errors_of_a_call_name_no_file_of_the_daemon(daemon: Any) -> None:  # D138
    for answer in (
        daemon.exec("operator", "box.exec", {"action": "logs", "arg": "no-such-unit"}),
        daemon.client("operator").get("/jobs/%00"),
        daemon.client("operator").get("/threads/" + "x" * 3000),
    ):
        assert str(daemon.home) not in answer.text
        assert "Traceback" not in answer.text


def test_a_call_cannot_be_hung_on_a_thread_that_the_caller_does_not_see(daemon: Any) -> None:  # O-46
    for name in ("heron", "falke"):
        daemon.agent(name)
    for who, thread, status in (
        ("agent/falke", "heron", 404),
        ("agent/falke", "nowhere\0", 400),
        ("agent/falke", "falke", 200),
        ("operator", "heron", 200),
        ("operator", "nowhere", 404),
    ):
        assert daemon.exec(who, "tools.list", thread=thread).status_code == status
