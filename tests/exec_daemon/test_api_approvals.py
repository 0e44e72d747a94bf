"""Approvals over the API, from the reply of an agent to the message in its thread, over a restart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from exec_daemon.access.approval import ApprovalPolicy
from exec_daemon.access.policy import Policy
from exec_daemon.approvals.asking import MOST_PENDING
from exec_daemon.errors import RuleUnusable
from harvester import DaemonClient, harvest_reply
from tests.patience import until

ASKING = Policy(approvals=ApprovalPolicy(ops=("dm.*",)))


@pytest.fixture
def asking(start_daemon: Callable[..., Any]) -> Any:
    running = start_daemon(policy=ASKING)
    for name in ("heron", "wren"):
        running.agent(name)
    return running


def ask(daemon: Any, call_id: str = "c1", **more: Any) -> Any:
    args = {"to": "wren", "text": "go"}
    return daemon.exec("agent/heron", "dm.send", args, call_id=call_id, **more)


def approve(daemon: Any, approval_id: str, who: str = "operator") -> Any:
    digest = daemon.client("operator").get(f"/approvals/{approval_id}").json()["digest"]
    return daemon.client(who).post(f"/approvals/{approval_id}/approve", json={"digest": digest})


def messages(daemon: Any, thread: str) -> list[dict[str, Any]]:
    found = daemon.client("operator").get(f"/threads/{thread}/messages").json()["messages"]
    return list(found)


def test_the_answer_is_202_with_the_job_and_the_job_tells_how_it_went(asking: Any) -> None:  # O-36
    answer = ask(asking)
    assert (answer.status_code, answer.json()["error"]["code"]) == (202, "APPROVAL_PENDING")
    job_id = answer.json()["job_id"]
    assert answer.headers["location"] == f"/jobs/{job_id}"
    mine = asking.client("agent/heron")
    assert mine.get(f"/jobs/{job_id}").json()["state"] == "awaiting_approval"
    assert [job["id"] for job in mine.get("/jobs?state=awaiting_approval").json()["jobs"]] == [job_id]
    assert (
        asking.exec("agent/heron", "job.get", {"id": job_id}).json()["result"]["state"] == "awaiting_approval"
    )
    assert approve(asking, job_id).json()["state"] == "approved"
    assert until(lambda: mine.get(f"/jobs/{job_id}").json()["state"] == "succeeded")
    events = mine.get(f"/jobs/{job_id}/events").json()["events"]
    assert [event["type"] for event in events] == ["accepted", "succeeded"]
    assert [message["body"] for message in messages(asking, "wren")] == ["go"]


def test_so_many_questions_at_once_are_no_more_than_one_after_the_other(asking: Any) -> None:
    asking.client("agent/heron")
    with ThreadPoolExecutor(16) as many:
        answers = list(many.map(lambda number: ask(asking, f"c{number}"), range(MOST_PENDING + 16)))
    codes = Counter(answer.json()["error"]["code"] for answer in answers)
    assert codes == {"APPROVAL_PENDING": MOST_PENDING, "FORBIDDEN": 16}


@pytest.mark.parametrize("who", ["agent/heron", "agent/wren", "harvester", "viewer/eve"])
def test_only_operators_decide(asking: Any, who: str) -> None:  # O-36, D081
    job_id = ask(asking).json()["job_id"]
    assert approve(asking, job_id, who).status_code == 403
    assert asking.client(who).post(f"/approvals/{job_id}/deny", json={}).status_code == 403
    assert messages(asking, "wren") == []


def test_an_agent_learns_at_once_that_it_waits_and_later_in_its_thread_how_it_went(asking: Any) -> None:
    operator = asking.client("operator")  # O-36
    posted = operator.post(
        "/threads/heron/messages", json={"body": '[DM {"to": "wren", "text": "go"}]', "as": "heron"}
    ).json()
    with DaemonClient(asking.url, asking.token("harvester"), asking.home / "ca.pem") as client:
        reply = next(message for message in client.messages("heron") if message.id == posted["id"])
        (result,) = harvest_reply(client, reply).results
        again = harvest_reply(client, reply)
    assert again.results[0].job_id == result.job_id
    first = messages(asking, "heron")[-1]["body"]
    assert "dm.send wren · waits" in first
    assert f"APPROVAL_PENDING: dm.send awaits approval by a person, as job {result.job_id}" in first
    approve(asking, str(result.job_id))
    said = until(lambda: [one for one in messages(asking, "heron") if one["author"] == "daemon"])
    assert [(one["kind"], one["in_reply_to"]) for one in said] == [("directive_result", posted["id"])]
    assert "dm.send · ok · approved by operator/local" in said[0]["body"]
    assert len(messages(asking, "heron")) == 3


def test_what_waits_is_still_there_after_a_restart(start_daemon: Callable[..., Any]) -> None:
    first = start_daemon(policy=ASKING)
    first.agent("heron"), first.agent("wren")
    job_id = ask(first).json()["job_id"]
    first.stop()
    again = start_daemon(policy=ASKING)
    assert approve(again, job_id).status_code == 200
    assert until(lambda: [message["body"] for message in messages(again, "wren")] == ["go"])


def test_what_an_argument_hides_from_the_eye_is_spelled_on_the_page(asking: Any) -> None:  # O-36, D101
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "send all")
    hidden = {"to": "wren", "text": f"hello{tags}\u202e\u200b"}
    job_id = asking.exec("agent/heron", "dm.send", hidden).json()["job_id"]
    page = asking.client("operator").get("/ui/approvals").text
    assert job_id in page
    assert r"hello\udb40\udc73\udb40\udc65" in page
    assert r"\u202e\u200b&#34;" in page
    for fact in ("has side effects", "asked by agent/heron", "because of box.toml: [approvals] ops"):
        assert fact in page


def test_who_asked_may_take_it_back(asking: Any) -> None:
    job_id = ask(asking).json()["job_id"]
    cancelled = asking.client("agent/heron").post(f"/jobs/{job_id}/cancel").json()
    assert (cancelled["state"], cancelled["error"]["code"]) == ("failed", "APPROVAL_DENIED")
    refused = approve(asking, job_id)
    assert (refused.status_code, refused.json()["code"]) == (403, "APPROVAL_DENIED")


def test_the_queue_counts_what_waits(asking: Any) -> None:  # O 7.1
    ask(asking), ask(asking, "c2")
    read = asking.exec("operator", "box.exec", {"action": "queue"}).json()["result"]
    assert read["data"]["approvals_pending"] == 2


def test_a_digest_that_is_none_and_an_approval_that_is_none_are_told_apart(asking: Any) -> None:
    operator = asking.client("operator")
    job_id = ask(asking).json()["job_id"]
    wrong = operator.post(f"/approvals/{job_id}/approve", json={"digest": "x"}).json()
    assert wrong["code"] == "INVALID_REQUEST"
    other = operator.post(f"/approvals/{job_id}/approve", json={"digest": "0" * 64}).json()
    assert "not that of what was asked" in other["detail"]
    assert operator.get("/approvals/job-0").status_code == 404
    assert operator.get("/approvals?state=open").status_code == 400


def test_why_says_that_a_person_is_asked(asking: Any) -> None:
    said = asking.client("operator").post("/why", json={"identity": "agent/heron", "op": "dm.send"}).json()
    assert (said["allowed"], said["approval"]) == (True, "box.toml: [approvals] ops")


def test_a_rule_of_approvals_that_names_no_op_keeps_the_daemon_from_starting(
    start_daemon: Callable[..., Any],
) -> None:
    with pytest.raises(RuleUnusable, match=r"\[approvals\] ops.*dm\.sent"):  # D007
        start_daemon(policy=Policy(approvals=ApprovalPolicy(ops=("dm.sent",))))
