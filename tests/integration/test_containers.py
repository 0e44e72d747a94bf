"""An existing group of files uses our harvester: daemon, host and agent as processes of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harvester.client import DaemonClient
from harvester.container.desk import DaemonDesk, Words
from harvester.container.groups import Group
from harvester.container.layout import Layout
from inband.containers import add_group
from inband.errors import InputError
from inband.settings import load
from messaging import Call, CallRequest, MessageKind
from messaging.undelivered import undelivered, why_undelivered
from tests.patience import PATIENCE_S
from tests.soak._parts import ROOT, Parts, wait_until


class Host:
    """`box container serve`, to be started, killed and started again."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.data = parts.home / "data"
        self.process: subprocess.Popen[bytes] | None = None

    def box(self, *words: str) -> str:
        argv = [sys.executable, "-m", "inband", *words]
        environment = self.parts.environment
        return subprocess.run(
            argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout

    def add(self, client: DaemonClient, group: Group) -> None:
        add_group(load(self.parts.environment, {}), Layout(self.data), group, client)

    def start(self) -> None:
        program = [sys.executable, "-P", "-m", "inband_agent", f"--script={self.parts.home / 'script.json'}"]
        argv = [sys.executable, "-m", "inband", "container", "serve", "--data", str(self.data), *program]
        environment = self.parts.environment | {"PYTHONPATH": str(ROOT)}
        with (self.parts.home / "containers.log").open("ab") as log:
            self.process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def end(self, number: signal.Signals) -> int:
        assert self.process
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def told(self, folder: str) -> list[str]:
        files = sorted((self.data / "ipc" / folder / "input").glob("*.json"))
        return [json.loads(file.read_text())["text"] for file in files]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with Parts(tmp_path, watching=False) as parts:
        host = Host(parts)
        with parts.client() as client:
            for folder in ("main", "family"):
                host.add(
                    client, Group(jid=f"tg:{folder}", folder=folder, name=folder, is_main=folder == "main")
                )
        yield host
        if host.process and host.process.poll() is None:
            host.end(signal.SIGKILL)


def task(**fields: Any) -> dict[str, Any]:
    return {"in": "tasks", "document": fields | {"createdBy": "main", "isMain": True, "groupFolder": "main"}}


def script(host: Host, *turns: dict[str, Any]) -> None:
    (host.parts.home / "script.json").write_text(json.dumps({"turns": turns}))


def said(client: DaemonClient, words: str) -> bool:
    """Has the agent, which repeats what it is told, said that?"""
    return any(one.is_reply and words in one.body for one in client.messages("family"))


def test_who_wrote_to_an_agent_that_was_given_up_is_told(host: Host) -> None:  # O-85
    with host.parts.client() as operator, host.parts.client("harvester") as client:
        reply = client.post_message("main", "I ask.", as_agent="main").message
        asked = Call("dm.send", {"to": "family", "text": "and you?"}, "c1")
        sent = client.call(CallRequest(call=asked, thread="main", reply=reply.id, on_behalf_of="main"))
        desk, message = DaemonDesk(client, operator), str(sent.data["message_id"])
        for _ in range(2):
            desk.notice(Words("family", undelivered("it failed"), "gave-up", about=message))
            desk.tell_senders([message], "Your message to family was not delivered: it failed.")
        (told,) = [one for one in operator.messages("main") if one.kind is MessageKind.NOTICE]
        assert told.body == f"Your message to family was not delivered: it failed. It was {message}."
        (notice,) = [one for one in operator.messages("family") if one.kind is MessageKind.NOTICE]
        assert why_undelivered(notice) == "it failed"


SCHEDULE = {
    "type": "schedule_task",
    "taskId": "morning",
    "prompt": "Good morning?",
    "schedule_type": "cron",
    "schedule_value": "0 7 * * *",
}


def test_a_group_asks_is_answered_makes_a_timer_and_survives_a_kill_of_its_host(host: Host) -> None:
    # T-12, T-28, T-38, T-42, T-50, T-52, T-67
    script(
        host,
        {
            "say": '[TOOL box.exec {"action": "health"}]',
            "files": [
                task(**SCHEDULE, targetJid="tg:family"),
                task(**SCHEDULE | {"taskId": "x"}, targetJid="tg:main"),
                {"in": "messages", "document": {"type": "message", "chatJid": "tg:main", "text": "hi"}},
            ],
        },
    )
    with host.parts.client() as client:
        client.post_message("family", "How is the machine?")
        host.start()
        wait_until(lambda: said(client, "#1 box.exec health"), PATIENCE_S, "the agent to read its result")
        results = [one for one in client.messages("family") if one.kind is MessageKind.RESULT]
        assert [("#1 box.exec health" in one.body) for one in results] == [True]
        snapshot = host.data / "ipc" / "family" / "current_tasks.json"
        wait_until(lambda: "morning" in snapshot.read_text(), PATIENCE_S, "the snapshot")

        outcomes = json.loads(host.box("container", "files", "family", "--json"))["files"]
        assert sorted(row["outcome"] for row in outcomes) == ["FORBIDDEN", "FORBIDDEN", "done"]
        timers = client.call(CallRequest(call=Call("cron.list"))).data["timers"]
        assert [(row["name"], row["created_by"]) for row in timers] == [("morning", "agent/family")]
        assert client.messages("main") == []

        host.end(signal.SIGKILL)
        client.post_message("family", "Still there?")
        script(host)
        host.start()
        wait_until(lambda: said(client, "Still there?"), PATIENCE_S, "an answer after the kill")
        results = [one for one in client.messages("family") if one.kind is MessageKind.RESULT]
        assert len(results) == 1

        script(host, {"say": "Looked.\n\n[RESULT] PASS: all fine"})
        client.run_timer("morning")
        wait_until(lambda: client.timer_runs("morning")[0]["outcome"], PATIENCE_S, "the verdict of a run")
        (run,) = client.timer_runs("morning")
        assert (run["outcome"], run["summary"]) == ("PASS", "all fine")
        assert (host.data / "ipc" / f"family.{run['thread']}").is_dir()
        usage = client.call(CallRequest(call=Call("box.exec", {"action": "usage"})))
        assert "family" in json.dumps(usage.data)
    assert host.end(signal.SIGTERM) == 0
    assert host.told("family") == []


def test_a_second_host_and_a_folder_that_is_none_are_refused_in_a_sentence(host: Host) -> None:
    # T-39, T-54, T-86
    script(host)
    host.start()
    log = host.parts.home / "containers.log"
    wait_until(lambda: "serving" in log.read_text(), PATIENCE_S, "the host")
    wait_until((host.parts.home / "state" / "container.lock").exists, PATIENCE_S, "its lock")
    argv = [sys.executable, "-m", "inband", "container", "serve"]
    ended = subprocess.run(
        argv, cwd=ROOT, env=host.parts.environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, "another `box container serve` runs" in ended.stderr) == (2, True), ended.stderr
    with host.parts.client() as client:
        for folder, says in (("errors", "is no folder of a group"), ("FAMILY", "in capitals only")):
            with pytest.raises(InputError, match=says):
                host.add(client, Group(jid="tg:x", folder=folder, name="x"))
    assert host.end(signal.SIGINT) == 0
