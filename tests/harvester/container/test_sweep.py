"""Files of agents: who they are by, what becomes of them, and that it happens once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harvester.errors import Refused, Unavailable
from messaging import ErrorCode, error
from tests.harvester.container._host import FAMILY, MAIN, SCHEDULE, WORK, Host, codes, elapsed, task

BUSY = error(ErrorCode.BUSY, "come again")


def test_words_for_its_own_chat_are_the_agents_reply_and_the_file_is_gone(host: Host) -> None:
    # T-13, T-50
    host.say("family", FAMILY, 'now [TOOL box.exec {"action":"health"}]')
    host.sweep.once()
    assert host.said("family") == ['now [TOOL box.exec {"action":"health"}]']
    assert host.left("family") == []
    assert codes(host, "family") == ["done"]


def test_files_are_read_in_the_order_of_their_names_over_both_directories(host: Host) -> None:
    # T-37
    for number in (3, 1, 2):
        host.write(
            "family",
            "messages",
            {"type": "message", "chatJid": FAMILY, "text": str(number)},
            f"179604000000{number}-abcdef.json",
        )
    host.sweep.once()
    assert host.said("family") == ["1", "2", "3"]


def test_a_lane_of_a_group_has_its_own_directory_and_the_groups_identity(host: Host) -> None:
    # T-12
    host.layout.prepare("family.investigate", "family")
    host.say("family.investigate", FAMILY, "found it")
    host.layout.prepare("stranger.family", "stranger")
    host.say("stranger.family", FAMILY, "nobody knows me")
    host.sweep.once()
    assert host.said("family") == ["found it"]
    assert host.left("stranger.family") != []


def test_what_fails_is_kept_by_group_and_name(host: Host) -> None:
    # T-39, T-66
    host.write("family", "tasks", {"type": "explode"}, "1.json")
    host.write("family", "messages", b"{nope", "2.json")
    host.write("family", "messages", b"\xff", "3.json")
    host.write("family", "messages", {"type": "message", "text": "x"}, "4.json")
    host.sweep.once()
    assert host.errors() == ["family-1.json", "family-2.json", "family-3.json", "family-4.json"]
    assert codes(host, "family") == ["INVALID_ARGS"] * 4
    assert len(host.told("family")) == 1
    assert host.told("family")[0].count("INVALID_ARGS") == 4


def test_only_plain_files_are_read_and_nothing_behind_a_link(host: Host, tmp_path: Path) -> None:
    # T-40
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps({"type": "message", "chatJid": FAMILY, "text": "secret"}))
    place = host.layout.ipc("family") / "messages"
    (place / "link.json").symlink_to(outside)
    os.link(outside, place / "hard.json")
    os.mkfifo(place / "pipe.json")
    (place / "dir.json").mkdir()
    (place / "dir.json" / "x").touch()
    host.write("family", "messages", b" " * ((1 << 20) + 1), "large.json")
    (place / os.fsdecode(b"\xff\n.json")).write_bytes(b"{}")
    host.say("family", FAMILY, "good")
    host.sweep.once()
    assert host.said("family") == ["good"]
    assert host.left("family") == []
    assert len(host.errors()) == 6
    assert outside.read_text() == json.dumps({"type": "message", "chatJid": FAMILY, "text": "secret"})


def test_names_of_other_endings_are_not_looked_at(host: Host) -> None:
    # T-35
    host.write("family", "messages", b"{nope", "1.json.tmp")
    host.write("family", "messages", b"{nope", "notes.txt")
    assert host.sweep.once() == 0
    assert sorted(host.left("family")) == ["1.json.tmp", "notes.txt"]


@pytest.mark.parametrize("planted", ["messages", "tasks"])
def test_a_link_in_the_place_of_a_directory_is_the_groups_own_loss(
    host: Host, tmp_path: Path, planted: str
) -> None:
    # T-40
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "a.json").write_text("precious")
    place = host.layout.ipc("family") / planted
    place.rmdir()
    place.symlink_to(victim)
    host.say("work", WORK, "hi")
    host.sweep.once()
    assert (victim / "a.json").read_text() == "precious"
    assert host.said("work") == ["hi"]


def test_a_planted_link_in_the_place_of_a_snapshot_is_replaced_and_its_target_left_alone(
    host: Host, tmp_path: Path
) -> None:
    # T-41
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("current_tasks.json", "current_tasks.json.tmp", "available_groups.json"):
        (host.layout.ipc("family") / name).symlink_to(victim)
    host.sweep.refresh()
    assert victim.read_text() == "precious"
    assert json.loads((host.layout.ipc("family") / "current_tasks.json").read_text()) == []


def test_a_daemon_that_is_busy_or_away_is_asked_again_and_order_is_kept(host: Host) -> None:
    # T-42
    host.desk.answers += [BUSY, Unavailable("away", url="")]
    host.say("main", FAMILY, "first")
    host.say("main", FAMILY, "second")
    host.sweep.once()
    assert host.errands() == []
    with pytest.raises(Unavailable):
        host.sweep.once()
    host.again().sweep.once()
    assert [args["text"] for _, _, args in host.errands()] == ["first", "second"]
    assert host.left("main") == []


def test_what_the_daemon_does_not_take_is_refused_and_holds_up_nothing(host: Host) -> None:
    # T-56
    host.desk.answers.append(Refused(error(ErrorCode.TOO_LARGE, "too large"), url=""))
    host.say("main", FAMILY, "a long story")
    host.say("main", FAMILY, "hi")
    host.sweep.once()
    assert codes(host, "main") == ["TOO_LARGE", "done"]
    assert "TOO_LARGE: too large" in host.told("main")[0]


class Died(BaseException):
    """The host's process, at this instant."""


