"""Host and agent against each other: the reference agent as real processes, in the open and in a box."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harvester.container.bubblewrap import boxed
from harvester.container.groups import Source
from harvester.container.inside import RUNTIME
from harvester.container.limits import ContainerLimits
from harvester.container.lock import held
from harvester.container.mounts import Mount, standard
from harvester.container.places import Places
from harvester.container.process import Program
from harvester.container.runner import PROMPT, Runner
from messaging import AuthorKind, MessageKind
from messaging.container import SCHEDULED_PREFIX
from messaging.ipc import Changes
from messaging.undelivered import why_undelivered
from tests.harvester.container._host import FAMILY, Host
from tests.patience import PATIENCE_S, until

ROOT = Path(__file__).resolve().parents[3]


def script(host: Host, lane: str, *turns: dict[str, Any]) -> Path:
    file = host.layout.group(lane) / "script.json"
    file.write_text(json.dumps({"turns": turns}))
    return file


def agent(host: Host) -> Callable[[str, Source, int], Program]:
    """The reference agent, told by the script in its group's folder."""

    def make(lane: str, source: Source, lock: int) -> Program:
        places = {"ipc": host.layout.ipc(lane), "state": host.layout.state(lane)}
        places["group"] = host.layout.group(source.folder)
        argv = [sys.executable, "-P", "-m", "inband_agent", f"--script={places['group'] / 'script.json'}"]
        argv += [f"--{name}={path}" for name, path in places.items()]
        return Program(argv=argv, environment=os.environ | {"PYTHONPATH": str(ROOT)}, keep=(lock,))

    return make


def runner(host: Host, make: Callable[[str, Source, int], Program] | None = None) -> Runner:
    return Runner(
        desk=host.desk,
        follow_ups=host.follow_ups,
        make=make or agent(host),
        limits=ContainerLimits(idle_s=0.3, term_s=1.0),
        places=Places(retries=1, first_pause_s=0.1),
        look_s=0.05,
    )


@contextmanager
def running(runner: Runner) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE_S)


def remark(host: Host, text: str) -> None:
    host.desk.memory.append("family", text, author="local", author_kind=AuthorKind.HUMAN)


def deliver(host: Host) -> None:
    with Changes() as changes:
        host.threads(changes).replies(0, 0.0)


def test_what_a_person_says_is_answered_by_a_container_that_then_closes(host: Host) -> None:
    # T-27, T-28, T-84
    script(host, "family", {"say": "I read: {prompt}"})
    remark(host, "hello")
    remark(host, "and this")
    deliver(host)
    one = runner(host)
    with running(one):
        until(lambda: host.said("family"))
        until(lambda: not one.places.lanes)
    assert host.said("family") == [f"I read: {PROMPT}\nhello\nand this"]
    assert host.ledger.unanswered("family") == []
    assert host.ledger.session("family") is not None
    assert [(agent, context) for agent, _, context in host.desk.bill] == [("family", 2)]  # T-08


def test_a_timers_isolated_run_has_a_container_of_its_own_that_answers_in_its_thread(host: Host) -> None:
    # T-12, T-21, T-85
    script(host, "family", {"say": "I read: {prompt}"})
    host.desk.memory.append(
        "family-run1", "wake up", author="timer", author_kind=AuthorKind.SYSTEM, kind=MessageKind.ENVELOPE
    )
    deliver(host)
    one = runner(host)
    one.limits = ContainerLimits(task_linger_s=0.1, term_s=1.0)
    with running(one):
        until(lambda: host.said("family"))
        until(lambda: not one.places.lanes)
    answer = host.desk.memory.log[-1]
    assert answer.thread == "family-run1"
    assert answer.body == f"I read: {SCHEDULED_PREFIX}\n\n{PROMPT}\nwake up"


def test_a_reply_that_the_daemon_does_not_take_is_said_to_be_missing(host: Host) -> None:
    # T-28
    host.desk.most_chars = 100
    script(host, "family", {"say": "x" * 200})
    remark(host, "hello")
    deliver(host)
    one = runner(host)
    with running(one):
        until(lambda: host.desk.memory.log[-1].kind is MessageKind.NOTICE)
        until(lambda: not host.ledger.unanswered("family"))
    assert "is not recorded: too large" in host.desk.memory.log[-1].body


def test_a_container_that_dies_in_a_turn_loses_no_follow_up(host: Host) -> None:
    # T-28, T-85
    file = script(host, "family", {"exit": 9})
    remark(host, "please")
    deliver(host)
    one = runner(host)
    with running(one):
        until(lambda: one.places._waiting and one.places._waiting[0].attempt == 1)
        assert host.told("family") == ["please"]
        file.write_text(json.dumps({"turns": [{"say": "{prompt}"}]}))
        until(lambda: host.said("family"))
        until(lambda: not host.ledger.unanswered("family"))
    assert host.said("family") == [f"{PROMPT}\nplease"]


