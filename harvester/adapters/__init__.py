"""One small file a CLI: a pure function from a line of its output to events that are the same for all.

    bytes ─▶ LineReader ─▶ Adapter.read ─▶ events ─▶ Listener ─▶ Heard ─▶ conclude ─▶ Outcome

To add a CLI, write its file and put its adapter into the table below; docs/adapters.md shows how.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from harvester.adapters.adapter import Adapter, Resume
from harvester.adapters.amp import AMP
from harvester.adapters.claude import CLAUDE
from harvester.adapters.codex import CODEX
from harvester.adapters.copilot import COPILOT
from harvester.adapters.cursor import CURSOR
from harvester.adapters.envelope import ENVELOPE
from harvester.adapters.events import AgentEvent
from harvester.adapters.failure import Failure, FailureKind, failure
from harvester.adapters.frames import frame
from harvester.adapters.gemini import GEMINI
from harvester.adapters.kimi import KIMI
from harvester.adapters.lines import LineReader
from harvester.adapters.listener import Heard, Listener
from harvester.adapters.opencode import OPENCODE
from harvester.adapters.outcome import Ended, Outcome, Status, conclude
from harvester.adapters.pi import PI
from harvester.adapters.qwen import QWEN
from harvester.adapters.unstructured import PLAIN, UNSTRUCTURED
from harvester.adapters.usage import Spent

_ALL: Final = (
    CLAUDE,
    CODEX,
    GEMINI,
    OPENCODE,
    PI,
    CURSOR,
    AMP,
    QWEN,
    COPILOT,
    KIMI,
    ENVELOPE,
    PLAIN,
    UNSTRUCTURED,
)

ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType({adapter.name: adapter for adapter in _ALL})

__all__ = [
    "ADAPTERS",
    "Adapter",
    "AgentEvent",
    "Ended",
    "Failure",
    "FailureKind",
    "Heard",
    "LineReader",
    "Listener",
    "Outcome",
    "Resume",
    "Spent",
    "Status",
    "conclude",
    "failure",
    "frame",
]
