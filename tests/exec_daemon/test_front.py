"""Faults that nobody foresaw, and the log of requests."""

from __future__ import annotations

import json
import logging
import stat
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from exec_daemon.api.front import Endpoint, Front
from exec_daemon.api.gate import Allowed
from exec_daemon.logs import logging_to


async def broken(_: Request) -> Response:
    raise RuntimeError("password=hunter2")


class BrokenLate(Response):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("password=hunter2")


async def broken_late(_: Request) -> Response:
    return BrokenLate()


async def nothing() -> Message:
    raise AssertionError


async def sent(endpoint: Endpoint, path: str = "/ops") -> list[Message]:
    messages: list[Message] = []
    front = Front([Route("/{any:path}", endpoint)], Allowed(frozenset({"localhost"})))

    async def send(message: Message) -> None:
        messages.append(message)

    scope = {"type": "http", "path": path, "method": "GET", "query_string": b"", "root_path": ""}
    await front(scope | {"headers": [(b"host", b"localhost")]}, nothing, send)
    return messages


@pytest.mark.parametrize("path", ["/ops", "/exec"])
async def test_a_fault_is_an_incident_and_shows_no_insides(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:  # D138
    start, body = await sent(broken, path)
    document = json.loads(body["body"])
    failed = document.get("error", document)
    assert (start["status"], failed["code"]) == (500, "INTERNAL_ERROR")
    assert "hunter2" not in str(body)
    assert failed["details"]["incident"] in caplog.text


async def test_a_fault_in_the_middle_of_an_answer_is_logged_and_adds_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert len(await sent(broken_late)) == 1
    assert "incident" in caplog.text


async def test_a_request_is_one_line_in_the_log_whatever_its_path(tmp_path: Path) -> None:  # D105
    log = tmp_path / "daemon.log"
    with logging_to(log, stderr=False):
        await sent(broken_late, "/x\n2026 INFO forged\x1b[2J" + "y" * 5000)
    lines = [line for line in log.read_text().split("\n") if "exec_daemon.requests" in line]
    assert len(lines) == 1
    assert len(lines[0]) < 400
    assert "\x1b" not in log.read_text()
    assert not any(line.startswith("2026 INFO forged") for line in log.read_text().split("\n"))


def test_secrets_do_not_get_into_the_log(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    with logging_to(log, stderr=False):
        logging.getLogger("exec_daemon.x").warning("Authorization: Bearer %s", "abcdefghijklmnop1234")
    assert "abcdefghijklmnop1234" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_line_of_the_json_log_is_one_object_with_the_ids_of_the_call(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    with logging_to(log, stderr=False, form="json"):
        fields = {"call_id": "c1", "job_id": "job-1", "code": None}
        logging.getLogger("exec_daemon.x").info("two\nlines \x1b[2J", extra={"fields": fields})
        try:
            json.loads("Authorization: Bearer abcdefghijklmnop1234")
        except ValueError as failed:
            failed.add_note("Authorization: Bearer abcdefghijklmnop1234")
            logging.getLogger("exec_daemon.x").exception("failed")
    first, second = (json.loads(line) for line in log.read_text().splitlines())
    assert first.items() >= {"level": "INFO", "message": "two\nlines ", **fields}.items()
    assert "Traceback" in second["exception"]
    assert "abcdefghijklmnop1234" not in log.read_text()


def test_the_json_log_tells_of_a_call_its_names_and_ids_and_no_arguments(start_daemon) -> None:  # D106
    running = start_daemon(log_format="json")
    running.agent("heron")
    running.exec("agent/heron", "dm.send", {"to": "heron", "text": "a secret word"})
    running.stop()
    lines = [json.loads(line) for line in (running.home / "daemon.log").read_text().splitlines()]
    call = next(line for line in lines if line.get("op") == "dm.send")
    assert call["identity"] == "agent/heron"
    assert call["job_id"].startswith("job")
    assert "a secret word" not in (running.home / "daemon.log").read_text()
