"""Arguments are checked before anything is touched (O-42, O-43)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.box import ACTIONS, Action, BoxContext, BoxError, read
from exec_daemon.box.arguments import MAX_PID, PID, check
from messaging import ErrorCode

KEYED = [action for action in ACTIONS if action.argument]
PLAIN = [action for action in ACTIONS if not action.argument]

# What no argument may be, a line each: option smuggling, shell metacharacters, a trailing line break, NUL,
# traversal, too long, what looks alike or is a glob.
HOSTILE = [
    *("", " ", "-", "--", "-h", "--help", "--output=/tmp/pwn", "-rf"),
    *(f"x{mark}touch /tmp/pwn" for mark in (";", "|", "&", "`", "$(", ">", "<", "\n", "'", '"')),
    *("1\n", "bob\n", "nginx\r", "a\u2028"),
    *("a\0b", "\0"),
    *("..", "a..b", "../../etc/shadow", "/var/log/../../etc/shadow", "%2e%2e/", "/etc/shadow", "a/b", "~"),
    *("x" * 200_000, "x" * 129),
    *("é", "１", "nginx ", " nginx", "a b", "*", "?", "[a]"),
]


class Untouchable:
    """Fails the test when anything of it is used."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"touched: {name}")


def refusal(action: str, arg: object, context: BoxContext) -> BoxError:
    with pytest.raises(BoxError) as refused:
        read(action, arg, context)
    return refused.value


@pytest.mark.parametrize("arg", HOSTILE, ids=lambda arg: repr(arg)[:40])
@pytest.mark.parametrize("action", KEYED, ids=lambda action: action.name)
def test_a_hostile_argument_is_refused_before_anything_is_touched(  # O-43, D001 D003 D005 D006 D009 D018 D023
    action: Action, arg: str
) -> None:
    thing: Any = Untouchable()
    untouched = BoxContext(facts=thing, repos=thing, log_dir=thing, clock=thing)
    error = refusal(action.name, arg, untouched).error
    assert error.code is ErrorCode.INVALID_ARGS
    assert action.argument
    assert action.argument.expected in error.message
    assert len(error.message) < 400
    assert not Path("/tmp/pwn").exists()


@pytest.mark.parametrize("arg", [True, False, None, 1.5, [], {}, ["a"], 10**400], ids=repr)
@pytest.mark.parametrize("action", KEYED, ids=lambda action: action.name)
def test_an_argument_that_is_no_text_is_refused_by_its_type(action: Action, arg: object) -> None:  # O-42
    assert action.argument
    assert refusal(action.name, arg, BoxContext()).error.details["argument"] == action.argument.name


@pytest.mark.parametrize("action", PLAIN, ids=lambda action: action.name)
@pytest.mark.parametrize("arg", ["x", "", 0, False])
def test_a_read_without_argument_refuses_one(action: Action, arg: object) -> None:  # O-42
    error = refusal(action.name, arg, BoxContext()).error
    assert error.code is ErrorCode.INVALID_ARGS
    assert "takes no argument" in error.message


def test_a_process_is_asked_for_by_number_and_a_name_is_told_so() -> None:  # O-42
    error = refusal("process", "nginx", BoxContext()).error
    assert error.details["expected"] == f"a process id, a whole number from 1 to {MAX_PID}"
    assert "box.exec processes" in error.message


@pytest.mark.parametrize("pid", [1, "1", MAX_PID, str(MAX_PID)])
def test_a_pid_is_a_number_or_its_digits(pid: object) -> None:  # O-43
    assert check("process", PID, pid) == (str(pid),)


@pytest.mark.parametrize("pid", [0, -1, MAX_PID + 1, str(MAX_PID + 1), "007", "9999999", "0x10", "+1", "1e3"])
def test_a_pid_lies_between_one_and_the_largest_of_linux(pid: object) -> None:  # O-43
    with pytest.raises(BoxError):
        check("process", PID, pid)


def accepted(action: Action, text: str) -> str | None:
    try:
        return check(action.name, action.argument, text)[0]
    except BoxError:
        return None


ANY_TEXT = st.text() | st.from_regex(r"[a-zA-Z0-9._:@\\-]{0,140}\n?", fullmatch=True)


@given(ANY_TEXT, st.sampled_from(KEYED))
def test_whatever_is_accepted_is_short_plain_and_no_option(text: str, action: Action) -> None:  # O-43
    kept = accepted(action, text)
    assert kept in (None, text)
    kept = kept or "x"
    assert kept.isascii()
    assert kept.isprintable()
    assert not kept.startswith("-")
    assert not set(kept) & set("/ ;|&$<>\"'`*?")
    assert ".." not in kept
    assert len(kept) <= 128
