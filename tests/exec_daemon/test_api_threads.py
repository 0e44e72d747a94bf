"""Threads, messages, replies and agents over real TLS."""

from __future__ import annotations

from typing import Any

import pytest

from tests.exec_daemon.conftest import post


def test_who_wrote_a_message_follows_from_the_token(daemon: Any, thread: str) -> None:  # O-33, O-83
    daemon.agent("heron")
    by = {
        who: post(daemon.client(who), thread, "x").json() for who in ("operator", "agent/heron", "harvester")
    }
    assert {who: (row["author"], row["author_kind"], row["kind"]) for who, row in by.items()} == {
        "operator": ("local", "human", "text"),
        "agent/heron": ("heron", "agent", "text"),
        "harvester": ("harvester", "system", "directive_result"),
    }


def test_a_message_cannot_name_its_own_author(daemon: Any, thread: str) -> None:  # O-33
    for field in ({"author": "heron"}, {"author_kind": "agent"}, {"seq": 1}):
        assert post(daemon.client("operator"), thread, "x", **field).status_code == 400


@pytest.mark.parametrize("who", ["operator", "harvester"])
def test_a_reply_that_an_agent_wrote_elsewhere_is_recorded_as_its_own(
    daemon: Any, thread: str, who: str
) -> None:
    made = post(daemon.client(who), thread, "x", **{"as": "heron"})
    assert made.status_code == 201
    assert (made.json()["author"], made.json()["author_kind"], made.json()["kind"]) == (
        "heron",
        "agent",
        "text",
    )
    unknown = post(daemon.client(who), thread, "x", **{"as": "herno"})
    assert (unknown.status_code, unknown.json()["details"]["suggestions"]) == (404, ["heron"])


def test_an_agent_cannot_post_as_another(daemon: Any, thread: str) -> None:  # O-33
    daemon.agent("wren")
    assert post(daemon.client("agent/heron"), thread, "x", **{"as": "wren"}).status_code == 403


@pytest.mark.parametrize(
    ("who", "kind"),
    [("agent/heron", "directive_result"), ("harvester", "text"), ("operator", "dm"), ("operator", "zzz")],
)
def test_an_identity_posts_only_its_own_kinds(daemon: Any, thread: str, who: str, kind: str) -> None:
    daemon.agent("heron")
    assert post(daemon.client(who), thread, "x", kind=kind).status_code == 400


