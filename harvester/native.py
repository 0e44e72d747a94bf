"""Calls in a model's native dialect among the directives of a reply (GRAMMAR 9).

The dialect's reader takes the reply apart; then the scanner reads what is left, in which each native call is
written as a directive of the same length. So what Markdown makes of a place holds for a native call as well:
in a fence, a quotation or code it is an example. Limits, order and verdicts come from one scan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
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
    dialect_named,
    parse,
    prompt_that_thinks,
    recognise,
)
from harvester.dialects.dialect import Dialect
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

# What has no place in the text, with the blanks behind it.
_MARKER: Final = re.compile(r"\S+[ \t]*")

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
    family = dialect_named(dialect) or recognise(read, prompt)
    completion = _completion(read, family, tools, prompt)
    masked, calls = _masked(read, completion, apart=family.apart)
    events = [_event(event, calls) for event in scan_reply(masked, policy)]
    events += [
        Skipped(SkipReason.BROKEN, piece.span) for piece in completion.pieces if isinstance(piece, Dropped)
    ]
    if len(read) < len(text):
        events.append(Skipped(SkipReason.LIMIT_REPLY, (len(read), len(text))))
    return sorted(events, key=lambda event: event.span[0])


def _completion(text: str, family: Dialect, tools: Tools, prompt: str | None) -> Completion:
    """A reply taken apart. Nobody knows whether the model ended it, so its end completes no call.

    Where nobody said what the prompt ends with, the reply shows whether that has opened its reasoning.
    """
    read = partial(parse, text, dialect=family, tools=tools, truncated=True)
    completion = read(generation_prompt=prompt or "")
    if prompt is None and (opened := family.prompt_before(completion, truncated=False)):
        return read(generation_prompt=opened)
    return completion


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


class _Mask:
    """What the scanner gets to read, part by part. `in_paragraph`: no blank line parts its end from text.

    A line break that the reply does not have would end a quotation, a code span or whatever else goes to the
    end of a paragraph, so that what stands behind it is no example any more.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.in_paragraph = False
        self._line_has_text = False

    def add(self, text: str) -> None:
        """Text as it is to be read."""
        self.parts.append(text)
        for number, line in enumerate(text.split("\n")):
            if number:
                self.in_paragraph = self.in_paragraph and self._line_has_text
                self._line_has_text = False
            if line.strip():
                self.in_paragraph = self._line_has_text = True

    def hide(self, text: str, *, apart: bool) -> None:
        """Nothing in place of `text`; `apart`: what it parts are texts of their own."""
        fill = " " if self.in_paragraph and not apart else "\n"
        line = text.rfind("\n") + 1
        if not apart and text[line:].lstrip(" \t").startswith(">"):  # a quotation goes to the end of its line
            mark = text.index(">", line)
            self.add(f"{_blanked(text[:mark], fill)}>{' ' * (len(text) - mark - 1)}")
        else:
            self.add((_blanked if apart else _blanked_on)(text, fill))


def _blanked(text: str, fill: str) -> str:
    return "".join(char if char.isspace() else fill for char in text)


def _blanked_on(text: str, fill: str) -> str:
    """The blanks behind a marker in its line too: they indent nothing."""
    return _MARKER.sub(lambda found: fill * len(found[0]), text)


def _unindented(text: str, start: int, end: int, mask: _Mask) -> str:
    """The content from `start` to `end`; blanks behind a marker in its line indent nothing."""
    if not start or mask.in_paragraph or text[start - 1].isspace():
        return text[start:end]
    body = text[start:end].lstrip(" \t")
    return "\n" * (end - start - len(body)) + body


def _masked(text: str, completion: Completion, *, apart: bool) -> tuple[str, _Calls]:
    """The content in its place, stand-ins for the calls, and blanks for everything that is neither."""
    mask = _Mask()
    calls: dict[int, NativeCall] = {}
    at = 0
    # A reader that has yet to see what blanks are tells of them behind the reasoning that follows them.
    pieces = sorted(completion.pieces, key=lambda piece: piece.span[0])
    groups = [(span, list(group)) for span, group in groupby(pieces, key=lambda piece: piece.span)]
    following = (*(span[0] for span, _ in groups[1:]), len(text))
    for (span, group), behind in zip(groups, following, strict=False):  # a reply may have no piece at all
        found = [piece for piece in group if isinstance(piece, NativeCall)]
        start, end = _with_markers(text, at, span, behind) if found and not apart else span
        mask.hide(text[at:start], apart=apart)
        if isinstance(group[0], Content):
            mask.add(text[start:end] if apart else _unindented(text, start, end, mask))
        elif not _stand_in(mask, text, (start, end), found, calls):
            mask.hide(text[start:end], apart=apart)
        at = end
    mask.hide(text[at:], apart=apart)
    return "".join(mask.parts), calls


def _with_markers(text: str, at: int, span: Span, behind: int) -> Span:
    """A call and the markers around it, which may open and close a section of several calls."""
    before, after = text[at : span[0]], text[span[1] : behind]
    return span[0] - len(before.lstrip()), span[1] + len(after.rstrip())


def _stand_in(
    mask: _Mask, text: str, span: Span, group: list[NativeCall], calls: dict[int, NativeCall]
) -> bool:
    """A stand-in for each call of the group.

    What touches a directive may undo it (GRAMMAR 1): a blank is put between where what touches a native call
    means nothing to it.
    """
    start, end = span
    begin = " " if text[max(0, start - 1) : start] in _UNDOES_BEFORE else ""
    close = " " if text[end : end + 1] in _UNDOES_BEHIND else ""
    if not group or len(begin) + len(_STAND_IN) * len(group) + len(close) > end - start:
        return False
    for number, call in enumerate(group):
        calls[start + len(begin) + number * len(_STAND_IN)] = call
    filled = _STAND_IN * (len(group) - 1)
    last = _STAND_IN[:-2].ljust(end - start - len(begin) - len(filled) - len(close) - 2) + _STAND_IN[-2:]
    mask.add(f"{begin}{filled}{last}{close}")
    return True


def _event(event: Event, calls: _Calls) -> Event:
    """The event of a stand-in, as that of the call that it stands for."""
    call = calls.get(event.span[0])
    if call is None:
        return event
    if isinstance(event, Directive):
        return Directive(Form.NATIVE, call.name, call.arguments, call.span)
    return Skipped(event.reason, call.span) if isinstance(event, Skipped) else event
