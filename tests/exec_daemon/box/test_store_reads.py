"""The reads of the store, within the scope of who asks (O-46)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exec_daemon.box import BoxContext, BoxError, Scope, read
from exec_daemon.box.ports import UsageFacts
from messaging import CallError, ErrorCode
from tests.exec_daemon.box.conftest import logs_of

HERON = Scope("agent/heron")


@pytest.fixture
def heron(context: BoxContext) -> BoxContext:
    return replace(context, scope=HERON)


def failure(action: str, arg: str, context: BoxContext) -> CallError:
    with pytest.raises(BoxError) as caught:
        read(action, arg, context)
    return caught.value.error


def test_an_operator_sees_all_jobs_and_threads(context: BoxContext) -> None:  # O-46
    jobs = read("jobs", None, context)["data"]
    assert [job["id"] for job in jobs["open"]] == ["job-open"]
    assert [(job["id"], job["verdict"], job["error"]) for job in jobs["ended"]] == [
        ("job-heron", "PASS", None),
        ("job-crane", None, "TIMEOUT"),
    ]
    assert [each["id"] for each in read("threads", None, context)["data"]["threads"]] == ["heron", "crane"]


def test_an_agent_sees_its_own_jobs_and_threads_only(heron: BoxContext) -> None:  # O-46
    assert "crane" not in str(read("jobs", None, heron))
    assert [each["id"] for each in read("threads", None, heron)["data"]["threads"]] == ["heron"]


@pytest.mark.parametrize(("action", "foreign"), [("job", "job-crane"), ("thread", "crane")])
def test_a_foreign_id_and_a_missing_one_answer_alike(
    action: str, foreign: str, heron: BoxContext
) -> None:  # O-46
    other, missing = failure(action, foreign, heron), failure(action, "nothing", heron)
    assert other.code is missing.code is ErrorCode.NOT_FOUND
    assert other.message.replace(foreign, "nothing") == missing.message
    assert other.details == missing.details


def test_one_job_is_shown_with_its_events(heron: BoxContext) -> None:
    data = read("job", "job-heron", heron)["data"]
    assert data["job"]["result"] == {"verdict": "PASS"}
    assert [event["type"] for event in data["events"]] == ["accepted"]


def test_one_thread_is_shown_with_its_last_messages(heron: BoxContext, facts) -> None:
    document = read("thread", "heron", heron)
    assert [message["body"] for message in document["data"]["messages"]] == ["message 1", "message 2"]
    assert "truncated" not in document
    facts.thread_facts = [replace(facts.thread_facts[0], last_seq=99)]
    assert read("thread", "heron", heron)["truncated"]


def test_agents_are_listed_for_everybody_and_detailed_for_themselves(
    heron: BoxContext, facts
) -> None:  # O-46
    facts.usage_facts = [
        UsageFacts(agent="heron", model="m", tokens_today=1, tokens_7d=2, usd_today=0.1, usd_7d=0.2)
    ]
    assert [each["name"] for each in read("agents", None, heron)["data"]["agents"]] == ["heron", "crane"]
    own = read("agent", "heron", heron)["data"]
    assert own["agent"]["permissions"] == ["box.exec", "dm.*"]
    assert own["usage"][0]["tokens_7d"] == 2
    assert [job["id"] for job in own["recent_jobs"]] == ["job-heron"]
    other = read("agent", "crane", heron)
    assert set(other["data"]) == {"available", "agent"}
    assert other["notes"]


def test_an_unknown_agent_worker_or_timer_is_not_found(context: BoxContext) -> None:
    for action in ("agent", "worker", "timer"):
        assert failure(action, "nobody", context).code is ErrorCode.NOT_FOUND


def test_a_timer_is_found_by_id_and_by_name_with_its_runs(context: BoxContext) -> None:
    by_name, by_id = (read("timer", key, context)["data"]["timer"] for key in ("nightly", "t1"))
    assert by_name == by_id
    assert by_name["runs"] == [{"at": "2026-12-01T09:00:00.000Z", "verdict": "PASS", "job": None}]
    (listed,) = read("timers", None, context)["data"]["timers"]
    assert not {"runs", "definition"} & set(listed)


def test_subsystems_that_a_daemon_lacks_are_unavailable_not_errors(
    context: BoxContext, facts
) -> None:  # O-45
    facts.worker_facts = facts.timer_facts = None
    for action, arg in (
        ("workers", None),
        ("worker", "w1"),
        ("timers", None),
        ("timer", "t"),
        ("usage", None),
    ):
        document = read(action, arg, context)
        assert document["data"]["available"] is False
        assert document["notes"]


def test_queue_usage_and_workers_are_shown_as_they_are(context: BoxContext, facts) -> None:
    facts.usage_facts = []
    assert read("queue", None, context)["data"]["running_jobs"] == 1
    assert read("usage", None, context)["data"] == {"available": True, "usage": []}
    assert read("workers", None, context)["data"]["workers"][0]["id"] == "w1"


def test_errors_come_from_the_store_and_from_our_log(context: BoxContext) -> None:
    (logs_of(context) / "daemon.log").write_text("INFO fine\nERROR disk token=CANARYCANARY\nINFO no errors\n")
    data = read("errors", None, context)["data"]
    assert [error["code"] for error in data["errors"]] == ["TIMEOUT"]
    assert data["lines"] == ["ERROR disk token=[REDACTED]"]


@pytest.mark.parametrize(
    ("identity", "agent"),
    [(None, None), ("agent/heron", "heron"), ("worker/w1", None), ("viewer/x", None), ("", None)],
)
def test_only_an_agents_identity_names_an_agent(identity: str | None, agent: str | None) -> None:  # O-46
    assert Scope(identity).agent == agent
    assert Scope(identity).covers_agent("heron") == (identity in (None, "agent/heron"))
