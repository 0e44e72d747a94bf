"""The receiver of job events over real TLS (M-50 to M-56)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messaging import EventType, JobEvent, read_event, sign, webhook_headers
from messaging.sinks import Callback, CallbackSink
from tests.messaging._events import event, story
from tests.patience import meanwhile

NUMBERS = count()


def nobody(daemon: Any) -> httpx2.Client:
    """A client without a token; the daemon closes it when it stops."""
    if "nobody" not in daemon.clients:
        daemon.clients["nobody"] = daemon.bearing(None)
    client: httpx2.Client = daemon.clients["nobody"]
    return client


class Expected:
    """A job that runs elsewhere, and its program's side of the talk."""

    def __init__(self, daemon: Any, job_id: str | None = None) -> None:
        self.client: httpx2.Client = nobody(daemon)
        self.operator: httpx2.Client = daemon.client("operator")
        made = self.operator.post("/callback", json={"job_id": job_id} if job_id else {})
        assert made.status_code == 201, made.text
        self.job_id: str = made.json()["job_id"]
        self.secret: str = made.json()["secret"]
        self.url: str = made.json()["url"]

    def send(self, one: JobEvent | bytes, **headers: str) -> httpx2.Response:
        body = one if isinstance(one, bytes) else one.encode()
        signed = {"x-signature": sign(self.secret, body)} | headers
        return self.client.post(f"/callback/{self.job_id}", content=body, headers=signed)

    def event(self, seq: int, kind: EventType = EventType.PROGRESS, **payload: Any) -> JobEvent:
        return event(seq, kind, job_id=self.job_id, **payload)

    def events(self, **query: Any) -> list[JobEvent]:
        answer = self.operator.get(f"/jobs/{self.job_id}/events", params=query)
        return [read_event(one) for one in answer.json()["events"]]

    def job(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.operator.get(f"/jobs/{self.job_id}").json()
        return shown


@pytest.fixture
def expected(daemon: Any) -> Expected:
    return Expected(daemon, f"tool-{next(NUMBERS)}")


def test_an_event_is_kept_and_answered_202(expected: Expected) -> None:  # M-50, M-54
    told = story(3, expected.job_id)
    for one in told:
        answer = expected.send(one, **{"idempotency-key": one.key})
        assert answer.status_code == 202, answer.text
        assert answer.json() == {"job_id": expected.job_id, "seq": one.seq, "state": "stored"}
    assert expected.events() == told
    job = expected.job()
    assert (job["op"], job["state"], job["result"]) == ("outside", "succeeded", told[2].payload["result"])


def test_a_failure_is_the_jobs_error(expected: Expected) -> None:
    expected.send(expected.event(0, EventType.FAILED, code="usage", message="no URL"))
    job = expected.job()
    assert (job["state"], job["error"], job["result"]) == (
        "failed",
        {"code": "usage", "message": "no URL"},
        None,
    )


def test_only_post_is_taken(expected: Expected) -> None:  # M-50
    for method in ("GET", "PUT", "DELETE"):
        assert expected.client.request(method, f"/callback/{expected.job_id}").status_code == 405


@pytest.mark.parametrize("signature", ["", "sha256=" + "0" * 64, "x", sign("other", event(0).encode())])
def test_a_wrong_signature_is_refused(expected: Expected, signature: str) -> None:  # M-50
    assert (
        expected.send(expected.event(0, EventType.ACCEPTED), **{"x-signature": signature}).status_code == 401
    )
    assert expected.events() == []


def test_a_job_cannot_speak_for_another(daemon: Any, expected: Expected) -> None:  # M-50
    other = Expected(daemon)
    body = other.event(0, EventType.ACCEPTED).encode()
    assert other.send(body, **{"x-signature": sign(expected.secret, body)}).status_code == 401


def test_without_the_secret_one_does_not_learn_which_jobs_exist(daemon: Any, expected: Expected) -> None:
    known = expected.client.post(f"/callback/{expected.job_id}", content=b"{}")
    unknown = expected.client.post("/callback/no-such-job", content=b"{}")
    assert (known.status_code, known.json()) == (unknown.status_code, unknown.json())


def test_standard_webhooks_are_a_signature_too(expected: Expected) -> None:
    body = expected.event(0, EventType.ACCEPTED).encode()
    fresh = webhook_headers(expected.secret, "m-1", int(time.time()), body)
    stale = webhook_headers(expected.secret, "m-1", int(time.time()) - 400, body)
    path = f"/callback/{expected.job_id}"
    assert expected.client.post(path, content=body, headers=stale).status_code == 401
    assert expected.client.post(path, content=body, headers=fresh).status_code == 202


BAD = [
    b"",
    b"[]",
    b"{",
    b'{"type":"accepted"}',
    b'{"a":NaN}',
    b"\xff",
    event(0).encode().replace(b"progress", b"done"),
]


@pytest.mark.parametrize("body", BAD)
def test_what_is_no_event_is_refused(expected: Expected, body: bytes) -> None:  # M-52
    answer = expected.send(body)
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_REQUEST")


def test_an_event_has_a_largest_size(expected: Expected) -> None:  # M-52
    large = expected.event(0, EventType.SUCCEEDED, result="x" * 1024 * 1024)
    assert expected.send(large).status_code == 413


def test_a_job_has_a_largest_number_of_events(expected: Expected) -> None:
    assert expected.send(expected.event(99_999)).status_code == 202
    assert expected.send(expected.event(100_000)).status_code == 413


def test_the_path_says_which_job_it_is(expected: Expected) -> None:  # M-51
    assert expected.send(event(0, EventType.ACCEPTED, job_id="another")).status_code == 409
    assert expected.events() == []


def test_a_job_that_nobody_expects_is_not_found(daemon: Any, expected: Expected) -> None:  # M-52
    class Unexpected(Expected):
        def __init__(self) -> None:
            self.client, self.job_id = expected.client, "gone"
            made = daemon.home / "callback.key"
            from exec_daemon.access.callback_secret import secret_from

            self.secret = secret_from(made.read_bytes())("gone")

    assert Unexpected().send(event(0, EventType.ACCEPTED, job_id="gone")).status_code == 404


def test_the_same_again_is_answered_alike_and_another_body_is_a_conflict(expected: Expected) -> None:  # M-53
    one = expected.event(0, EventType.ACCEPTED)
    assert expected.send(one).json()["state"] == "stored"
    again = expected.send(one)
    assert (again.status_code, again.json()["state"]) == (202, "replayed")
    other = expected.send(expected.event(0, EventType.ACCEPTED, url="other"))
    assert (other.status_code, other.json()["code"]) == (409, "DUPLICATE_ID")
    assert expected.events() == [one]


def test_a_key_that_is_not_the_events_is_refused(expected: Expected) -> None:  # M-53
    assert (
        expected.send(expected.event(0, EventType.ACCEPTED), **{"idempotency-key": "x:9"}).status_code == 400
    )


def test_nothing_is_taken_behind_the_end(expected: Expected) -> None:  # M-11
    expected.send(expected.event(0, EventType.FAILED))
    assert expected.send(expected.event(1, EventType.WARNING)).status_code == 409


def test_events_are_told_in_order_whatever_the_order_in_which_they_come(expected: Expected) -> None:  # M-55
    told = story(4, expected.job_id)
    for number, known in ((3, 0), (1, 0), (0, 2), (2, 4)):
        expected.send(told[number])
        assert expected.events() == told[:known]
    assert "incomplete" not in expected.job()


def test_a_job_elsewhere_is_in_the_list_of_jobs(daemon: Any, expected: Expected) -> None:
    def listed(who: str, **query: str) -> list[str]:
        found = daemon.client(who).get("/jobs", params=query).json()["jobs"]
        return [one["id"] for one in found]

    assert listed("operator")[0] == expected.job_id
    assert expected.job_id in listed("operator", state="running")
    assert expected.job_id not in listed("operator", state="succeeded")
    assert expected.job_id not in listed("agent/x")


def test_only_operators_expect_jobs(daemon: Any) -> None:
    assert daemon.client("viewer/x").post("/callback", json={}).status_code == 403
    assert nobody(daemon).post("/callback", json={}).status_code == 401


def test_an_id_is_given_once(daemon: Any, expected: Expected) -> None:
    taken = daemon.client("operator").post("/callback", json={"job_id": expected.job_id})
    assert (taken.status_code, taken.json()["code"]) == (409, "DUPLICATE_ID")


def test_who_waits_gets_the_next_event_when_it_comes(expected: Expected) -> None:  # M-56
    first, second, last = story(3, expected.job_id)
    expected.send(first)
    began_s = time.monotonic()
    with meanwhile(0.2, lambda: [expected.send(second), expected.send(last)]):
        assert expected.events(after=0, wait=30)[0] == second
    assert time.monotonic() - began_s < 29
    assert expected.events(after=2, wait=20) == []


def test_a_stream_begins_at_the_first_event_and_ends_with_the_job(expected: Expected) -> None:  # M-56
    told = story(3, expected.job_id)
    for one in told:
        expected.send(one)
    headers = {"accept": "text/event-stream"}
    text = expected.operator.get(f"/jobs/{expected.job_id}/events", headers=headers).text
    assert [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")] == [
        one.to_json() for one in told
    ]


def test_a_job_elsewhere_cannot_be_stopped_here(expected: Expected) -> None:
    assert expected.operator.post(f"/jobs/{expected.job_id}/cancel").status_code == 400


def test_what_was_answered_202_survives_a_restart(start_daemon: Callable[..., Any]) -> None:  # M-54
    running = start_daemon()
    job = Expected(running)
    job.send(job.event(0, EventType.ACCEPTED))
    running.stop()
    again = start_daemon()
    job.client = nobody(again)
    job.operator = again.client("operator")
    assert job.events() == [job.event(0, EventType.ACCEPTED)]
    assert job.send(job.event(1, EventType.SUCCEEDED)).status_code == 202  # the secret is still the same


values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.lists(st.text(), max_size=2)
)
documents = st.fixed_dictionaries(
    {
        "job_id": st.just("fuzzed") | values,
        "seq": st.integers(0, 20) | values,
        "ts": st.just("2026-11-30T12:00:00.000Z") | values,
        "type": st.sampled_from(sorted(EventType)) | values,
    },
    optional=dict.fromkeys(("url", "stage", "pct", "message", "result", "artifacts", "code", "x"), values),
)


