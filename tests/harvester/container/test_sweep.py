"""Files of agents: who they are by, what becomes of them, and that it happens once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harvester.container.groups import Group
from harvester.errors import Refused, Unavailable
from messaging import ErrorCode, error
from tests.harvester.container._host import FAMILY, MAIN, SCHEDULE, WORK, Host, elapsed, task

BUSY = error(ErrorCode.BUSY, "come again")


def codes(host: Host, lane: str) -> list[str | None]:
    return [outcome for _, outcome, _ in host.ledger.outcomes(lane)]


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


FORGED = {"groupFolder": "main", "createdBy": "main", "isMain": True, "sender": "main", "folder": "main"}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("schedule_task", SCHEDULE | {"targetJid": WORK}),
        ("refresh_groups", {}),
        ("register_group", {"jid": "tg:new", "name": "n", "folder": "new", "trigger": "@a"}),
        ("cancel_task", {"taskId": "of-work"}),
    ],
)
def test_forged_claims_of_being_main_have_no_effect(host: Host, kind: str, fields: dict[str, Any]) -> None:
    # T-38, T-51, T-52, T-53
    host.desk.rows.append(task("of-work", "work", "work"))
    host.write("family", "tasks", {"type": kind} | FORGED | fields)
    host.sweep.once()
    assert host.errands() == []
    assert "new" not in {group.folder for group in host.ledger.groups()}
    assert codes(host, "family") in (["FORBIDDEN"], ["NOT_FOUND"])  # T-56
    assert len(host.told("family")) == 1
    assert host.left("family") == []


def test_a_forged_sender_of_a_message_has_no_effect(host: Host) -> None:
    # T-38, T-50
    host.say("family", WORK, "hi", **FORGED)
    host.say("family", FAMILY, "hello", **FORGED)
    host.sweep.once()
    assert [one.author for one in host.desk.memory.log] == ["family"]
    assert host.errands() == []
    assert "FORBIDDEN" in host.told("family")[0]


def test_the_main_group_writes_to_any_chat_that_somebody_answers_in(host: Host) -> None:
    # T-50
    host.say("main", FAMILY, "hi")
    host.say("main", "tg:nobody", "hi")
    host.sweep.once()
    assert host.errands() == [("main", "dm.send", {"to": "family", "text": "hi"})]
    assert codes(host, "main") == ["done", "NOT_FOUND"]


def test_a_lane_of_a_group_has_its_own_directory_and_the_groups_identity(host: Host) -> None:
    # T-12
    host.layout.prepare("family.investigate", "family")
    host.say("family.investigate", FAMILY, "found it")
    host.layout.prepare("stranger.family", "stranger")
    host.say("stranger.family", FAMILY, "nobody knows me")
    host.sweep.once()
    assert host.said("family") == ["found it"]
    assert host.left("stranger.family") != []


def test_each_operation_becomes_its_call(host: Host) -> None:
    # T-60, T-62, T-64
    host.desk.rows.append(task("mine", "family", "family"))
    host.ask("family", "schedule_task", **SCHEDULE, taskId="new", targetJid=FAMILY, context_mode="group")
    host.ask("family", "pause_task", taskId="mine")
    host.ask("family", "resume_task", taskId="tmr_mine")
    host.ask("family", "update_task", taskId="mine", prompt="q", script="")
    host.ask("family", "cancel_task", taskId="mine")
    host.sweep.once()
    made = {"name": "new", "prompt": "p", "schedule": "0 9 * * *", "schedule_type": "cron"}
    assert host.errands() == [
        ("family", "cron.create", made | {"context_mode": "group", "target": "family"}),
        ("family", "cron.pause", {"id": "tmr_mine"}),
        ("family", "cron.resume", {"id": "tmr_mine"}),
        ("family", "cron.update", {"id": "tmr_mine", "prompt": "q"}),
        ("family", "cron.cancel", {"id": "tmr_mine"}),
    ]
    assert not any(errand.as_operator for _, errand in host.desk.ran)
    assert host.told("family") == []


def test_a_task_without_an_id_is_named_by_its_file_and_isolated_by_default(host: Host) -> None:
    # T-62, T-63
    file = host.ask("family", "schedule_task", **SCHEDULE, targetJid=FAMILY)
    host.write("family", "tasks", {"type": "schedule_task", "targetJid": FAMILY} | SCHEDULE, "odd.json")
    host.sweep.once()
    (_, _, first), (_, _, second) = host.errands()
    assert (first["name"], first["context_mode"]) == (f"task-{file.stem}", "isolated")
    assert second["name"].startswith("task-1796040000000-")


def test_main_acts_on_the_tasks_of_others_as_the_operator_and_on_its_own_as_itself(host: Host) -> None:
    # T-51, T-52
    host.desk.rows += [task("theirs", "family", "family"), task("own", "main", "main")]
    host.ask("main", "pause_task", taskId="theirs")
    host.ask("main", "pause_task", taskId="own")
    host.ask("main", "schedule_task", **SCHEDULE, targetJid=FAMILY)
    host.sweep.once()
    assert [errand.as_operator for _, errand in host.desk.ran] == [True, False, True]


def test_a_foreign_task_and_a_missing_one_answer_alike(host: Host) -> None:
    # T-52
    host.desk.rows += [task("theirs", "work", "work"), task("persons", "family", None)]
    for name in ("theirs", "missing", "persons"):
        host.ask("family", "cancel_task", taskId=name)
    host.sweep.once()
    assert codes(host, "family") == ["NOT_FOUND"] * 3
    details = {detail for _, _, detail in host.ledger.outcomes("family")}
    assert len(details) == 1


def test_a_task_id_that_is_taken_is_refused(host: Host) -> None:
    # T-55
    host.desk.rows.append(task("taken", "work", "work"))
    host.ask("family", "schedule_task", **SCHEDULE, taskId="taken", targetJid=FAMILY)
    host.sweep.once()
    assert (host.errands(), codes(host, "family")) == ([], ["DUPLICATE_ID"])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("cron", "* * * *"),
        ("cron", "@daily"),
        ("interval", "0"),
        ("interval", "-5"),
        ("interval", "5m"),
        ("once", "2026-12-01T09:00:00Z"),
        ("once", "2026-12-01T09:00+01:00"),
        ("once", "tomorrow"),
    ],
)
def test_a_schedule_of_another_shape_is_refused_and_nothing_is_made(
    host: Host, kind: str, value: str
) -> None:
    # T-61
    host.ask(
        "family", "schedule_task", prompt="p", schedule_type=kind, schedule_value=value, targetJid=FAMILY
    )
    host.sweep.once()
    assert (host.errands(), codes(host, "family")) == ([], ["INVALID_ARGS"])


@pytest.mark.parametrize(
    "folder", ["global", "errors", "../x", "a/b", "", ".", "x" * 65, "Family", "a b", "\u00e9"]
)
def test_main_registers_plain_folders_only(host: Host, folder: str) -> None:
    # T-54, T-39
    host.ask("main", "register_group", jid="tg:new", name="n", folder=folder, trigger="@a", isMain=True)
    host.sweep.once()
    assert host.ledger.groups().of_jid("tg:new") is None
    assert codes(host, "main")[0] in ("INVALID_ARGS", "DUPLICATE_ID")


def test_registering_makes_no_group_main_and_takes_it_from_none(host: Host) -> None:
    # T-54
    host.ask("main", "register_group", jid="tg:new", name="n", folder="new", trigger="@a", isMain=True)
    host.ask(
        "main", "register_group", jid=MAIN, name="n2", folder="main", trigger="@b", requiresTrigger=False
    )
    host.ask("main", "register_group", jid=MAIN, name="n3", folder="family", trigger="@b")
    host.sweep.once()
    new, main = (host.ledger.groups().of_jid(jid) for jid in ("tg:new", MAIN))
    assert new is not None
    assert (new.is_main, new.requires_trigger, new.folder) == (False, True, "new")
    assert main is not None
    assert (main.is_main, main.name, main.folder, main.requires_trigger) == (True, "n2", "main", False)
    assert host.desk.welcomed == ["new", "main"]
    assert codes(host, "main") == ["done", "done", "FORBIDDEN"]


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


def test_snapshots_show_main_everything_and_others_their_own(host: Host) -> None:
    # T-67
    host.desk.rows += [task("a", "family", "family"), task("b", "work", None)]
    host.ask("main", "refresh_groups")
    host.sweep.once()
    tasks = {
        lane: json.loads((host.layout.ipc(lane) / "current_tasks.json").read_text())
        for lane in ("main", "family", "work")
    }
    assert [row["id"] for row in tasks["main"]] == ["a", "b"]
    assert [row["id"] for row in tasks["work"]] == ["b"]
    assert tasks["family"] == [
        {
            "id": "a",
            "groupFolder": "family",
            "prompt": "do a",
            "schedule_type": "cron",
            "schedule_value": "0 9 * * *",
            "status": "active",
            "next_run": "2026-12-01T09:00:00.000Z",
        }
    ]
    groups = json.loads((host.layout.ipc("main") / "available_groups.json").read_text())
    assert {group["jid"] for group in groups["groups"]} == {MAIN, FAMILY, WORK}
    assert groups["lastSync"] == "2026-11-30T12:00:00.000Z"
    assert json.loads((host.layout.ipc("work") / "available_groups.json").read_text())["groups"] == []


def test_snapshots_are_written_anew_after_each_change(host: Host) -> None:
    # T-67
    host.ask("family", "schedule_task", **SCHEDULE, targetJid=FAMILY)
    host.sweep.once()
    assert (host.layout.ipc("work") / "current_tasks.json").exists()


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


def test_two_chats_may_share_a_folder_and_neither_is_written_to_by_another(host: Host) -> None:
    # T-50
    host.register(Group(jid="wa:family", folder="family", name="Family too"))
    host.say("family", "wa:family", "hello")
    host.say("work", "wa:family", "hello")
    host.sweep.once()
    assert host.said("family") == ["hello"]
    assert codes(host, "work") == ["FORBIDDEN"]
