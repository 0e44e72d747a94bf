"""Each recorded stream against what it must come to: the table of tests/cases/agent_streams/README.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from harvester import parse
from harvester.adapters import FailureKind, Spent, Status, frame
from tests.harvester.adapters._streams import events_of, lines_of, outcome_of

CLAUDE_SESSION = "5e55a0de-0000-4000-8000-000000000001"
CODEX_SESSION = "0199a213-81c0-7800-8aa1-bbab2a035a53"
GEMINI_SESSION = "b1a1f0e2-0000-4000-8000-00000000000a"
PASS = "Disk is at 91%.\n[RESULT] PASS"
DISK = f"{PASS}: checked disk"
TOLD = DISK.replace("\n", '\n[TOOL dm.send {"to":"ops","text":"/ is 91% full [see df]"}]\n')
DM = DISK.replace("\n", '\n[DM {"to":"ops","text":"/ is 91% full"}]\n')
NOTES = "Reading the notes.Done.\n[RESULT] PASS"
CLAUDE_TOKENS = (24, 118, 4096, 1200)
NONE = (None, None, None, None)


@dataclass(frozen=True)
class Row:
    """The file's name begins with its adapter's."""

    file: str
    session: str | None
    text: str | None
    tokens: tuple[int | None, ...]
    cost: float | None
    failure: FailureKind | None = None

    @property
    def adapter(self) -> str:
        first = self.file.partition("_")[0]
        return {"noisy": "claude"}.get(first, "unstructured" if self.file in UNSTRUCTURED else first)


UNSTRUCTURED = {"codex_exec_unstructured.txt"}

# J-26, J-29
ROWS = [
    Row("claude_stream_json_success.jsonl", CLAUDE_SESSION, TOLD, CLAUDE_TOKENS, 0.0123),
    Row("claude_stream_json_partial_and_system.jsonl", CLAUDE_SESSION, "Hello", CLAUDE_TOKENS, 0.0123),
    Row("noisy_stdout_mixed.txt", CLAUDE_SESSION, TOLD, CLAUDE_TOKENS, 0.0123),
    Row("codex_exec_json_success.jsonl", CODEX_SESSION, DM, (24763, 122, 24448, 0), None),
    Row("codex_exec_json_failure.jsonl", CODEX_SESSION, None, NONE, None, FailureKind.FLAKE),
    Row("codex_exec_unstructured.txt", None, None, NONE, None),
    Row("gemini_stream_json.jsonl", GEMINI_SESSION, f"Checking the disk.{DISK}", (5200, 98, 4096, 0), None),
    Row("gemini_stream_json_error.jsonl", GEMINI_SESSION, None, (0, 0, 0, 0), None, FailureKind.LIMIT),
    Row("opencode_run_json.jsonl", "ses_4f2c", DISK, (2450, 159, 6101, 0), 0.0040),
    Row("opencode_run_json_error.jsonl", "ses_4f2c", None, NONE, None, FailureKind.QUOTA),
    Row("pi_mode_json.jsonl", "a1b2", "Disk is at 91%.", (120, 31, 2048, 0), 0.0015),
    Row("cursor_agent_stream_json.jsonl", CLAUDE_SESSION, NOTES, NONE, None),
    Row("copilot_output_json.jsonl", CLAUDE_SESSION, PASS, (900, 40, 512, 0), None, FailureKind.QUOTA),
    Row("kimi_print_stream_json.jsonl", None, DISK, NONE, None),
]


def four(spent: Spent) -> tuple[int | None, ...]:
    return (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens, spent.cache_write_tokens)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_a_recorded_stream_comes_to_its_session_text_tokens_cost_and_outcome(row: Row) -> None:
    outcome = outcome_of(row.adapter, lines_of(row.file))
    assert outcome.heard.session == row.session
    assert outcome.heard.text == row.text
    assert four(outcome.heard.spent) == row.tokens
    assert outcome.heard.spent.cost_usd == (None if row.cost is None else pytest.approx(row.cost))
    assert (outcome.failure and outcome.failure.kind) == row.failure
    assert outcome.status is (Status.FAILED if row.failure else Status.SUCCESS)


@dataclass(frozen=True, kw_only=True)
class Refused:
    """`line` counts from 1."""

    line: int
    reason: str
    kind: FailureKind
    cost: float
    tokens: tuple[int, ...]
    message: str
    status: int | None = None
    retryable: bool = False


# `is_error` decides, not the subtype.
CLAUDE_ERRORS = [
    Refused(
        line=5,
        reason="api_error",
        kind=FailureKind.THROTTLE,
        status=429,
        retryable=True,
        cost=0,
        tokens=CLAUDE_TOKENS,
        message="API Error: 429 rate limited",
    ),
    Refused(
        line=6,
        reason="error_max_turns",
        kind=FailureKind.LIMIT,
        cost=0.4412,
        tokens=CLAUDE_TOKENS,
        message="Reached maximum number of turns (20)",
    ),
    Refused(
        line=7,
        reason="error_during_execution",
        kind=FailureKind.STARTUP,
        cost=0,
        tokens=(0, 0, 0, 0),
        message="Current working directory is unavailable",
    ),
]


@pytest.mark.parametrize("wanted", CLAUDE_ERRORS, ids=lambda wanted: f"line {wanted.line}")
def test_each_way_that_claude_fails_has_its_kind_and_no_text(wanted: Refused) -> None:
    outcome = outcome_of("claude", lines_of("claude_stream_json_errors.jsonl")[wanted.line - 1 : wanted.line])
    spent, failed, verdict = outcome.heard.spent, outcome.failure, outcome.heard.verdict
    assert outcome.status is Status.FAILED
    assert verdict is not None
    assert failed is not None
    assert verdict.reason == wanted.reason
    assert (failed.kind, failed.status, failed.retryable) == (wanted.kind, wanted.status, wanted.retryable)
    assert failed.message == wanted.message
    assert spent.cost_usd == wanted.cost
    assert four(spent) == wanted.tokens
    assert outcome.heard.text is None


def test_a_running_total_is_replaced_by_the_next_one_and_never_added() -> None:
    #
    spent = outcome_of("claude", lines_of("claude_stream_json_errors.jsonl")).heard.spent
    assert (spent.cost_usd, spent.input_tokens) == (0.4412, 24)


@pytest.mark.parametrize(
    ("adapter", "lines_of_success", "tokens", "message"),
    [("amp", 5, (20, 12), "network down"), ("qwen", 3, (10, 3), "401")],
)
def test_a_success_and_then_a_failure_are_two_turns_and_the_last_one_is_the_outcome(
    adapter: str, lines_of_success: int, tokens: tuple[int, int], message: str
) -> None:
    lines = lines_of(f"{adapter}_stream_json.jsonl")
    first, both = outcome_of(adapter, lines[:lines_of_success]), outcome_of(adapter, lines)
    assert (first.status, first.heard.text, first.heard.turns) == (Status.SUCCESS, "91%", 1)
    assert (both.status, both.heard.text, both.heard.turns) == (Status.FAILED, None, 2)
    assert both.failure is not None
    assert both.failure.message == message
    assert (both.heard.spent.input_tokens, both.heard.spent.output_tokens) == tokens
    assert both.heard.spent.cost_usd is None


def test_tokens_that_codex_spends_on_reasoning_are_told_and_not_added() -> None:
    # they are part of the output tokens
    assert outcome_of("codex", lines_of("codex_exec_json_success.jsonl")).heard.spent == Spent(
        input_tokens=24763,
        output_tokens=122,
        cache_read_tokens=24448,
        cache_write_tokens=0,
        reasoning_tokens=64,
    )


def test_a_reconnecting_codex_has_not_failed_yet() -> None:
    # only `turn.failed` is the end
    lines = lines_of("codex_exec_json_failure.jsonl")
    assert outcome_of("codex", lines[:3]).status is Status.EMPTY_SUCCESS
    assert [event.kind for event in events_of("codex", lines[2:3])] == ["error"]
    assert events_of("codex", lines[3:4])[0].kind == "warning"


def test_gemini_counts_one_warning_and_one_failed_tool() -> None:
    outcome = outcome_of("gemini", lines_of("gemini_stream_json.jsonl"))
    assert outcome.warnings == ("Loop detected, stopping execution",)
    assert (outcome.heard.tool_calls, outcome.heard.failed_tools) == (2, 1)


def test_opencode_says_itself_whether_to_try_again() -> None:
    failed = outcome_of("opencode", lines_of("opencode_run_json_error.jsonl")).failure
    assert failed is not None
    assert (failed.status, failed.retryable) == (402, False)


def test_what_a_noisy_stdout_adds_is_kept_raw_and_harms_nothing() -> None:
    # A-01, J-26: two lines of no JSON, a torn one, three values that are no objects, an object without `type`
    raw = [
        event.payload()
        for event in events_of("claude", lines_of("noisy_stdout_mixed.txt"))
        if event.kind == "output"
    ]
    assert len(raw) == 7
    assert all(event["structured"] is False for event in raw)


def test_a_type_that_nobody_knows_yet_is_kept_raw() -> None:
    #
    raw = [
        e
        for e in events_of("claude", lines_of("claude_stream_json_partial_and_system.jsonl"))
        if e.kind == "output"
    ]
    assert [event.payload() for event in raw] == [
        {"text": '{"type": "brand_new_type_2027", "anything": 1}', "structured": True}
    ]


def test_codex_without_json_degrades_to_output_and_nothing_is_read_out_of_its_text() -> None:
    # J-26, J-29, A-07: a line could be a tool's output or the prompt, so none of them is the agent's word
    lines = lines_of("codex_exec_unstructured.txt")
    outcome = outcome_of("unstructured", lines)
    assert {event.kind for event in events_of("unstructured", lines)} == {"output"}
    assert outcome.reply is None
    assert outcome.heard.spent == Spent()
    # The same lines reach the JSON adapter where somebody forgot `--json`.
    assert {event.kind for event in events_of("codex", lines)} == {"output"}


def test_the_final_text_is_harvested_once_with_its_directive_and_verdict() -> None:
    # the text stands in an assistant line and again in the result line
    reply = outcome_of("claude", lines_of("claude_stream_json_success.jsonl")).reply
    assert reply is not None
    parsed = parse(reply)
    assert [found.call.op for found in parsed.calls] == ["dm.send"]
    assert parsed.verdict is not None
    assert parsed.verdict.word == "PASS"


def test_words_of_a_sub_agent_are_none_of_the_agents() -> None:
    #
    events = events_of("claude", lines_of("claude_stream_json_partial_and_system.jsonl"))
    texts: list[Any] = [event.payload()["text"] for event in events if event.kind == "text"]
    assert texts == ["Hello"]
    assert "(subagent) scanning" in [
        event.payload().get("text") for event in events if event.kind == "subagent"
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_what_one_machine_hears_another_can_be_told(row: Row) -> None:
    # J-03, J-26: framed events read by the envelope's adapter are the same events
    heard = events_of(row.adapter, lines_of(row.file))
    ts = "2026-11-30T12:00:00.000Z"
    lines = [json.dumps(frame(event, agent="heron", ts=ts, seq=seq)) for seq, event in enumerate(heard)]
    assert events_of("envelope", lines) == heard


EVERY_KIND = set(
    "session_started text text_delta thinking tool_call tool_result plan retry rate_limit permission_denied "
    "subagent cost_update warning error turn_end output".split()
)


def test_all_kinds_of_events_come_out_of_the_recorded_streams() -> None:
    #
    rows = [(row.adapter, row.file) for row in ROWS] + [("claude", "claude_stream_json_errors.jsonl")]
    assert {
        event.kind for adapter, file in rows for event in events_of(adapter, lines_of(file))
    } == EVERY_KIND


def test_a_request_that_waits_for_an_answer_is_a_warning() -> None:
    [warning] = events_of("claude", lines_of("claude_stream_json_control_output.jsonl"))
    assert warning.payload() == {"message": "waits for an answer to can_use_tool Bash"}