@pytest.fixture(scope="module")
def told_anything(daemon: Any) -> Expected:
    return Expected(daemon, "fuzzed")


@settings(max_examples=200)
@given(documents)
def test_whatever_is_signed_is_kept_or_refused_by_name(
    told_anything: Expected, document: dict[str, Any]
) -> None:
    answer = told_anything.send(json.dumps(document).encode())
    assert answer.status_code in (202, 400, 409)
    if answer.status_code == 202:
        read_event(document)
    numbers = [one.seq for one in told_anything.events()]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("name", ["%ff", "%ED%A0%80", "%00", "x" * 3000, "..", "%2e%2e", "a%2fb", "é", "%20"])
def test_a_path_that_names_no_job_is_refused_like_any_other(daemon: Any, name: str) -> None:
    answer = nobody(daemon).post(f"/callback/{name}", json={})
    assert answer.status_code in (401, 404, 405)


async def test_our_own_sink_is_understood(daemon: Any, expected: Expected) -> None:  # M-26, M-36, M-50
    for webhooks in (False, True):
        sink = CallbackSink(
            Callback(
                url=expected.url,
                secret=expected.secret,
                ca_file=daemon.home / "ca.pem",
                standard_webhooks=webhooks,
            )
        )
        for one in story(4, expected.job_id):
            await sink.emit(one)
        await sink.close()
    assert expected.events() == story(4, expected.job_id)


def test_every_event_of_a_job_here_reads_as_an_event(daemon: Any) -> None:  # M-01 to M-09
    good = daemon.exec("operator", "tools.list").json()
    bad = daemon.exec("operator", "dm.send", {"to": "nobody", "text": "x"}).json()
    for made in (good, bad):
        answer = daemon.client("operator").get(f"/jobs/{made['job_id']}/events")
        kinds = [read_event(one).type for one in answer.json()["events"]]
        assert kinds == [EventType.ACCEPTED, EventType.SUCCEEDED if made["ok"] else EventType.FAILED]
