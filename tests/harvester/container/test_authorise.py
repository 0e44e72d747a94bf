"""The rules of groups and the calls that follow, one by one."""

from __future__ import annotations

import pytest

from harvester.container.authorise import Known, authorise
from harvester.container.calls import Errand, errand, task_name
from harvester.container.groups import Group, Groups, Source, lane_of
from messaging import Call, ErrorCode
from messaging.container import (
    CancelTask,
    ChatMessage,
    RefreshGroups,
    ScheduleTask,
    UpdateTask,
)
from tests.harvester.container._host import task

MAIN, FAMILY = Source("main", is_main=True), Source("family", is_main=False)
GROUPS = Groups(
    [
        Group(jid="tg:1", folder="main", name="Main", is_main=True),
        Group(jid="tg:2", folder="family", name="Family"),
    ]
)
KNOWN = Known(groups=GROUPS, tasks=(task("a", "family", "family"), task("b", "work", "work")))


def scheduled(jid: str, task_id: str | None = None) -> ScheduleTask:
    return ScheduleTask(
        prompt="p", schedule_type="interval", schedule_value="60000", target_jid=jid, task_id=task_id
    )


@pytest.mark.parametrize(
    ("source", "asked", "code"),
    [
        (FAMILY, ChatMessage(chat_jid="tg:2", text="x"), None),  # T-50
        (FAMILY, ChatMessage(chat_jid="tg:1", text="x"), ErrorCode.FORBIDDEN),
        (FAMILY, ChatMessage(chat_jid="tg:nobody", text="x"), ErrorCode.FORBIDDEN),
        (MAIN, ChatMessage(chat_jid="tg:nobody", text="x"), None),
        (FAMILY, scheduled("tg:2"), None),  # T-51
        (FAMILY, scheduled("tg:1"), ErrorCode.FORBIDDEN),
        (MAIN, scheduled("tg:nobody"), ErrorCode.NOT_FOUND),
        (MAIN, scheduled("tg:2", "b"), ErrorCode.DUPLICATE_ID),  # T-55
        (FAMILY, CancelTask(task_id="tmr_a"), None),  # T-52
        (FAMILY, CancelTask(task_id="b"), ErrorCode.NOT_FOUND),
        (MAIN, CancelTask(task_id="b"), None),
        (FAMILY, RefreshGroups(), ErrorCode.FORBIDDEN),  # T-53
        (MAIN, RefreshGroups(), None),
        (MAIN, object(), ErrorCode.FORBIDDEN),
    ],
)
def test_what_a_group_may_do(source: Source, asked: object, code: ErrorCode | None) -> None:
    # T-50 to T-53, T-55, T-56
    refused = authorise(source, asked, KNOWN)
    assert (refused.code if refused else None) == code


@pytest.mark.parametrize(
    "asked",
    [
        ChatMessage(chat_jid="tg:nobody", text="x"),
        scheduled("tg:nobody"),
        CancelTask(task_id="gone"),
        UpdateTask(task_id="gone"),
        RefreshGroups(),
    ],
)
def test_what_has_no_addressee_makes_no_call(asked: object) -> None:
    # T-50
    assert errand(MAIN, asked, KNOWN) is None


def test_a_call_is_the_same_when_it_is_read_from_where_it_was_written_down() -> None:
    # T-42
    made = errand(MAIN, scheduled("tg:2"), KNOWN, "task-1")
    assert made is not None
    assert made.as_operator
    assert Errand.from_json(made.to_json()) == made
    changed = errand(FAMILY, UpdateTask(task_id="a", schedule_type="once", schedule_value="v"), KNOWN)
    assert changed == Errand(Call("cron.update", {"id": "tmr_a", "schedule": "v", "schedule_type": "once"}))


def test_a_task_keeps_the_id_that_it_was_given() -> None:
    # T-63
    assert task_name(scheduled("tg:2", "mine"), "1796040000000-abcdef.json", 0, "00") == "mine"
    assert task_name(scheduled("tg:2"), "1796040000000-abcdef.json", 0, "00") == "task-1796040000000-abcdef"
    assert task_name(scheduled("tg:2"), "x.json", 7, "0123456789") == "task-0000000000007-012345"


def test_the_home_thread_is_the_groups_own_lane_and_groups_are_found_by_either_name() -> None:
    # T-12
    assert (lane_of("Family", "family"), lane_of("Family", "thr-1")) == ("Family", "Family.thr-1")
    assert GROUPS.source("family.thr-1") == FAMILY
    assert GROUPS.source("nobody") is None
    assert GROUPS.of_agent("nobody") is None
    assert [group.to_json()["folder"] for group in GROUPS] == ["main", "family"]
