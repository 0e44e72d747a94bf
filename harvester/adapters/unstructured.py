"""Programs that write for people.

`unstructured` is for an agent that shows its tools' output and its own words in one stream, as Codex
without `--json` does: nobody can tell whose words a line holds, so nothing is harvested from it (A-07).
`plain` is for a program that writes its reply and nothing else, as a local model's command does.
"""

from __future__ import annotations

from typing import Final

from harvester.adapters.adapter import Adapter
from harvester.adapters.events import AgentEvent, Output, TextDelta


def _raw(line: str) -> tuple[AgentEvent, ...]:
    return (Output(line),) if line.strip() else ()


def _reply(line: str) -> tuple[AgentEvent, ...]:
    return (TextDelta(line + "\n"),)


UNSTRUCTURED: Final = Adapter(
    name="unstructured", command="any program; its lines are only shown", read=_raw, ends_turns=False
)
PLAIN: Final = Adapter(
    name="plain", command="any program whose whole output is the reply", read=_reply, ends_turns=False
)
