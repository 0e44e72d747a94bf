"""What files ask for: which calls follow, and that claims in them have no effect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harvester.container.groups import Group
from tests.harvester.container._host import FAMILY, MAIN, SCHEDULE, WORK, Host, codes, task

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
        ("family", "cron.update", {"id": "tmr_mine", "prompt": "q", "script": ""}),
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


def test_two_chats_may_share_a_folder_and_neither_is_written_to_by_another(host: Host) -> None:
    # T-50
    host.register(Group(jid="wa:family", folder="family", name="Family too"))
    host.say("family", "wa:family", "hello")
    host.say("work", "wa:family", "hello")
    host.sweep.once()
    assert host.said("family") == ["hello"]
    assert codes(host, "work") == ["FORBIDDEN"]
