"""A curl of our own /exec as a call (GRAMMAR 6). It is parsed, never run by a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from harvester.policy import ScanPolicy
from harvester.scanner.calls import Written, call_object
from harvester.scanner.passage import utf8_bytes
from harvester.scanner.shell import Command, Word, read_command
from messaging.strict_json import StrictJsonError, load_object
from patterns import vocabulary
from patterns.words import CurlOption, CurlRole

COMMAND: Final = re.compile(r"(?:\$ )?(?=curl )")
_STDIN: Final = "@-"
_LAST_PORT: Final = (1 << 16) - 1
_FROM_STDIN: Final = frozenset({"-d", "--data"})


@cache
def _url(hosts: tuple[str, ...], allow_http: bool) -> re.Pattern[str]:  # noqa: FBT001 - the key of a cache
    scheme = "https?" if allow_http else "https"
    return re.compile(rf"{scheme}://(?:{'|'.join(map(re.escape, hosts))})(?::(?P<port>[0-9]{{1,5}}))?/exec")


def _is_ours(url: str, policy: ScanPolicy) -> bool:
    found = _url(policy.daemon_hosts, policy.allow_http).fullmatch(url)
    return found is not None and int(found["port"] or 0) <= _LAST_PORT


class _NoCall(Exception):
    """The command is no call of ours."""


def _long(word: Word, rest: Iterator[Word]) -> tuple[CurlOption, Word | None]:
    """`--name`, `--name value`, and for a body also `--name=value`."""
    name, joined, _ = word.text.partition("=")
    option = vocabulary().curl_options.get(name)
    if option is None or (joined and option.role is not CurlRole.BODY):
        raise _NoCall
    if joined:
        return option, word.behind(len(name) + 1)
    return option, next(rest, None) if option.takes_value else None


def _short(word: Word, rest: Iterator[Word]) -> Iterator[tuple[CurlOption, Word | None]]:
    """`-s`, joined to each other and to a value."""
    for place, letter in enumerate(word.text[1:], start=1):
        option = vocabulary().curl_options.get(f"-{letter}")
        if option is None:
            raise _NoCall
        if option.takes_value:
            yield option, word.behind(place + 1) if word.text[place + 1 :] else next(rest, None)
            return
        yield option, None


def _options(words: Iterator[Word], urls: list[str]) -> Iterator[tuple[CurlOption, Word | None]]:
    for word in words:
        if word.text.startswith("--"):
            yield _long(word, words)
        elif word.text.startswith("-") and word.text != "-":
            yield from _short(word, words)
        else:
            urls.append(word.text)


def _body(option: CurlOption, value: Word, document: str | None) -> str:
    if value.text == _STDIN and option.name in _FROM_STDIN and document is not None:
        return document
    if document is not None or not value.literal:
        raise _NoCall
    return value.text


def _judge(option: CurlOption, value: Word | None, document: str | None) -> Iterator[str]:
    """The body, if the option gives one; the rest must be harmless."""
    if not option.takes_value:
        return
    if value is None or (option.role is CurlRole.METHOD and value.text != "POST"):
        raise _NoCall
    if option.role is CurlRole.BODY:
        yield _body(option, value, document)
    elif value.text.startswith("@"):
        raise _NoCall


def _payload(command: Command, policy: ScanPolicy) -> str:
    urls: list[str] = []
    bodies: list[str] = []
    for option, value in _options(iter(command.words[1:]), urls):
        bodies.extend(_judge(option, value, command.document))
    if len(urls) != 1 or not _is_ours(urls[0], policy):
        raise _NoCall
    if len(bodies) != 1 or utf8_bytes(bodies[0]) > policy.max_directive_bytes:
        raise _NoCall
    return bodies[0]


def read_curl(text: str, policy: ScanPolicy, *, documents: bool) -> Written | None:
    """The call that the one command in `text` makes, None if it makes none."""
    prompt = COMMAND.match(text)
    command = read_command(text[prompt.end() :], documents=documents) if prompt else None
    if command is None:
        return None
    try:
        return call_object(load_object(_payload(command, policy)))
    except (_NoCall, StrictJsonError):
        return None
