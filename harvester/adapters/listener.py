"""What a stream of events has come to so far: session, words, tokens, and the stream's own verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    Output,
    PermissionDenied,
    Plan,
    Ready,
    Retry,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.failure import Failure
from harvester.adapters.usage import Spent

# Four times what is read of a reply; who says more in one turn is not making a point.
MAX_TEXT_CHARS: Final = 4 << 20
# The first ones tell what began to go wrong.
MAX_WARNINGS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The sum of a stream. `verdict` is the end of the last turn, None while that goes on.

    `failure` is what the turn failed of, or the last error so far; `gave_up`: that error was a fatal one.
    """

    session: str | None = None
    model: str | None = None
    ready: bool = False
    text: str | None = None
    spent: Spent = field(default_factory=Spent)
    verdict: TurnEnd | None = None
    failure: Failure | None = None
    gave_up: bool = False
    turns: int = 0
    tool_calls: int = 0
    failed_tools: int = 0
    raw_lines: int = 0
    warnings: tuple[str, ...] = ()


class Listener:
    """Feed it events; ask `heard` whenever you like.

    The final text of a turn (A-07) is what its end says, else the last message, else all pieces together.
    Pieces beside whole messages are the same words twice and count once (A-03).
    """

    def __init__(self) -> None:
        self._heard = Heard()
        self._begin_turn()

    @property
    def heard(self) -> Heard:
        """What it comes to so far."""
        if self._over:
            return self._heard
        return replace(self._heard, text=self._said(), gave_up=self._fatal is not None)

    @property
    def turn_is_over(self) -> bool:
        """Has the last turn ended, and no other begun?"""
        return self._over

    def feed(self, event: AgentEvent) -> None:
        """Take one event into account."""
        if self._over and _is_work(event):
            self._begin_turn()
            self._note(verdict=None, failure=None)
        if rule := self._RULES.get(type(event)):
            rule(self, event)

    def _begin_turn(self) -> None:
        self._over = False
        self._message: tuple[str | None, list[str]] = (None, [])
        self._deltas: list[str] = []
        self._chars = 0
        self._same_message = False
        self._fatal: Failure | None = None

    def _said(self) -> str | None:
        return "".join(self._message[1]) or "".join(self._deltas) or None

    def _note(self, **changes: Any) -> None:
        self._heard = replace(self._heard, **changes)

    def _session(self, event: SessionStarted) -> None:
        self._note(session=event.session, model=event.model or self._heard.model)

    def _ready(self, _event: Ready) -> None:
        self._note(ready=True)

    def _text(self, event: Text) -> None:
        if not event.text:
            return
        if not self._same_message or event.message != self._message[0]:
            self._message = (event.message, [])
        self._message[1].append(self._fitting(event.text))
        self._same_message = True

    def _delta(self, event: TextDelta) -> None:
        self._deltas.append(self._fitting(event.text))

    def _fitting(self, text: str) -> str:
        kept = text[: max(0, MAX_TEXT_CHARS - self._chars)]
        self._chars += len(kept)
        return kept

    def _tool_call(self, _event: ToolCall) -> None:
        self._same_message = False
        self._note(tool_calls=self._heard.tool_calls + 1)

    def _tool_result(self, event: ToolResult) -> None:
        self._same_message = False
        self._note(failed_tools=self._heard.failed_tools + (event.ok is False))

    def _cost(self, event: CostUpdate) -> None:
        spent = self._heard.spent
        self._note(spent=spent.at_least(event.spent) if event.running else spent.plus(event.spent))

    def _warn(self, event: Warned) -> None:
        self._add_warning(event.message)

    def _denied(self, event: PermissionDenied) -> None:
        self._add_warning(f"permission denied: {event.tool}")

    def _add_warning(self, text: str) -> None:
        self._note(warnings=(*self._heard.warnings, text)[:MAX_WARNINGS])

    def _failed(self, event: Failed) -> None:
        self._note(failure=event.failure)
        if event.fatal:
            self._fatal = event.failure

    def _raw(self, _event: Output) -> None:
        self._note(raw_lines=self._heard.raw_lines + 1)

    def _turn_end(self, event: TurnEnd) -> None:
        ending = event if event.failure or not self._fatal else replace(event, failure=self._fatal)
        self._note(
            verdict=ending,
            failure=ending.failure,
            text=event.text or self._said(),
            turns=self._heard.turns + 1,
        )
        self._begin_turn()
        self._over = True

    _RULES: ClassVar[dict[type[AgentEvent], Callable[[Any, Any], None]]] = {
        SessionStarted: _session,
        Ready: _ready,
        Text: _text,
        TextDelta: _delta,
        ToolCall: _tool_call,
        ToolResult: _tool_result,
        CostUpdate: _cost,
        Warned: _warn,
        PermissionDenied: _denied,
        Failed: _failed,
        Output: _raw,
        TurnEnd: _turn_end,
    }


# What begins another turn after one has ended; all else may follow an end and changes nothing in it.
_WORK: Final = (Text, TextDelta, Thinking, ToolCall, ToolResult, Plan, Retry)


def _is_work(event: AgentEvent) -> bool:
    return isinstance(event, _WORK) or (isinstance(event, Failed) and event.fatal)
