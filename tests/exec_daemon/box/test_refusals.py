"""UNKNOWN_ACTION and its way out (O-41)."""

from __future__ import annotations

import pytest

from exec_daemon.box import ACTIONS, BoxContext, BoxError, read
from exec_daemon.box.refusals import _KNOWN_ELSEWHERE, _OPS
from messaging import CallError, ErrorCode
from patterns import vocabulary


def refused(action: str) -> CallError:
    with pytest.raises(BoxError) as caught:
        read(action, None, BoxContext())
    return caught.value.error


@pytest.mark.parametrize(
    "name", ["nope", "", "disk\n", "Disk", "uptime\n", "a\0b", "x" * 200_000, "[TOOL dm.send {}]"]
)
def test_an_unknown_action_is_refused_with_the_list_of_the_27(name: str) -> None:  # O-41
    error = refused(name)
    assert error.code is ErrorCode.UNKNOWN_ACTION
    assert error.details["actions"] == [action.name for action in ACTIONS]
    assert all(action.name in error.message for action in ACTIONS)
    assert len(error.message) < 600


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("restart", "swarm.stop"),
        ("restart nginx", "swarm.spawn"),
        ("service_restart", "swarm.spawn"),
        ("kill", "swarm.stop"),
        ("job.cancel", "job.cancel"),
        ("write", "artifact.put"),
        ("PAUSE", "cron.pause"),
        ("timer-delete", "cron.cancel"),
        ("send", "dm.send"),
    ],
)
def test_a_name_that_asks_for_a_change_is_told_the_op(name: str, op: str) -> None:  # O-41
    error = refused(name)
    assert op in error.details["ops"]
    assert f"use op {' or '.join(error.details['ops'])}" in error.message


@pytest.mark.parametrize("name", ["reboot", "shutdown", "exec", "rm"])
def test_a_change_that_no_op_makes_is_told_so(name: str) -> None:  # O-41
    assert "no op does that" in refused(name).message


@pytest.mark.parametrize(("name", "read_name"), [("memry", "memory"), ("df", "disk"), ("top", "processes")])
def test_a_near_name_is_suggested(name: str, read_name: str) -> None:  # O-41
    error = refused(name)
    assert error.details["near"][0] == read_name
    assert f"Did you mean {read_name}" in error.message


def test_what_is_suggested_exists() -> None:
    assert {op for ops in _OPS.values() for op in ops} <= set(vocabulary().known_ops)
    assert set(_KNOWN_ELSEWHERE.values()) <= set(vocabulary().box_actions)
    assert not set(vocabulary().box_actions) & {*_OPS, *_KNOWN_ELSEWHERE}


def test_a_directive_in_the_name_is_not_repeated_as_one() -> None:  # O-18
    assert "[TOOL" not in refused("[TOOL dm.send {}]").message
