"""What must stay inside: one canary, looked for in everything that a daemon writes, shows and starts."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.logs import DAEMON, logging_to
from exec_daemon.operator_ops.spec import specs
from tests.exec_daemon.conftest import Running

FORGED = "2026-12-01T09:00:00.000Z INFO exec_daemon.requests: POST /exec 200 1.0ms operator/forged"
BREAKS = ("\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c")
RECORD = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [A-Z]+ [\w.]+: ")
CANARY = "ghp_CANARY0123456789CANARY0123456789"


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_text_from_outside_makes_a_record_of_its_own(tmp_path: Path, form: str) -> None:  # D105
    log = logging.getLogger("exec_daemon.attacks")
    with logging_to(tmp_path / "log", stderr=False, form=form):
        for end in BREAKS:
            log.warning("said %s", f"x{end}{FORGED}\x1b[2J")
            log.warning("failed", exc_info=ValueError(f"x{end}{FORGED}\x1b]0;title\x07"))
    lines = (tmp_path / "log").read_text().splitlines()
    forged = [line for line in lines if line.startswith(FORGED)]
    records = [line for line in lines if line.startswith("{") or RECORD.match(line)]
    assert (forged, len(records)) == ([], 2 * len(BREAKS))
    assert not any(set(line) & {"\x1b", "\x07"} for line in lines)


def test_a_request_leaves_one_line_whatever_is_in_it(start_daemon: Callable[..., Running]) -> None:  # D105
    running = start_daemon()
    client = running.client("operator")
    hostile = [
        client.get("/ops/%0A%E2%80%A82026%1B%5B2J"),
        client.post("/exec", json={"op": f"x\n{FORGED}"}),
        client.post("/exec", json={"op": "tools.list", "call_id": f"c\r{FORGED}"}),
        client.post("/exec", json={"op": "tools.list", "thread": f"t\u2028{FORGED}"}),
        client.get("/ops", headers={"user-agent": FORGED, "x-request-id": FORGED}),
        client.post("/threads", json={"id": "t1", "title": f"t\n{FORGED}"}),
    ]
    running.stop()
    lines = (running.home / "daemon.log").read_text().splitlines()
    assert sum("exec_daemon.requests:" in line for line in lines) == len(hostile)
    assert "operator/forged" not in "\n".join(lines)


@pytest.fixture
def leaky(start_daemon: Callable[..., Running]) -> Running:
    """A daemon with ops that print what they should not, and a log of everything."""
    shell = {"summary": "Leaks.", "side_effecting": False}
    ops = {
        "leak.short": {"argv": ["/bin/echo", f"token={CANARY}"], **shell},
        "leak.long": {"argv": ["/bin/sh", "-c", f"seq 30000; echo {CANARY}; seq 30000"], **shell},
        "leak.error": {
            "argv": ["/bin/sh", "-c", f"echo {CANARY} >&2; exit 4"],
            "exit_codes": {"4": "BUSY"},
            **shell,
        },
    }
    return start_daemon(ops=specs(ops))


def log_everything() -> None:
    """More than the daemon itself would log, until it stops."""
    for name in DAEMON:
        logging.getLogger(name).setLevel(logging.DEBUG)


def written(home: Path) -> bytes:
    """All that the state directory holds, but the keys."""
    files = (file for file in home.rglob("*") if file.is_file() and file.suffix != ".key")
    return b"".join(file.read_bytes() for file in files)


def test_a_secret_in_output_is_covered_in_every_view_and_file(leaky: Running) -> None:  # D107
    log_everything()
    client = leaky.client("operator")
    seen = []
    for op in ("leak.short", "leak.long", "leak.error"):
        answer = leaky.exec("operator", op)
        job = answer.json()["job_id"]
        seen += [answer.text, client.get(f"/jobs/{job}").text, client.get(f"/jobs/{job}/events").text]
        seen += [
            client.get(f"/ui/jobs/{job}").text,
            json.dumps(leaky.exec("operator", "job.get", {"id": job}).json()),
        ]
        if artifact := (answer.json().get("result") or {}).get("artifact"):
            seen.append(client.get(artifact["uri"]).text)
    seen += [client.get(path).text for path in ("/jobs", "/audit", "/ui/jobs", "/metrics")]
    seen += [leaky.exec("operator", "box.exec", {"action": action}).text for action in ("errors", "jobs")]
    seen.append(leaky.exec("operator", "box.exec", {"action": "logs", "arg": "daemon"}).text)
    assert sum("[REDACTED]" in text for text in seen) >= 9
    leaky.stop()
    assert not [text[:200] for text in seen if "CANARY" in text]
    assert b"CANARY" not in written(leaky.home)


def test_a_message_is_kept_where_it_belongs_and_told_nowhere_else(
    start_daemon: Callable[..., Running],
) -> None:  # D106
    running = start_daemon(log_format="json")
    log_everything()
    running.agent("heron")
    for field in ("to", "text", "thread", "reply_to", "priority", "nothing"):
        running.exec("operator", "dm.send", {"to": "heron", "text": "x", field: "a CANARY of this message"})
    running.client("operator").get("/ops", headers={"authorization": "Bearer CANARY"})
    lines = running.client("operator").get("/audit?limit=50").json()["lines"]
    running.stop()
    assert "CANARY" not in (running.home / "daemon.log").read_text()
    assert "CANARY" not in json.dumps(lines)
    assert len({line["args_digest"] for line in lines if line["op"] == "dm.send"}) >= 2


def command_lines() -> Iterator[bytes]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue


def test_no_process_has_a_text_of_a_call_or_a_token_where_others_read(
    start_daemon: Callable[..., Running],
) -> None:  # D015, D016
    slow = {"argv": ["/bin/sh", "-c", "cat; sleep 0.5"], "stdin": "{body}", "summary": "Takes its time."}
    running = start_daemon(ops=specs({"my.slow": {**slow, "arguments": {"body": {"max_length": 99}}}}))
    running.agent("heron")
    token = running.token("operator").encode()
    seen: list[bytes] = []
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            seen.extend(command_lines())

    watcher = threading.Thread(target=watch)
    watcher.start()
    said: list[Any] = [running.exec("operator", "my.slow", {"body": "A-BODY-CANARY"}).json()]
    said.append(running.exec("operator", "dm.send", {"to": "heron", "text": "A-BODY-CANARY"}).json())
    over.set()
    watcher.join()
    assert [one["ok"] for one in said] == [True, True]
    assert any(b"sleep\x000.5" in line for line in seen)  # it was looked at while it ran
    assert not any(b"A-BODY-CANARY" in line or token in line for line in seen)
