"""What single lines say, where no recorded stream shows it, and how each CLI goes on with a session."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harvester.adapters import ADAPTERS, FailureKind, failure
from harvester.adapters.failure import BY_STATUS, PHRASES, RETRYABLE, classify


def said(adapter: str, line: object) -> list[tuple[str, dict[str, Any]]]:
    events = ADAPTERS[adapter].read(json.dumps(line))
    return [(event.kind, event.payload()) for event in events]


def wrong(kind: str, message: str, *, retryable: bool = False) -> dict[str, Any]:
    return {"failure": {"kind": kind, "message": message, "status": None, "retryable": retryable}}


def end(reason: str, kind: str, message: str | None = None) -> list[tuple[str, dict[str, Any]]]:
    return [("turn_end", {"reason": reason} | wrong(kind, message or reason))]


SUBAGENT = {"parent_tool_use_id": "t1"}
THOUGHT = {"type": "stream_event", "event": {"delta": {"thinking": "hm"}}}
SAID = {"type": "stream_event", "event": {"delta": {"text": "hi"}}}
PIECE = {"type": "thinking_delta", "delta": "hm"}
# A command that was given up (A-01: its status is "completed" all the same).
ABANDONED = {"id": "i", "type": "command_execution", "exit_code": None, "status": "completed"}
METRICS = {"a": {"usage": {"inputTokens": 1}}, "b": {"usage": {"inputTokens": 2}}}
BUDGET = "error_max_budget_usd"


def pi_end(**message: str) -> dict[str, Any]:
    return {"type": "agent_end", "messages": [{"role": "assistant", **message}]}


def copilot(kind: str, **data: object) -> dict[str, Any]:
    return {"type": kind, "data": data}


LINES = [
    ("claude", SAID | SUBAGENT, [("subagent", {"agent": "t1", "text": "hi"})]),
    ("claude", THOUGHT, [("thinking", {"text": "hm"})]),
    ("claude", THOUGHT | SUBAGENT, []),
    ("claude", {"type": "assistant", "message": {"content": "hi"}}, [("text", {"text": "hi"})]),
    ("claude", {"type": "user", "message": {"role": "user", "content": "the prompt"}}, []),
    ("claude", {"type": "system", "subtype": "init"}, []),
    ("claude", {"type": "result", "subtype": BUDGET}, end(BUDGET, "limit")),
    ("claude", {"type": "result", "subtype": "success", "result": ""}, [("turn_end", {"reason": "success"})]),
    ("cursor", {"type": "tool_call", "subtype": "completed"}, [("tool_result", {"tool": ""})]),
    ("cursor", {"type": "result", "is_error": True, "result": "no"}, end("unknown", "unknown", "no")),
    (
        "codex",
        {"type": "item.completed", "item": ABANDONED},
        [("tool_result", {"call": "i", "tool": "command_execution"})],
    ),
    (
        "opencode",
        {"type": "step_finish", "part": {"reason": "length"}},
        end("length", "limit", "the step ended: length"),
    ),
    ("opencode", {"type": "step_start"}, []),
    ("pi", {"type": "message_update", "assistantMessageEvent": PIECE}, [("thinking", {"text": "hm"})]),
    ("pi", {"type": "message_end", "message": {"role": "assistant", "content": []}}, []),
    (
        "pi",
        {"type": "auto_retry_end", "success": False, "finalError": "overloaded"},
        [("error", wrong("throttle", "overloaded", retryable=True) | {"fatal": True})],
    ),
    ("pi", {"type": "extension_error", "error": "no"}, [("warning", {"message": "no"})]),
    ("pi", pi_end(stopReason="aborted"), end("aborted", "cancelled")),
    ("pi", {"type": "agent_end"}, end("no_reply", "unknown")),
    (
        "copilot",
        copilot("assistant.message", content="hi", parentToolCallId="t"),
        [("subagent", {"agent": "t", "text": "hi"})],
    ),
    ("copilot", copilot("assistant.message", content=""), []),
    ("copilot", copilot("assistant.message_delta", deltaContent="hi", parentToolCallId="t"), []),
    ("copilot", copilot("assistant.reasoning_delta", deltaContent="hm"), [("thinking", {"text": "hm"})]),
    ("copilot", copilot("session.warning", message="no"), [("warning", {"message": "no"})]),
    (
        "copilot",
        copilot("session.idle", aborted=True),
        end("aborted", "cancelled", "the session was aborted"),
    ),
    (
        "copilot",
        copilot("session.shutdown", modelMetrics=METRICS),
        [("cost_update", {"input_tokens": 3, "running": True})],
    ),
    ("copilot", copilot("session.shutdown"), []),
    ("kimi", {"role": "assistant", "content": None}, []),
    ("kimi", {"role": "nobody"}, [("output", {"text": '{"role": "nobody"}', "structured": True})]),
]


@pytest.mark.parametrize(("adapter", "line", "events"), LINES)
def test_a_line_says(adapter: str, line: object, events: list[tuple[str, dict[str, Any]]]) -> None:
    assert said(adapter, line) == events


def event(name: str, **payload: object) -> dict[str, object]:
    return {
        "type": "event",
        "event": name,
        "agent": "heron",
        "ts": "2026-11-30T12:00:00.000Z",
        "payload": payload,
    }


# J-03, J-26, J-27
ENVELOPE = [
    (event("error"), ["error"]),
    (event("turn_end", reason="end"), ["turn_end"]),
    (event("ready", protocolVersion="1", capabilities=["prompt"], session="s"), ["ready", "session_started"]),
    (event("ready"), ["ready"]),
    (event("text", text="hi"), ["text"]),
    (event("agent_output", chunk="hi"), ["text_delta"]),
    (event("thinking", text="hm"), ["thinking"]),
    (event("tool_call", tool="bash", call="c", arguments={}), ["tool_call"]),
    (event("tool_result", call="c", ok=True), ["tool_result"]),
    (event("warning", message="no"), ["warning"]),
    (event("cost_update", total_cost_usd=0.0123, input_tokens=24, output_tokens=118), ["cost_update"]),
    (event("agent_end"), ["turn_end"]),
    (event("agent_end", usage={"input_tokens": 1}), ["cost_update", "turn_end"]),
    (event("task_error", code="PI_PROCESS_DEAD", retryable=True), ["error"]),
    (event("brand_new"), ["output"]),
    ({"id": "r1", "ok": True}, ["output"]),
]


@pytest.mark.parametrize(("line", "kinds"), ENVELOPE)
def test_an_event_of_our_own_envelope_says(line: object, kinds: list[str]) -> None:
    assert [kind for kind, _ in said("envelope", line)] == kinds


def test_an_amount_that_is_no_number_of_dollars_is_none() -> None:
    #
    for amount in ("-1", "true", '"1"', "NaN", "1e999", "9" * 400):
        [ended] = ADAPTERS["claude"].read(
            f'{{"type":"result","subtype":"success","total_cost_usd":{amount}}}'
        )
        assert ended.kind == "turn_end"


def test_a_plain_program_says_its_reply_and_nothing_else() -> None:
    assert [event.payload() for event in ADAPTERS["plain"].read("hi")] == [{"text": "hi\n"}]


RESUMED = [
    ("claude", ["claude", "-p"], ["claude", "-p", "--resume", "s-1"]),
    ("codex", ["codex", "exec", "--json", "-"], ["codex", "exec", "resume", "s-1", "--json", "-"]),
    ("gemini", ["gemini"], ["gemini", "--resume", "s-1"]),
    ("opencode", ["opencode", "run"], ["opencode", "run", "-s", "s-1"]),
    ("pi", ["pi", "--mode", "json"], ["pi", "--mode", "json", "--session", "s-1"]),
    ("cursor", ["cursor-agent", "-p"], ["cursor-agent", "-p", "--resume", "s-1"]),
    ("amp", ["amp", "-x"], ["amp", "threads", "continue", "s-1", "-x"]),
    ("qwen", ["qwen", "-p"], ["qwen", "-p", "--resume", "s-1"]),
    ("copilot", ["copilot"], ["copilot", "--resume", "s-1"]),
    ("kimi", ["kimi", "--print"], ["kimi", "--print", "--session", "s-1"]),
]


@pytest.mark.parametrize(("adapter", "argv", "resumed"), RESUMED)
def test_a_session_goes_on_by_the_words_of_its_cli(adapter: str, argv: list[str], resumed: list[str]) -> None:
    #
    assert ADAPTERS[adapter].resumed(argv, "s-1") == resumed


def test_every_cli_that_has_sessions_is_in_the_table_above() -> None:
    assert {name for name, adapter in ADAPTERS.items() if adapter.resume} == {name for name, _, _ in RESUMED}


@pytest.mark.parametrize(
    ("adapter", "argv", "session", "problem"),
    [
        ("plain", ["llm"], "s-1", "cannot be told to resume"),
        ("codex", ["codex"], "s-1", "no 'exec'"),
        ("claude", ["claude"], "", "no session id"),
        ("claude", ["claude"], "--dangerously-skip-permissions", "no session id"),
    ],
)
def test_a_session_that_cannot_go_on_is_refused_and_no_fresh_one_begun(
    adapter: str, argv: list[str], session: str, problem: str
) -> None:
    #
    with pytest.raises(ValueError, match=problem):
        ADAPTERS[adapter].resumed(argv, session)


def test_every_phrase_leads_to_its_kind() -> None:
    #
    assert {(kind, classify(f"Error: {word.upper()}!")) for kind, words in PHRASES for word in words} == {
        (kind, kind) for kind, _ in PHRASES
    }
    assert sum(len(words) for _, words in PHRASES) >= 21
    assert classify("all is well") is FailureKind.UNKNOWN


def test_a_status_says_more_than_words_and_a_kind_more_than_a_status() -> None:
    # A-05, J-29
    assert failure("rate limit", status=401).kind is FailureKind.AUTH
    assert failure("rate limit", FailureKind.LIMIT, status=401).kind is FailureKind.LIMIT
    assert {kind for kind in BY_STATUS.values() if failure("", kind).retryable} == RETRYABLE
