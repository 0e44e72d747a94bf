"""Workers from the op to the last process: real agents, real tmux, a host that is killed (O-60, D124)."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from harvester import DaemonClient
from messaging import MessageKind
from tests.inband.conftest import Box, stop
from tests.integration._worker_box import AGENT, TEMPLATES, WALLED, WorkerBox


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerBox]:
    root = tmp_path_factory.mktemp("workers")
    work, sockets = root / "work", root / "t"
    for folder in (work / "sub", sockets):
        folder.mkdir(parents=True)
    (root / "agent.py").write_text(AGENT)
    (work / "walled.py").write_text(WALLED)
    config = root / "box.toml"
    config.write_text(TEMPLATES.format(python=sys.executable, agent=root / "agent.py", work=work))
    box = Box(root / "state", {"BOX_CONFIG": str(config), "TMUX_TMPDIR": str(sockets)})
    up = box.start()
    try:
        token = (box.home / "tokens" / "operator").read_text().strip()
        url = json.loads((box.home / "daemon.json").read_text())["url"]
        with DaemonClient(url, token, box.home / "ca.pem") as client:
            yield WorkerBox(box, up, client, work, sockets)
    finally:
        assert stop(up) == 0
        if shutil.which("tmux"):
            WorkerBox(box, up, None, work, sockets).tmux("kill-server")  # type: ignore[arg-type]


def test_a_child_answers_turn_by_turn_until_its_verdict(running: WorkerBox) -> None:  # O 7.6
    worker = running.spawn("Is the disk full?", name="disk")
    running.state(worker, "ended")
    said = [(one.author, one.kind) for one in running.messages(worker)]
    assert said[:2] == [("workers", MessageKind.ENVELOPE), (worker, MessageKind.TEXT)]
    assert ("harvester", MessageKind.RESULT) in said
    usage = running.call("box.exec", action="usage")["data"]["usage"]
    assert [one["agent"] for one in usage if one["agent"] == worker] == [worker]
    job = running.client.job(running.client.worker(worker)["job"])
    assert job.result is not None
    assert (job.result["verdict"], job.result["summary"]) == ("PASS", "the disk is fine")
    assert running.processes(worker) == []


def test_a_message_is_its_next_turn_in_the_folder_that_was_named(running: WorkerBox) -> None:
    worker = running.spawn("hello", cwd="sub")
    first = running.until(lambda: running.messages(worker)[1:], "no reply")[0]
    assert first.body.endswith("in sub")
    running.call("swarm.send", worker=worker, text="and now?")
    said = "I heard: and now? in sub"
    running.until(lambda: said in {message.body for message in running.messages(worker)}, "no second reply")
    running.state(worker, "ready")
    running.call("swarm.stop", worker=worker)
    running.state(worker, "ended")


@pytest.mark.parametrize(
    ("prompt", "agent", "why"),
    [
        ("broken", "coder", "no model there"),
        ("x", "rude", "envelope_required: its first line was not the event `ready`"),  # J-27
    ],
)
def test_one_that_cannot_work_says_why(running: WorkerBox, prompt: str, agent: str, why: str) -> None:
    worker = running.spawn(prompt, agent)
    failed = running.state(worker, "failed")
    assert why in failed["reason"].lower()
    error = running.client.job(failed["job"]).error
    assert error is not None
    assert error["code"] == "NO_VERDICT"
    assert running.processes(worker) == []


def test_a_turn_without_a_word_is_told_to_people(running: WorkerBox) -> None:
    worker = running.spawn("mute", name="mute")
    notice = running.until(lambda: running.messages(worker)[1:], "no notice")[0]
    assert (notice.kind, notice.body) == (
        MessageKind.NOTICE,
        "The worker mute ended this turn without a word.",
    )
    running.call("swarm.stop", worker=worker)


def test_a_stop_ends_all_that_it_started_even_what_is_deaf_to_it(running: WorkerBox) -> None:
    workers = [running.spawn("hang"), running.spawn("deaf")]
    began = running.work / "began"
    running.until(lambda: began.exists() and len(began.read_text()) == 2, "they never began")
    for worker in workers:
        assert running.processes(worker)
        running.call("swarm.stop", worker=worker, reason="enough")
    for worker in workers:
        assert running.state(worker, "ended")["reason"] == "enough"
        assert running.processes(worker) == []
    began.unlink()


def test_the_sender_sees_that_a_message_waits_for_a_worker_and_that_it_came_too_late(
    running: WorkerBox,
) -> None:  # O-85
    worker = running.spawn("hang")
    began = running.work / "began"
    running.until(began.exists, "it never began")
    running.call("dm.send", to=worker, text="and the inodes?")

    def delivery() -> dict[str, str]:
        return dict(running.call("dm.read", sent=True, limit=1)["sent"][0]["delivery"])

    assert delivery()["state"] == "queued"
    running.call("swarm.stop", worker=worker, reason="enough")
    running.state(worker, "ended")
    assert (delivery()["state"], delivery()["reason"]) == ("failed", "enough")
    began.unlink()


def test_a_deadline_ends_the_job_and_whoever_works_on_it(running: WorkerBox) -> None:  # O 7.6
    worker = running.spawn("hang", timeout_s=1)
    job = running.state(worker, "ended")["job"]
    error = running.client.job(job).error
    assert error is not None
    assert (error["code"], error["details"]["verdict"]) == ("NO_VERDICT", "MISSING")
    assert running.processes(worker) == []
    (running.work / "began").unlink(missing_ok=True)  # a busy machine may not have got so far


@pytest.mark.needs("tmux")
def test_a_session_gets_its_messages_as_text_once_over_a_kill_of_the_host(running: WorkerBox) -> None:
    worker = running.spawn("look around", "shell")
    found = running.state(worker, "running")
    assert found["attach"] == f"tmux attach -t inband-{worker}"
    pane = f"=inband-{worker}:"
    running.until(lambda: "look around" in running.tmux("capture-pane", "-p", "-t", pane), "no envelope")
    running.call("swarm.send", worker=worker, text="one; $(id) \x1b[201~`date`\ntwo C-c Enter")
    running.kill_host()
    running.call("swarm.send", worker=worker, text="three")

    def shown() -> list[str]:
        return running.tmux("capture-pane", "-p", "-J", "-t", pane).split("\n")

    running.until(lambda: shown().count("three") == 2, "not pasted")
    assert shown().count("one; $(id) `date`") == 2  # typed, and said by cat
    assert shown().count("two C-c Enter") == 2
    lines = running.call("box.exec", action="worker", arg=worker)["data"]["lines"]
    assert lines.count("three") == 2  # O 7.1
    running.call("swarm.stop", worker=worker)
    running.state(worker, "ended")
    assert worker not in running.tmux("list-sessions")
    assert running.processes(worker) == []


@pytest.mark.needs("tmux")
def test_a_session_whose_program_ends_is_over_with_its_exit_code(running: WorkerBox) -> None:
    worker = running.spawn("go", "quits")
    assert running.state(worker, "failed")["reason"] == "its program ended with 3"
    assert worker not in running.tmux("list-sessions")


@pytest.mark.needs("tmux")
def test_a_session_that_somebody_closes_is_over(running: WorkerBox) -> None:
    worker = running.spawn("go", "shell")
    running.state(worker, "running")
    running.tmux("kill-session", "-t", f"=inband-{worker}")
    assert running.state(worker, "ended")["reason"] == "its tmux session is gone"


@pytest.mark.needs("bwrap")
def test_a_worker_in_a_container_answers_turn_by_turn_until_its_verdict(running: WorkerBox) -> None:
    # T-80, O 7.6
    worker = running.spawn("Is the disk full?", "walled")
    found = running.state(worker, "ended")
    assert [one.kind for one in running.messages(worker)][:4] == [
        MessageKind.ENVELOPE,
        MessageKind.TEXT,
        MessageKind.RESULT,
        MessageKind.TEXT,
    ]
    result = running.client.job(found["job"]).result
    assert result is not None
    assert result["verdict"] == "PASS"


@pytest.mark.needs("bwrap")
def test_a_stop_and_a_killed_host_leave_nothing_of_a_container(running: WorkerBox) -> None:
    worker = running.spawn("hang", "walled")
    began = running.work / "began"
    running.until(began.exists, "it never began")
    running.kill_host()
    running.until(lambda: began.read_text() == "xx", "the turn was not run again")
    running.call("swarm.stop", worker=worker)
    running.state(worker, "ended")
    assert running.processes(worker) == []
    began.unlink()


def test_a_folder_that_the_mount_allowlist_does_not_give_is_no_workers(running: WorkerBox) -> None:  # T-82
    worker = running.spawn("look", "greedy")
    reason = running.state(worker, "failed")["reason"]
    assert reason == f"{running.work}: lies in none of the allowedRoots of the mount allowlist"


def test_a_killed_host_leaves_no_orphan_and_its_turn_is_run_again(running: WorkerBox) -> None:
    worker = running.spawn("hang")
    began = running.work / "began"
    running.until(began.exists, "it never began")
    before = running.processes(worker)
    running.kill_host()
    running.until(lambda: began.read_text() == "xx", "the turn was not run again")
    assert not set(before) & set(running.processes(worker))
    running.call("swarm.stop", worker=worker)
    running.state(worker, "ended")
    left = psutil.Process(running.up.pid).children(recursive=True)
    assert all(one.status() != psutil.STATUS_ZOMBIE for one in left)
    began.unlink()


def test_eight_at_once_are_all_accounted_for_over_a_kill_of_the_host(running: WorkerBox) -> None:
    with ThreadPoolExecutor(4) as pool:
        workers = list(pool.map(lambda _: running.spawn("Is the disk full?"), range(8)))
    running.kill_host()
    for worker in workers:
        running.state(worker, "ended")
        replies = [one for one in running.messages(worker) if one.author == worker]
        assert len(replies) == len({one.in_reply_to for one in replies})  # each turn is answered once
        assert running.client.job(running.client.worker(worker)["job"]).result is not None


def test_the_command_shows_and_steers_workers(running: WorkerBox, tmp_path: Path) -> None:
    made = running.box.json("worker", "spawn", "hello", "--agent", "coder", "--name", "shown")
    worker = made["workers"][0]["id"]
    listed = running.box.run("worker", "list").stdout
    assert worker in listed
    assert "operator/local" in listed
    running.state(worker, "ready")
    shown = running.box.run("worker", "show", worker).stdout
    assert "template   coder" in shown
    assert running.box.run("worker", "send", "shown", "more").returncode == 0
    assert running.box.run("worker", "stop", "shown", "--reason", "seen").stdout == "shown: stopping\n"
    missing = running.box.run("worker", "show", "w-none")
    assert missing.returncode == 1
    assert "no worker 'w-none'" in missing.stderr
    running.state(worker, "ended")
    assert worker in running.box.run("worker", "list", "--all").stdout
