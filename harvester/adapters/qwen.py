"""Qwen Code: `qwen -p --output-format stream-json`. As Claude Code, but `error` is an object."""

from __future__ import annotations

from typing import Final

from harvester.adapters import blocks
from harvester.adapters.adapter import Adapter, Resume, by, json_lines
from harvester.adapters.failure import Failure, failure
from harvester.adapters.fields import Json, part, words


def _why(line: Json, reason: str) -> Failure:
    return failure(words(part(line, "error").get("message")) or reason)


QWEN: Final = Adapter(
    name="qwen",
    command="qwen -p --output-format stream-json",
    read=json_lines(
        {
            "system": by("subtype", {"init": blocks.session}),
            "assistant": blocks.message,
            "user": blocks.message,
            "stream_event": blocks.delta,
            "result": blocks.result(blocks.turn_cost, _why),
        }
    ),
    resume=Resume(words=("--resume", "{}")),
)
