"""box.exec against a whole daemon: its store, its log, its scopes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patterns import vocabulary

WITHOUT = [action.name for action in vocabulary().box_actions.values() if action.argument is None]
WITH = [action.name for action in vocabulary().box_actions.values() if action.argument is not None]


def read(daemon: Any, who: str, action: str, arg: object = None) -> dict[str, Any]:
    args = {"action": action} | ({} if arg is None else {"arg": arg})
    body: dict[str, Any] = daemon.exec(who, "box.exec", args).json()
    return body


@pytest.mark.parametrize("action", WITHOUT)
def test_each_read_without_argument_answers_in_the_same_shape(daemon: Any, action: str) -> None:  # O-45
    body = read(daemon, "operator", action)
    assert body["ok"], body
    # A busy machine has more to say than an answer holds: then it is cut, and the whole is an artifact.
    always, may = {"action", "host", "at", "data"}, {"truncated", "artifact", "notes"}
    assert always <= set(body["result"]) <= always | may
    assert isinstance(body["result"]["data"]["available"], bool)


@pytest.mark.parametrize("action", WITH)
def test_each_read_with_an_argument_asks_for_it(daemon: Any, action: str) -> None:  # O-42
    assert read(daemon, "operator", action)["error"]["code"] == "INVALID_ARGS"


def test_reads_of_the_store_see_what_the_daemon_did(daemon: Any) -> None:
    daemon.agent("heron")
    daemon.agent("wren")
    sent = daemon.exec("agent/heron", "dm.send", {"to": "wren", "text": "a [TOOL tools.list] b"}).json()
    job = read(daemon, "agent/heron", "job", sent["job_id"])["result"]["data"]
    assert sent["job_id"] in json.dumps(job)
    assert "succeeded" in json.dumps(job)
    thread = read(daemon, "agent/wren", "thread", "wren")["result"]["data"]
    assert "a [TOOL tools.list] b" in json.dumps(thread)
    assert "wren" in json.dumps(read(daemon, "operator", "agents")["result"]["data"])
    assert "dm.send" in json.dumps(read(daemon, "operator", "agent", "wren")["result"]["data"])
    failed = daemon.exec("agent/heron", "job.get", {"id": "job-none"}).json()
    assert failed["job_id"] in json.dumps(read(daemon, "operator", "errors")["result"]["data"])


@pytest.mark.parametrize("action", ["job", "thread"])
def test_foreign_and_missing_answer_alike(daemon: Any, action: str) -> None:  # O-46
    daemon.agent("heron")
    daemon.agent("wren")
    job = daemon.exec("agent/heron", "dm.send", {"to": "heron", "text": "x"}).json()["job_id"]
    foreign = {"job": job, "thread": "heron"}[action]
    for who in ("agent/wren", "worker/heron"):
        answers = [read(daemon, who, action, name) for name in (foreign, "no-such")]
        errors = [json.dumps(answer["error"]) for answer in answers]
        assert errors[0].replace(foreign, "X") == errors[1].replace("no-such", "X")
        assert answers[0]["error"]["code"] == "NOT_FOUND"


def test_an_agent_lists_its_own_jobs_and_threads_only(daemon: Any) -> None:  # O-46
    daemon.agent("owl")
    daemon.agent("heron")
    daemon.exec("agent/heron", "dm.send", {"to": "heron", "text": "secret of heron"})
    for action in ("jobs", "threads", "errors"):
        shown = json.dumps(read(daemon, "agent/owl", action)["result"]["data"])
        assert "heron" not in shown
        assert "heron" not in json.dumps(read(daemon, "worker/w1", action)["result"]["data"])


def test_the_log_of_the_daemon_can_be_read_and_holds_no_token(daemon: Any) -> None:
    lines = json.dumps(read(daemon, "operator", "logs", "daemon")["result"]["data"])
    assert "listening at" in lines
    assert daemon.token("operator") not in lines


def test_another_program_may_answer_for_the_machine(
    start_daemon: Callable[..., Any], tmp_path: Path
) -> None:  # O-32
    program = tmp_path / "my box-ctl"
    program.write_text('#!/bin/sh\nprintf \'{"data":{"args":"%s","home":"%s"}}\' "$*" "$PWD"\n')
    program.chmod(0o700)
    running = start_daemon(box_ctl=program)
    assert read(running, "operator", "cpu")["result"]["data"] == {
        "available": True,
        "args": "cpu --json",
        "home": "/",
    }
    assert "threads" in read(running, "operator", "threads")["result"]["data"]


def test_a_program_that_is_missing_is_unavailable(start_daemon: Callable[..., Any], tmp_path: Path) -> None:
    running = start_daemon(box_ctl=tmp_path / "none")
    assert read(running, "operator", "cpu")["error"]["code"] == "UNAVAILABLE"
