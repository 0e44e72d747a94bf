"""The terminal rule: the stream's verdict, then the exit code, then the watchdog (A-04)."""

from __future__ import annotations

import pytest

from harvester.adapters import (
    ADAPTERS,
    Ended,
    Failure,
    FailureKind,
    Outcome,
    Spent,
    Status,
    conclude,
    failure,
)
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    Output,
    Ready,
    Retry,
    SessionStarted,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.listener import MAX_TEXT_CHARS, MAX_WARNINGS, Heard, Listener

FLAKE = failure("connection reset")
STALLED = failure("said nothing for 600 s", FailureKind.STALLED)
LOST = failure("began another session", FailureKind.SESSION_LOST)
GOOD = TurnEnd("success")
BAD = TurnEnd("failed", failure=FLAKE)


def heard(*events: AgentEvent) -> Heard:
    listener = Listener()
    for event in events:
        listener.feed(event)
    return listener.heard


def outcome(adapter: str, ended: Ended, *events: AgentEvent) -> Outcome:
    return conclude(ADAPTERS[adapter], heard(*events), ended)


# adapter, events, (exit code, why we stopped it), (status, kind of failure)
RULES = [
    # the stream's verdict stands first
    ("claude", [GOOD], (0, None), (Status.SUCCESS, None)),
    ("claude", [GOOD], (1, None), (Status.SUCCESS, None)),
    ("claude", [GOOD], (-15, STALLED), (Status.SUCCESS, None)),
    ("claude", [BAD], (0, None), (Status.FAILED, FailureKind.FLAKE)),
    ("claude", [BAD, GOOD], (0, None), (Status.SUCCESS, None)),
    ("claude", [Failed(FLAKE, fatal=True), GOOD], (0, None), (Status.FAILED, FailureKind.FLAKE)),
    ("claude", [Failed(FLAKE, fatal=False), GOOD], (0, None), (Status.SUCCESS, None)),
    # but for a session that is not the one to go on with
    ("claude", [GOOD], (0, LOST), (Status.FAILED, FailureKind.SESSION_LOST)),
    # a turn that went on after an end has no verdict
    ("claude", [GOOD, Text("more")], (-15, STALLED), (Status.FAILED, FailureKind.STALLED)),
    ("pi", [BAD, Retry("overloaded"), GOOD], (0, None), (Status.SUCCESS, None)),
    ("opencode", [GOOD, Failed(FLAKE, fatal=True)], (0, None), (Status.FAILED, FailureKind.FLAKE)),
    # then the exit code
    ("claude", [Text("hi")], (0, None), (Status.EMPTY_SUCCESS, None)),
    ("claude", [Failed(FLAKE, fatal=False)], (0, None), (Status.EMPTY_SUCCESS, None)),
    ("opencode", [Failed(FLAKE, fatal=True)], (0, None), (Status.FAILED, FailureKind.FLAKE)),
    ("codex", [Failed(FLAKE, fatal=False)], (1, None), (Status.FAILED, FailureKind.FLAKE)),
    ("cursor", [Text("hi")], (1, None), (Status.FAILED, FailureKind.UNKNOWN)),
    ("cursor", [Text("hi")], (-9, None), (Status.FAILED, FailureKind.DIED)),
    ("kimi", [Text("hi")], (0, None), (Status.SUCCESS, None)),
    ("kimi", [Text("hi")], (1, None), (Status.FAILED, FailureKind.UNKNOWN)),
    ("kimi", [], (0, None), (Status.EMPTY_SUCCESS, None)),
    ("unstructured", [Output("hi")], (0, None), (Status.SUCCESS, None)),
    # then the watchdog: the exit code was our own doing
    ("claude", [], (-15, STALLED), (Status.FAILED, FailureKind.STALLED)),
    ("kimi", [Text("hi")], (0, STALLED), (Status.FAILED, FailureKind.STALLED)),
]