@pytest.mark.parametrize("turns", [[{"fail": "model unreachable"}] * 3, [{"exit": 0}]])
def test_a_container_that_keeps_failing_is_given_up_and_a_person_is_told(
    host: Host, turns: list[dict[str, Any]]
) -> None:
    # T-85, T-28, O-85
    script(host, "family", *turns)
    asked = host.desk.memory.append("family", "please", author="ada", kind=MessageKind.DM)
    deliver(host)
    one = runner(host)
    with running(one):
        until(lambda: host.desk.told_senders)
        deliver(host)
        time.sleep(0.3)
    (notice,) = [one for one in host.desk.memory.log if one.kind == "notice"]
    assert "failed 2 times" in (why_undelivered(notice) or "")
    assert notice.in_reply_to == asked.id
    ((message, said),) = host.desk.told_senders
    assert message == asked.id
    assert said.startswith("Your message to family was not delivered: the container of family failed 2 times")
    assert host.told("family") == ["Message from ada:\nplease"]  # it waits for better days


def test_an_agent_that_outlived_its_host_is_asked_to_close(host: Host) -> None:
    # T-86
    script(host, "family", {"say": "one"})
    remark(host, "hello")
    deliver(host)
    one = runner(host)
    with held(host.layout.lock("family"), "family"), running(one):
        until((host.layout.ipc("family") / "input" / "_close").exists)
    assert host.said("family") == []


def in_a_box(host: Host) -> Callable[[str, Source, int], Program]:
    """As in a container: the agent sees the fixed places, its own three packages, and Python."""
    code = [Mount(ROOT / name, f"{RUNTIME}/{name}") for name in ("patterns", "messaging", "inband_agent")]
    base = Path(sys.base_prefix)

    def make(lane: str, source: Source, lock: int) -> Program:
        mounts = [*standard(host.layout, lane, source), *code]
        python = [f"{base}/bin/python3", "-P", "-m", "inband_agent", "--script=/workspace/group/script.json"]
        inner = ["/usr/bin/env", f"PYTHONPATH={RUNTIME}", *python]
        return Program(argv=boxed(inner, mounts, programs=[base]), environment=os.environ, keep=(lock,))

    return make


@pytest.mark.needs("bwrap")
def test_the_same_in_a_box_that_holds_only_the_places_of_a_container(host: Host) -> None:
    # T-80, T-81, T-18
    files = [
        {"in": "messages", "document": {"type": "message", "chatJid": FAMILY, "text": "from the inside"}},
        {"in": "tasks", "document": {"type": "refresh_groups", "isMain": True}},
    ]
    script(host, "family", {"say": "I read: {prompt}", "files": files})
    remark(host, "hello")
    deliver(host)
    host.sweep.refresh()
    one = runner(host, in_a_box(host))
    with running(one):
        until(lambda: host.said("family"))
        until(lambda: not one.places.lanes)
    host.sweep.once()
    assert host.said("family") == [f"I read: {PROMPT}\nhello", "from the inside"]
    assert "FORBIDDEN" in host.told("family")[0]


LOOK = """
for path in /root /etc/passwd "$1"; do test -e "$path" && echo "sees $path"; done
for path in /workspace/global/x /workspace/project/x /usr/x; do
    (: > "$path") 2>/dev/null && echo "wrote $path"
done
cat /workspace/project/.env /workspace/project/code
: > /workspace/ipc/messages/x && : > /workspace/group/x && : > /home/agent/.talon/x && echo own
test -n "$SECRET_OF_HOST" && echo environment
tail -n +3 /proc/net/dev | grep -v lo:
kill -0 "$2" 2>/dev/null && echo process
pwd
"""


@pytest.mark.needs("bwrap")
def test_a_box_shows_nothing_else_of_the_host_and_lets_nothing_else_be_written(
    host: Host, tmp_path: Path
) -> None:
    # T-80, T-81
    project = tmp_path / "project"
    project.mkdir()
    (project / ".env").write_text("KEY=1\n")
    (project / "code").write_text("code\n")
    mounts = standard(host.layout, "main", Source("main", is_main=True), project)
    argv = boxed(["sh", "-c", LOOK, "sh", str(tmp_path), str(os.getpid())], mounts)
    seen = subprocess.run(
        argv, env=os.environ | {"SECRET_OF_HOST": "1"}, capture_output=True, text=True, check=False
    )
    assert seen.stdout.splitlines() == ["code", "own", "/workspace/group"], seen.stderr
