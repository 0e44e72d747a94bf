"""DMs between agents: a bound on their hops, delivery that the sender sees, and what is unread."""

from __future__ import annotations

from itertools import count
from typing import Any

import httpx2
import pytest

from messaging.undelivered import undelivered
from tests.exec_daemon.conftest import Running

NUMBERS = count(1)


@pytest.fixture
def pair(daemon: Running) -> tuple[str, str]:
    """Two agents that nobody else has written to."""
    number = next(NUMBERS)
    names = (f"a{number}", f"b{number}")
    for name in names:
        daemon.agent(name)
    return names


def posted(daemon: Running, name: str, body: str = "reply") -> dict[str, Any]:
    """A reply of the agent in its home thread."""
    return dict(daemon.client(f"agent/{name}").post(f"/threads/{name}/messages", json={"body": body}).json())


def dm(daemon: Running, sender: str, to: str, **args: Any) -> httpx2.Response:
    """As a harvester sends it: found in a reply that is on record."""
    reply = posted(daemon, sender)
    found = {"thread": sender, "reply": reply["id"], "on_behalf_of": sender}
    return daemon.exec("harvester", "dm.send", {"to": to, "text": "and you?", **args}, **found)


def test_two_agents_that_answer_each_other_are_stopped(
    daemon: Running, pair: tuple[str, str]
) -> None:  # O-85, D101
    codes = [dm(daemon, pair[turn % 2], pair[(turn + 1) % 2]).status_code for turn in range(9)]
    assert codes == [200] * 8 + [403]
    refused = dm(daemon, pair[0], pair[1]).json()["error"]
    assert refused["details"]["rule"] == "hop count"
    assert "without a person or a timer" in refused["message"]


def test_a_word_of_a_person_lets_them_go_on(daemon: Running, pair: tuple[str, str]) -> None:  # O-85
    for turn in range(8):
        assert dm(daemon, pair[turn % 2], pair[(turn + 1) % 2]).status_code == 200
    assert dm(daemon, pair[0], pair[1]).status_code == 403
    daemon.client("operator").post(f"/threads/{pair[0]}/messages", json={"body": "Go on."})
    assert dm(daemon, pair[0], pair[1]).status_code == 200


def test_a_name_for_the_answered_message_does_not_start_a_new_count(
    daemon: Running, pair: tuple[str, str]
) -> None:  # O-85
    before: str | None = None
    for turn in range(8):
        answer = dm(daemon, pair[turn % 2], pair[(turn + 1) % 2], **({"reply_to": before} if before else {}))
        before = answer.json()["result"]["message_id"]
    assert dm(daemon, pair[0], pair[1], reply_to=before).status_code == 403


def test_a_sender_sees_that_its_message_is_there_and_who_has_read_it(
    daemon: Running, pair: tuple[str, str]
) -> None:  # O-83, O-85
    sender, receiver = (daemon.client(f"agent/{name}") for name in pair)
    sent = dm(daemon, *pair).json()["result"]["message_id"]
    seen = sender.get(f"/messages/{sent}").json()
    assert (seen["delivery"]["state"], seen["delivery"]["read_by"]) == ("delivered", [])
    receiver.put(f"/threads/{pair[1]}/read", json={"seq": seen["message"]["seq"]})
    (reader,) = sender.get(f"/messages/{sent}").json()["delivery"]["read_by"]
    assert reader["reader"] == f"agent/{pair[1]}"
    outbox = daemon.exec(f"agent/{pair[0]}", "dm.read", {"sent": True}).json()["result"]["sent"]
    assert [one["id"] for one in outbox] == [sent]
    assert outbox[0]["delivery"]["read_by"] == [reader]


def test_an_answer_in_the_thread_says_that_it_was_read(
    daemon: Running, pair: tuple[str, str]
) -> None:  # O-83
    sent = dm(daemon, *pair).json()["result"]["message_id"]
    posted(daemon, pair[1], "I see.")
    read_by = daemon.client("operator").get(f"/messages/{sent}").json()["delivery"]["read_by"]
    assert [one["reader"] for one in read_by] == [f"agent/{pair[1]}"]


def test_a_sender_sees_that_its_message_was_given_up_until_somebody_reads_it(
    daemon: Running, pair: tuple[str, str]
) -> None:  # O-85
    sent = dm(daemon, *pair).json()["result"]["message_id"]
    body = undelivered("its container failed 6 times")
    forged = {"body": body, "in_reply_to": sent}
    daemon.client("operator").post(f"/threads/{pair[1]}/messages", json=forged)
    sender = daemon.client(f"agent/{pair[0]}")
    assert sender.get(f"/messages/{sent}").json()["delivery"]["state"] == "delivered"
    notice = {**forged, "kind": "notice"}
    assert daemon.client("harvester").post(f"/threads/{pair[1]}/messages", json=notice).status_code == 201
    seen = sender.get(f"/messages/{sent}").json()["delivery"]
    assert (seen["state"], seen["reason"]) == ("failed", "its container failed 6 times")
    posted(daemon, pair[1], "I see.")
    assert sender.get(f"/messages/{sent}").json()["delivery"]["state"] == "delivered"


def test_unread_messages_are_counted(daemon: Running, pair: tuple[str, str]) -> None:  # O-85
    receiver = daemon.client(f"agent/{pair[1]}")
    for _ in range(3):
        daemon.exec("operator", "dm.send", {"to": pair[1], "text": "x"})
    inbox = daemon.exec(f"agent/{pair[1]}", "dm.read").json()["result"]
    assert (inbox["unread"], len(inbox["messages"])) == (3, 3)
    assert receiver.put(f"/threads/{pair[1]}/read", json={"seq": 2}).json()["unread"] == 1
    assert receiver.put(f"/threads/{pair[1]}/read", json={"seq": 1}).json()["seq"] == 2
    posted(daemon, pair[1])
    assert receiver.get(f"/threads/{pair[1]}/read").json()["unread"] == 0


def test_a_message_of_others_and_none_answer_alike(daemon: Running, pair: tuple[str, str]) -> None:  # O-46
    daemon.agent("stranger")
    sent = dm(daemon, *pair).json()["result"]["message_id"]
    answers = [daemon.client("agent/stranger").get(f"/messages/{one}") for one in (sent, "msg-0")]
    assert [answer.status_code for answer in answers] == [404, 404]
