"""gpt-oss: Harmony, messages of a header and a body; the header's recipient makes a body a call.

Source of the format: `docs/format.md` of openai/harmony and the chat template of openai/gpt-oss-20b. A header
names a channel (analysis, commentary, final), perhaps a recipient, in the role or the channel part, and
perhaps the content type. The prompt ends behind `<|start|>assistant`, so the reply begins inside a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.reading import Broken, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tools import Tools

_START, _MESSAGE, _CHANNEL = "<|start|>", "<|message|>", "<|channel|>"
_ENDS: Final = ("<|end|>", "<|call|>", "<|return|>")

_BEGINNINGS: Final = marks(_START, _CHANNEL)
_FIRST: Final = marks(_START, _CHANNEL, _MESSAGE, " to=", "to=")
_HEADER_END: Final = marks(_MESSAGE, _START, *_ENDS)
_BODY_BEHIND: Final = marks(_START, *_ENDS)
_NEXT: Final = marks(_START, _CHANNEL)

_CHANNEL_NAME: Final = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT: Final = re.compile(r"\bto=([^\s<]+)")
_FUNCTIONS: Final = "functions."


def _nothing(at: int, text: str) -> None:
    """Text that is for nobody: of an unknown channel, or for a tool that was not offered."""


def _read(reading: Reading, prompt: str) -> Steps[None]:
    source, start = reading.source, reading.source.at
    if prompt.endswith(_MESSAGE):
        yield from _body(reading, prompt[prompt.rfind(_START) + len(_START) :], start)
    elif (yield from source.marker_at(start, _FIRST)):
        yield from _message(reading, start)
    while True:
        marker = yield from source.pass_on(_BEGINNINGS, reading.writer.content)
        if marker is None:
            return
        yield from _message(reading, source.at)


def _message(reading: Reading, start: int) -> Steps[None]:
    """One message, from its header on. A header without a body is nothing."""
    source = reading.source
    skipped = len(_START) if source.text.startswith(_START, start) else 0
    found = yield from source.find(_HEADER_END, start + skipped)
    place, marker = found or (len(source.text), "")
    if marker == _MESSAGE:
        yield from _body(reading, source.text[start:place], start, place + len(marker))
        return
    if marker in _ENDS:
        place += len(marker)
    reading.writer.drop(source.base + start, source.base + place)
    source.settle(place)
    if marker in _ENDS:
        yield from _to_next(reading)


def _to_next(reading: Reading) -> Steps[None]:
    """Behind a message there is nothing but the next one."""
    source = reading.source
    start = source.at
    found = yield from source.find(_NEXT, start)
    source.settle(found[0] if found else len(source.text))


def _body(reading: Reading, header: str, start: int, position: int | None = None) -> Steps[None]:
    position = start if position is None else position
    recipient = _RECIPIENT.findall(header)
    if recipient and _is_tool(recipient[-1], reading.tools):
        yield from _call(reading, recipient[-1].removeprefix(_FUNCTIONS), start, position)
        return
    channels = _CHANNEL_NAME.findall(header)
    say = _listener(reading, channels[-1] if channels else "final", recipient[-1] if recipient else "")
    reading.source.settle(position)
    yield from _text(reading, say)


def _is_tool(recipient: str, tools: Tools) -> bool:
    """Tools live in `functions`; models leave that out at times, plain to see where the tool was offered."""
    return recipient.startswith(_FUNCTIONS) or bool(tools.schemas and tools.offers(recipient))


def _listener(reading: Reading, channel: str, recipient: str) -> Callable[[int, str], None]:
    """Who hears the text of a channel."""
    if channel == "analysis" and recipient in ("", "assistant"):
        reading.writer.think("")
        return reading.writer.reasoning
    heard = channel in ("final", "commentary") and recipient in ("", "assistant", "user")
    return reading.writer.content if heard else _nothing


def _text(reading: Reading, say: Callable[[int, str], None]) -> Steps[None]:
    """Text goes to the marker that ends its message: behind that one the next begins, or the reply ends."""
    source = reading.source
    while True:
        marker = yield from source.pass_on(_BODY_BEHIND, say)
        if marker is None or marker == _START:
            return
        behind = source.at + len(marker)
        following = yield from source.blanks(behind)
        if (yield from source.marker_at(following, _NEXT)):
            source.settle(following)
            return
        if (yield from source.cut_in(following, _NEXT)):
            source.settle(len(source.text))
            return
        say(source.base + source.at, marker)
        source.settle(behind)


def _call(reading: Reading, name: str, start: int, position: int) -> Steps[None]:
    source = reading.source
    try:
        position = yield from source.blanks(position)
        arguments, end = yield from reading.json_object(position)
        end = yield from _message_end(reading, end)
        reading.call(name, arguments, start, end)
    except Broken as broken:
        end = len(source.text) if broken.position is None else broken.position
        reading.writer.drop(source.base + start, source.base + end)
        source.settle(end)
        yield from _to_next(reading)
        return
    source.settle(end)


def _message_end(reading: Reading, position: int) -> Steps[int]:
    """Where the message ends whose arguments end at `position`: behind its marker, or with the reply."""
    behind = yield from reading.source.blanks(position)
    marker = yield from reading.source.marker_at(behind, _BODY_BEHIND)
    if marker is None and (yield from reading.source.char(behind)):
        raise Broken(behind)
    return behind + len(marker) if marker in _ENDS else behind


HARMONY: Final = Dialect(
    name="gpt-oss", machine=_read, apart=True, signs=(r"<\|channel\|>", r"<\|start\|>assistant")
)
