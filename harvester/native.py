"""Calls in a model's native dialect among the directives of a reply (GRAMMAR 9).

The dialect's reader takes the reply apart; then the scanner reads what is left, in which each native call is
written as a directive of the same length. So what Markdown makes of a place holds for a native call as well:
in a fence, a quotation or code it is an example. Limits, order and verdicts come from one scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Final, TypeAlias

from harvester.dialects import (
    AUTO,
    PLAIN,
    Completion,
    Content,
    Dropped,
    NativeCall,
    Tools,
    parse,
    prompt_that_thinks,
    recognise,
)
from harvester.events import Directive, Event, Form, Skipped, SkipReason, Span
from harvester.policy import ScanPolicy
from harvester.scanner import scan_reply
from messaging import OpInfo
from messaging.normalise import Names

# A directive that stands for a native call. It is not looked at; F2 is the shortest there is.
_STAND_IN: Final = "[DM{}]"
# An image, an escape; a link.
_UNDOES_BEFORE: Final = ("!", "\\")
_UNDOES_BEHIND: Final = ("(", "[")

_Calls: TypeAlias = Mapping[int, NativeCall]


def tools_for(known: Names, registry: Iterable[OpInfo]) -> Tools:
    """The known ops as tools, under every name that means them."""
    properties = {op.name: op.args_schema for op in registry}

    def canonical(written: str) -> str:
        meaning = known.meaning(written)
        return written if meaning is None else meaning.op

    return Tools({op: properties.get(op, {}) for op in known.arguments}, canonical)


def scan_native(text: str, dialect: str, policy: ScanPolicy, tools: Tools) -> list[Event]:
    """As `scan_reply`, and the calls that `dialect` writes; they have the form `Form.NATIVE`."""
    if dialect == AUTO and recognise(text) is PLAIN:
        return scan_reply(text, policy)
    read = _readable(text, policy.max_reply_bytes)
    prompt = None
    if policy.reasoning_open and (prompt := prompt_that_thinks(read, dialect)):
        policy = replace(policy, reasoning_open=False)  # the dialect's reader takes care of it
    completion = parse(
        read, dialect=dialect, tools=tools, generation_prompt=prompt, truncated=len(read) < len(text)
    )
    masked, calls = _masked(read, completion)
    events = [_event(event, calls) for event in scan_reply(masked, policy)]
    events += [
        Skipped(SkipReason.BROKEN, piece.span) for piece in completion.pieces if isinstance(piece, Dropped)
    ]
    if len(read) < len(text):
        events.append(Skipped(SkipReason.LIMIT_REPLY, (len(read), len(text))))
    return sorted(events, key=lambda event: event.span[0])


def shown(text: str, dialect: str) -> str:
    """What a person is shown of a reply in `dialect`: its content, and the names of what it calls."""
    completion = parse(text, dialect=dialect)
    calls = ", ".join(call.name for call in completion.calls)
    return "\n".join(part for part in (completion.content, f"(calls {calls})" if calls else "") if part)


def _readable(text: str, most_bytes: int) -> str:
    """As much of a reply as is read (GRAMMAR 5.4)."""
    written = text.encode("utf-8", "surrogatepass")
    if len(written) <= most_bytes:
        return text
    kept = written[:most_bytes]
    while kept and written[len(kept)] & 0xC0 == 0x80:  # not in the middle of a character
        kept = kept[:-1]
    return kept.decode("utf-8", "surrogatepass")


def _masked(text: str, completion: Completion) -> tuple[str, _Calls]:
    """The content in its place, stand-ins for the calls, and line breaks for everything that is neither."""
    parts: list[str] = []
    calls: dict[int, NativeCall] = {}
    at = 0
    for span, pieces in groupby(completion.pieces, key=lambda piece: piece.span):
        group = list(pieces)
        parts.append(_hidden(text[at : span[0]]))
        if isinstance(group[0], Content):
            parts.append(text[slice(*span)])
        else:
            parts.append(_stood_in(text, span, [one for one in group if isinstance(one, NativeCall)], calls))
        at = span[1]
    return "".join((*parts, _hidden(text[at:]))), calls


def _hidden(text: str) -> str:
    return "".join(char if char.isspace() else "\n" for char in text)


def _stood_in(text: str, span: Span, group: list[NativeCall], calls: dict[int, NativeCall]) -> str:
    """A stand-in for each call of the group. What touches a directive may undo it (GRAMMAR 1): a blank is put
    between where what touches a native call means nothing to it.
    """
    start, end = span
    begin = " " if text[max(0, start - 1) : start] in _UNDOES_BEFORE else ""
    close = " " if text[end : end + 1] in _UNDOES_BEHIND else ""
    if not group or len(begin) + len(_STAND_IN) * len(group) + len(close) > end - start:
        return _hidden(text[start:end])
    for number, call in enumerate(group):
        calls[start + len(begin) + number * len(_STAND_IN)] = call
    filled = _STAND_IN * (len(group) - 1)
    last = _STAND_IN[:-2].ljust(end - start - len(begin) - len(filled) - len(close) - 2) + _STAND_IN[-2:]
    return f"{begin}{filled}{last}{close}"


def _event(event: Event, calls: _Calls) -> Event:
    """The event of a stand-in, as that of the call that it stands for."""
    call = calls.get(event.span[0])
    if call is None:
        return event
    if isinstance(event, Directive):
        return Directive(Form.NATIVE, call.name, call.arguments, call.span)
    return Skipped(event.reason, call.span) if isinstance(event, Skipped) else event
