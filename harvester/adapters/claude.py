"""Claude Code: `claude -p --verbose --output-format stream-json`.

`modelUsage` counts all models and sub-agents where `usage` counts the main loop only, and both and
`total_cost_usd` are totals of the session so far. The words of an assistant line that has `error` are the
CLI's, not the agent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from harvester.adapters import blocks
from harvester.adapters.adapter import Adapter, Resume, by, json_lines, silent
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    PermissionDenied,
    RateLimit,
    Retry,
    Subagent,
    Warned,
)
from harvester.adapters.failure import Failure, FailureKind, failure
from harvester.adapters.fields import Json, amount, count, part, text, texts_of, words
from harvester.adapters.usage import Spent

# `error` of an assistant line.
_MESSAGE_ERRORS: Final = {
    "authentication_failed": FailureKind.AUTH,
    "billing_error": FailureKind.QUOTA,
    "rate_limit": FailureKind.THROTTLE,
    "invalid_request": FailureKind.INPUT,
    "server_error": FailureKind.FLAKE,
}
_SUBTYPES: Final = {
    "error_max_turns": FailureKind.LIMIT,
    "error_max_budget_usd": FailureKind.LIMIT,
    "error_max_structured_output_retries": FailureKind.LIMIT,
}


def _assistant(line: Json) -> Iterable[AgentEvent]:
    wrong = text(line.get("error"))
    if wrong is None:
        return blocks.message(line)
    said = texts_of(part(line, "message").get("content")) or wrong
    return (Failed(failure(said, _MESSAGE_ERRORS.get(wrong)), fatal=False),)


def _retry(line: Json) -> Iterator[AgentEvent]:
    yield Retry(words(line.get("error")), count(line.get("attempt")), count(line.get("retry_delay_ms")))


def _task(line: Json) -> Iterator[AgentEvent]:
    yield Subagent(words(line.get("task_id")), text(line.get("summary")) or text(line.get("description")))


def _denied(line: Json) -> Iterator[AgentEvent]:
    yield PermissionDenied(words(line.get("tool_name")))


def _rate_limit(line: Json) -> Iterator[AgentEvent]:
    limit = part(line, "rate_limit_info")
    yield RateLimit(
        words(limit.get("status")), amount(limit.get("utilization")), count(limit.get("resetsAt"))
    )


def _asks(line: Json) -> Iterator[AgentEvent]:
    """A request that the CLI wants answered on its stdin."""
    request = part(line, "request")
    yield Warned(f"waits for an answer to {words(request.get('subtype'))} {words(request.get('tool_name'))}")


def _model(used: Json) -> Spent:
    return Spent(
        input_tokens=count(used.get("inputTokens")),
        output_tokens=count(used.get("outputTokens")),
        cache_read_tokens=count(used.get("cacheReadInputTokens")),
        cache_write_tokens=count(used.get("cacheCreationInputTokens")),
    )


def _cost(line: Json) -> CostUpdate:
    spent = Spent(cost_usd=amount(line.get("total_cost_usd")))
    models = part(line, "modelUsage")
    for name in models:
        spent = spent.plus(_model(part(models, name)))
    return CostUpdate(spent if models else spent.plus(blocks.tokens(part(line, "usage"))), running=True)


def _why(line: Json, reason: str) -> Failure:
    errors = line.get("errors")
    said = "; ".join(map(words, errors)) if isinstance(errors, list) else words(line.get("result"))
    startup = FailureKind.STARTUP if line.get("startup_failure_reason") else None
    return failure(
        said or reason, startup or _SUBTYPES.get(reason), status=count(line.get("api_error_status"))
    )


_SYSTEM: Final = {
    "init": blocks.session,
    "api_retry": _retry,
    "task_started": _task,
    "task_notification": _task,
    "permission_denied": _denied,
    "status": silent,
    "compact_boundary": silent,
    "session_state_changed": silent,
}

CLAUDE: Final = Adapter(
    name="claude",
    command="claude -p --verbose --output-format stream-json",
    read=json_lines(
        {
            "system": by("subtype", _SYSTEM),
            "assistant": _assistant,
            "user": blocks.message,
            "stream_event": blocks.delta,
            "rate_limit_event": _rate_limit,
            "control_request": _asks,
            "control_response": silent,
            "keep_alive": silent,
            "tool_progress": silent,
            "result": blocks.result(_cost, _why),
        }
    ),
    resume=Resume(words=("--resume", "{}")),
)
