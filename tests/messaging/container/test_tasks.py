"""Operations on tasks and groups, as files hold them."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging.container import ScheduleTask, WireError, read_task
from messaging.container.tasks import OPERATIONS

WRITTEN = [
    (
        '{"type":"schedule_task","taskId":"t","timestamp":"2026-01-01T00:00:00.000Z","prompt":"p","script":"s",'
        '"schedule_type":"cron","schedule_value":"*/5 * * * *","context_mode":"group","targetJid":"tg:1",'
        '"createdBy":"main"}'
    ),
    '{"type":"schedule_task","prompt":"p","schedule_type":"once","schedule_value":"v","targetJid":"j"}',
    '{"type":"pause_task","taskId":"t"}',
    '{"type":"resume_task","taskId":"t","timestamp":"x"}',
    '{"type":"cancel_task","taskId":"t"}',
    '{"type":"update_task","taskId":"t","script":""}',
    '{"type":"update_task","taskId":"t","prompt":"p","schedule_type":"interval","schedule_value":"60000"}',
    '{"type":"refresh_groups"}',
    (
        '{"type":"register_group","jid":"j","name":"n","folder":"f","trigger":"@a","requiresTrigger":false,'
        '"containerConfig":{"timeout":1}}'
    ),
]


@pytest.mark.parametrize("text", WRITTEN)
def test_an_operation_comes_back_as_it_was_written(text: str) -> None:
    # T-60, T-64
    assert read_task(json.loads(text)).to_json() == json.loads(text)


def test_every_type_of_operation_is_tried() -> None:
    # T-60
    assert {json.loads(text)["type"] for text in WRITTEN} == set(OPERATIONS)


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"type": "explode"},  # T-66
        {"type": ["pause_task"]},
        {"type": "pause_task"},
        {"type": "pause_task", "taskId": ""},
        {
            "type": "schedule_task",
            "prompt": "p",
            "schedule_type": "daily",
            "schedule_value": "v",
            "targetJid": "j",
        },
        {
            "type": "schedule_task",
            "prompt": "p",
            "schedule_type": "cron",
            "schedule_value": 5,
            "targetJid": "j",
        },
        {"type": "register_group", "jid": "j", "name": "n", "folder": "f"},
    ],
)
def test_what_is_no_operation_is_refused(document: Any) -> None:
    # T-61, T-66
    with pytest.raises(WireError):
        read_task(document)


@pytest.mark.parametrize(
    ("written", "read"), [("group", "group"), ("isolated", "isolated"), ("odd", "isolated")]
)
def test_a_context_that_is_none_is_isolated(written: str, read: str) -> None:
    # T-62
    document = json.loads(WRITTEN[1]) | {"context_mode": written}
    task = read_task(document)
    assert isinstance(task, ScheduleTask)
    assert task.context_mode == read


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.sampled_from(list(OPERATIONS)),
    st.dictionaries(st.sampled_from(["taskId", "prompt", "jid", "schedule_type", "script"]), JSON),
)
def test_hostile_documents_are_operations_or_wire_errors(tag: str, rest: dict[str, Any]) -> None:
    with contextlib.suppress(WireError):
        read_task({"type": tag} | rest)