@pytest.mark.parametrize(("adapter", "events", "end", "wanted"), RULES)
def test_the_first_rule_that_applies_decides(
    adapter: str,
    events: list[AgentEvent],
    end: tuple[int, Failure | None],
    wanted: tuple[Status, FailureKind | None],
) -> None:
    found = outcome(adapter, Ended(exit_code=end[0], stopped=end[1]), *events)
    assert (found.status, found.failure and found.failure.kind) == wanted


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (41, FailureKind.AUTH),
        (42, FailureKind.INPUT),
        (44, FailureKind.CONFIG),
        (52, FailureKind.CONFIG),
        (53, FailureKind.LIMIT),
        (54, FailureKind.TOOL),
        (55, FailureKind.CONFIG),
        (130, FailureKind.CANCELLED),
    ],
)
def test_the_exit_codes_of_gemini_have_meanings(code: int, kind: FailureKind) -> None:
    found = outcome("gemini", Ended(exit_code=code, stderr="it said\nthis\n\n"))
    assert found.failure == failure("this", kind)
    assert outcome("gemini", Ended(exit_code=code), Failed(FLAKE, fatal=False)).failure == failure(
        FLAKE.message, kind
    )


def test_a_failure_that_says_nothing_is_named_by_its_exit_code() -> None:
    assert outcome("gemini", Ended(exit_code=41)).failure == failure("exit code 41", FailureKind.AUTH)
    assert outcome("cursor", Ended(exit_code=3)).failure == failure("exit code 3", FailureKind.UNKNOWN)


def test_only_a_run_that_succeeded_has_a_reply_to_harvest() -> None:
    #
    assert outcome("copilot", Ended(), Text("hi"), TurnEnd("idle")).reply == "hi"
    failed = outcome("copilot", Ended(), Text("hi"), BAD)
    assert (failed.reply, failed.heard.text) == (None, "hi")


def test_the_final_text_is_the_ends_own_else_the_last_message_else_the_pieces() -> None:
    #
    spoken = (TextDelta("Let me"), TextDelta(" look."), Text("Let me look.", "m1"))
    assert heard(*spoken[:2], GOOD).text == "Let me look."
    assert heard(*spoken, Text("Done", "m2"), Text(", all.", "m2"), GOOD).text == "Done, all."
    assert heard(*spoken, TurnEnd("success", "Final.")).text == "Final."
    assert heard(*spoken).text == "Let me look."


def test_messages_without_a_name_are_told_apart_by_the_tools_between_them() -> None:
    events = (
        Text("a"),
        Text("b"),
        ToolCall("bash"),
        Text("c"),
        ToolResult(None, ok=True),
        Text("d"),
        Text("e"),
    )
    assert heard(*events).text == "de"
    assert heard(*events, Text("")).text == "de"


def test_each_turn_has_words_of_its_own() -> None:
    two = heard(Text("one"), GOOD, CostUpdate(Spent(cost_usd=1.0)), Text("two"), GOOD)
    assert (two.text, two.turns) == ("two", 2)
    assert heard(Text("one"), GOOD, GOOD).text is None
    # what comes after an end and is no work leaves its words alone
    assert heard(Text("one"), GOOD, SessionStarted("s"), Output("bye"), Warned("late")).text == "one"


def test_a_turn_is_over_until_there_is_work_again() -> None:
    listener, over = Listener(), []
    for event in (Ready("1"), Text("one"), GOOD, Warned("late"), ToolCall("bash")):
        listener.feed(event)
        over.append(listener.turn_is_over)
    assert over == [False, False, True, True, False]
    assert listener.heard.ready


def test_words_and_warnings_without_end_are_cut() -> None:
    flood = heard(*[TextDelta("x" * MAX_TEXT_CHARS)] * 2, *[Warned("again")] * 2 * MAX_WARNINGS)
    assert flood.text == "x" * MAX_TEXT_CHARS
    assert len(flood.warnings) == MAX_WARNINGS


def test_amounts_add_up_and_what_is_not_reported_stays_unknown() -> None:
    #
    one = CostUpdate(Spent(input_tokens=2, cost_usd=0.5))
    assert heard(one, one, CostUpdate(Spent(output_tokens=1))).spent == Spent(
        input_tokens=4, output_tokens=1, cost_usd=1.0
    )
    running = CostUpdate(Spent(input_tokens=3), running=True)
    assert heard(one, running, running).spent == Spent(input_tokens=3, cost_usd=0.5)


def test_the_json_of_an_outcome_says_null_for_what_is_not_known() -> None:
    #
    shown = outcome("claude", Ended(exit_code=None, stopped=STALLED)).to_json()
    assert shown["status"] == "failed"
    assert shown["failure"]["kind"] == "stalled"
    assert shown["usage"]["cost_usd"] is None
    assert (shown["session"], shown["text"], shown["reason"], shown["exit_code"]) == (None, None, None, None)