@pytest.mark.parametrize("when", ["claim", "plan", "settle"])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("kind", ["cancel_task", "schedule_task", "message"])
def test_a_host_that_dies_repeats_and_loses_nothing(host: Host, when: str, before: bool, kind: str) -> None:
    # T-42
    host.desk.rows.append(task("mine", "main", "main"))
    if kind == "message":
        host.say("main", FAMILY, "hi")
    elif kind == "cancel_task":
        host.ask("main", kind, taskId="mine")
    else:
        host.ask("main", kind, **SCHEDULE, taskId="new", targetJid=MAIN)
    step = getattr(host.ledger, when)

    def dies(*arguments: Any) -> Any:
        if before:
            raise Died
        step(*arguments)
        raise Died

    setattr(host.ledger, when, dies)
    with pytest.raises(Died):
        host.sweep.once()
    # What the daemon did is seen by whoever asks again: the task is there, or gone.
    if host.desk.ran and kind == "cancel_task":
        host.desk.rows.clear()
    if host.desk.ran and kind == "schedule_task":
        host.desk.rows.append(task("new", "main", "main"))
    again = host.again()
    again.sweep.once()
    again.sweep.once()
    assert len(again.errands()) == 1
    assert codes(again, "main") == ["done"]
    assert (again.left("main"), again.errors(), again.told("main")) == ([], [], [])


def test_a_group_has_a_rate_and_the_others_do_not_wait_for_it(tmp_path: Path) -> None:
    # T-43
    host = Host(tmp_path, per_minute=60, burst=3)
    for number in range(10):
        host.say("family", FAMILY, str(number))
    host.say("work", WORK, "hi")
    host.sweep.once()
    assert (host.said("family"), host.said("work")) == (["0", "1", "2"], ["hi"])
    host.sweep.once()
    assert len(host.said("family")) == 3
    host.clock = 2.0
    host.sweep.once()
    assert host.said("family") == ["0", "1", "2", "3", "4"]
    host.ledger.close()


def test_ten_thousand_hostile_files_cost_bounded_time_and_are_told_once(tmp_path: Path) -> None:
    # T-43
    host = Host(tmp_path, per_minute=120, burst=60)
    place = host.layout.ipc("family") / "tasks"
    for number in range(10_000):
        (place / f"{number:05d}.json").write_bytes(b"{nope" if number % 2 else b'{"type":"refresh_groups"}')
    host.say("work", WORK, "hi")
    took_s = elapsed(host.sweep.once)
    assert took_s < 3, took_s
    assert host.said("work") == ["hi"]
    assert len(host.left("family")) == 940
    assert len(host.errors()) == 60
    assert len(host.told("family")) == 1
    assert "9000 files: RATE_LIMITED" in host.told("family")[0]
    assert len(host.ledger.outcomes("family")) == 60
    host.ledger.close()


def test_failed_files_fill_no_disk(host: Host) -> None:
    # T-39, T-43
    for number in range(999):
        (host.layout.errors / str(number)).touch()
    for number in range(3):
        host.write("family", "tasks", b"{nope", f"{number}.json")
    host.sweep.once()
    assert len(host.errors()) == 1000
    assert host.left("family") == []


def test_a_full_folder_that_finds_no_room_is_refused_once_and_given_back(host: Host) -> None:
    # T-39, T-43
    for number in range(1000):
        (host.layout.errors / str(number)).touch()
    planted = host.layout.ipc("family") / "tasks" / "dir.json"
    planted.mkdir()
    (planted / "x").touch()
    for _ in range(3):
        host.sweep.once()
    assert len(host.told("family")) == 1
    assert list(host.layout.claims("family", "tasks").iterdir()) == []
    (aside,) = planted.parent.glob("dir.json.*.aside")
    assert (aside / "x").exists()
    assert len(host.errors()) == 1000
