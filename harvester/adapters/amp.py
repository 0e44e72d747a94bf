"""Amp: `amp -x --stream-json`. As Claude Code, but a result counts one turn, and `error` is a string."""

from __future__ import annotations

from typing import Final

from harvester.adapters import blocks
from harvester.adapters.adapter import Adapter, Resume, by, json_lines
from harvester.adapters.failure import Failure, failure
from harvester.adapters.fields import Json, words


def _why(line: Json, reason: str) -> Failure:
    return failure(words(line.get("error")) or reason)


AMP: Final = Adapter(
    name="amp",
    command="amp -x --stream-json",
    read=json_lines(
        {
            "system": by("subtype", {"init": blocks.session}),
            "assistant": blocks.message,
            "user": blocks.message,
            "result": blocks.result(blocks.turn_cost, _why),
        }
    ),
    resume=Resume(words=("threads", "continue", "{}"), behind="amp"),
)