def test_a_key_makes_a_message_happen_once(daemon: Any, thread: str) -> None:
    client = daemon.client("harvester")
    first, again = post(client, thread, "result", key="k1"), post(client, thread, "other", key="k1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()


def test_nobody_can_use_up_a_key_of_another(daemon: Any, thread: str) -> None:
    daemon.agent("heron")
    assert post(daemon.client("agent/heron"), thread, "squat", key="k2").status_code == 201
    assert post(daemon.client("harvester"), thread, "result", key="k2").status_code == 201


def test_messages_come_in_order_behind_a_point(daemon: Any, thread: str) -> None:
    client = daemon.client("operator")
    for number in range(4):
        post(client, thread, str(number))
    found = client.get(f"/threads/{thread}/messages", params={"after": 1, "limit": 2}).json()["messages"]
    assert [(row["seq"], row["body"]) for row in found] == [(2, "1"), (3, "2")]


def test_an_agent_sees_the_threads_it_is_bound_to_and_foreign_ones_are_missing(
    daemon: Any, thread: str
) -> None:  # O-46
    heron, owl = daemon.agent("heron"), daemon.agent("owl")
    assert thread in {row["id"] for row in heron.get("/threads").json()["threads"]}
    assert {row["id"] for row in owl.get("/threads").json()["threads"]} == {"owl"}
    for path in ("", "/messages", "/stream"):
        foreign, missing = owl.get(f"/threads/{thread}{path}"), owl.get(f"/threads/t-none{path}")
        assert foreign.status_code == missing.status_code == 404
        assert foreign.json()["detail"].replace(thread, "X") == missing.json()["detail"].replace(
            "t-none", "X"
        )
    assert post(owl, thread, "x").status_code == 404


def test_threads_of_one_agent_can_be_asked_for(daemon: Any, thread: str) -> None:
    threads = daemon.client("operator").get("/threads", params={"agent": "heron"}).json()["threads"]
    assert {row["agent"] for row in threads} == {"heron"}
    assert daemon.client("worker/w1").get("/threads").json()["threads"] == []


def test_a_thread_id_that_is_taken_is_a_conflict(daemon: Any, thread: str) -> None:
    taken = daemon.client("operator").post("/threads", json={"id": thread})
    assert (taken.status_code, taken.json()["code"]) == (409, "DUPLICATE_ID")


@pytest.mark.parametrize("thread_id", ["", "../x", "a/b", "a b", "-x", "x" * 129, "a\n"])
def test_a_thread_id_is_a_plain_word(daemon: Any, thread_id: str) -> None:
    assert daemon.client("operator").post("/threads", json={"id": thread_id}).status_code == 400


def test_a_thread_without_an_id_is_given_one(daemon: Any) -> None:
    made = daemon.client("operator").post("/threads", json={}).json()
    assert made["id"].startswith("thr-")
    assert daemon.client("operator").get(f"/threads/{made['id']}").json() == made


@pytest.mark.parametrize("body", ["a\0b", "\u2028\x85\r\n", "🦅" * 1000, "x" * (1 << 20), '{"a": "\\ud800"}'])
def test_a_message_comes_back_as_it_was_sent(daemon: Any, thread: str, body: str) -> None:
    assert post(daemon.client("operator"), thread, body).status_code == 201
    (message,) = daemon.client("operator").get(f"/threads/{thread}/messages").json()["messages"]
    assert message["body"] == body


def test_replies_are_what_agents_wrote_and_nothing_else(daemon: Any, thread: str) -> None:  # O-15
    harvester = daemon.client("harvester")
    before = harvester.get("/replies").json()["position"]
    post(daemon.client("operator"), thread, "a person")
    post(harvester, thread, "a result")
    daemon.exec("operator", "dm.send", {"to": "heron", "text": "a dm"})
    post(daemon.client("operator"), thread, "a reply", **{"as": "heron"})
    page = harvester.get("/replies", params={"after": before}).json()
    assert [row["message"]["body"] for row in page["replies"]] == ["a reply"]
    assert page["replies"][0]["thread"]["id"] == thread
    assert page["position"] == page["replies"][0]["position"] > before
    assert harvester.get("/replies", params={"after": page["position"]}).json()["replies"] == []


def test_a_cursor_remembers_how_far_a_harvester_got(daemon: Any, thread: str) -> None:
    harvester = daemon.client("harvester")
    assert harvester.get("/cursors/c1").json() == {"name": "c1", "position": 0}
    last = post(daemon.client("operator"), thread, "something to read").json()["position"]
    assert harvester.put("/cursors/c1", json={"position": last}).json()["position"] == last
    assert harvester.get("/cursors/c1").json()["position"] == last
    beyond = harvester.put("/cursors/c1", json={"position": last + 1})
    assert (beyond.status_code, beyond.json()["details"]["last_position"]) == (400, last)
    assert harvester.get("/cursors/c1").json()["position"] == last
    assert harvester.put("/cursors/c1", json={"position": -1}).status_code == 400
    assert harvester.put(f"/cursors/{'c' * 201}", json={"position": 0}).status_code == 400
    assert harvester.get(f"/cursors/{'c' * 201}").status_code == 400


def test_a_message_answers_one_of_its_own_thread(daemon: Any, thread: str) -> None:
    client = daemon.client("operator")
    daemon.agent("wren")
    asked = post(client, thread, "a question").json()["id"]
    elsewhere = post(client, "wren", "another").json()["id"]
    assert post(client, thread, "an answer", in_reply_to=asked).json()["in_reply_to"] == asked
    for wrong in (elsewhere, "msg-0", "", "x" * 200):
        answer = client.post(f"/threads/{thread}/messages", json={"body": "x", "in_reply_to": wrong})
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


def test_registering_an_agent_twice_is_registering_it_once(daemon: Any) -> None:
    client = daemon.client("operator")
    first = client.post("/agents", json={"name": "stork.two"})
    again = client.post("/agents", json={"name": "stork.two"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json() == {"name": "stork.two", "thread": "stork-two", "role": "agent"}
    assert client.post("/agents", json={"name": "stork.two", "thread": "other"}).status_code == 409
    assert first.json() in client.get("/agents").json()["agents"]


def test_a_call_found_in_a_reply_runs_for_its_author(daemon: Any, thread: str) -> None:  # O-33
    daemon.agent("wren")
    reply = post(daemon.client("operator"), thread, "[DM …]", **{"as": "heron"}).json()
    body = {"thread": thread, "reply": reply["id"], "on_behalf_of": "heron", "call_id": f"d-{thread}"}
    args = {"to": "wren", "text": f"hello from {thread}"}
    sent = daemon.exec("harvester", "dm.send", args, **body)
    again = daemon.exec("harvester", "dm.send", args, **body)
    assert (sent.status_code, again.json()["replayed"]) == (200, True)
    inbox = daemon.exec("agent/wren", "dm.read").json()["result"]["messages"]
    assert [(row["author"], row["body"]) for row in inbox if thread in row["body"]] == [
        ("heron", args["text"])
    ]
    for forged in ({"on_behalf_of": "wren"}, {"reply": "msg-0"}, {"thread": "wren"}):
        assert daemon.exec("harvester", "dm.send", args, **body | forged).status_code == 403


def test_a_key_that_stands_for_another_message_is_refused(daemon: Any, thread: str) -> None:
    # O-34
    who = daemon.client("agent/heron")
    first = post(who, thread, "one", key="k").json()
    refused = post(who, thread, "two", key="k")
    assert (refused.status_code, refused.json()["code"]) == (409, "DUPLICATE_ID")
    assert refused.json()["details"] == {"message_id": first["id"]}
    assert post(who, thread, "one", key="k").json() == first


def test_a_harvester_that_words_its_answer_anew_gets_the_first_one(daemon: Any, thread: str) -> None:
    who = daemon.client("harvester")
    first = post(who, thread, "BUSY", key="result:r").json()
    assert post(who, thread, "ok", key="result:r").json() == first


def test_two_keys_are_no_key(daemon: Any, thread: str) -> None:
    headers = [("idempotency-key", "a"), ("idempotency-key", "b")]
    path = f"/threads/{thread}/messages"
    answer = daemon.client("operator").post(path, json={"body": "x"}, headers=headers)
    assert answer.status_code == 400


def test_a_page_of_large_messages_ends_early_and_is_read_on(daemon: Any, thread: str) -> None:
    who = daemon.client("operator")
    for number in range(25):
        post(who, thread, f"{number} " + "x" * 250_000, **{"as": "heron"})
    first = who.get(f"/threads/{thread}/messages").json()["messages"]
    rest = who.get(f"/threads/{thread}/messages", params={"after": first[-1]["seq"]}).json()["messages"]
    assert (len(first), len(rest)) == (20, 5)


def test_a_refused_field_is_named_as_it_is_sent_and_told_in_words(daemon: Any, thread: str) -> None:
    operator = daemon.client("operator")
    empty = post(operator, thread, "").json()["detail"]
    assert empty.endswith("The fields are body, kind, in_reply_to, as.")
    name = operator.post("/agents", json={"name": "Heron"}).json()["detail"]
    assert name.startswith("name: must be a name of 1 to 64 lower-case letters")
    for path, field in (("/threads", "id"), ("/exec", "call_id")):
        answer = operator.post(
            path, json={"op": "tools.list", field: "a b"} if field == "call_id" else {field: "a b"}
        )
        assert "pattern" not in answer.text
