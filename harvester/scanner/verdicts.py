"""The agent's own verdict, a whole line `[RESULT] WORD` or `[RESULT {json}]` (GRAMMAR 8)."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from harvester.policy import ScanPolicy
from messaging.strict_json import StrictJsonError, decode_at
from patterns import vocabulary

_WORD: Final = "|".join(re.escape(word) for word in sorted(vocabulary().verdicts, key=len, reverse=True))
_MARKER: Final = r"(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)?"
_TASK: Final = r"(?:\[[ xX]\][ \t]++)?"
_HEADING: Final = r"(?:#{1,6}[ \t]++)?"
_EMPHASIS: Final = r"(?P<mark>\*{1,3}|_{1,3})?"
_SUMMARY: Final = r"[ \t]*+(?:[:–—-][ \t]*+(?P<summary>.*+))?"
_LINE: Final = re.compile(
    rf"[ \t]*+{_MARKER}{_TASK}{_HEADING}{_EMPHASIS}(?P<result>\[RESULT\])[ \t]++"
    rf"(?P<word>(?ai:{_WORD}))(?P<early>(?(mark)(?P=mark))?)[.!]?+(?P<late>(?(mark)(?P=mark))?){_SUMMARY}"
)
_JSON: Final = re.compile(r"[ \t]*+(?P<result>\[RESULT)[ \t]*+(?=\{)")
_JSON_END: Final = re.compile(r"[ \t]*+\][ \t]*+")
_KEYS: Final = frozenset({"verdict", "summary", "artifacts"})


class Judged(NamedTuple):
    """A verdict; `start` is where its `[RESULT` stands in the line."""

    word: str
    summary: str | None
    artifacts: tuple[Any, ...] | None
    start: int


def _closed(match: re.Match[str]) -> str | None:
    """The summary, with the emphasis closed once, after the word or at the end; else None."""
    summary = (match["summary"] or "").strip(" \t")
    mark = match["mark"] or ""
    if match["early"] and match["late"]:
        return None
    if not mark or match["early"] or match["late"]:
        return summary
    return summary[: -len(mark)].rstrip(" \t") if summary.endswith(mark) else None


def _in_words(line: str) -> Judged | None:
    match = _LINE.fullmatch(line)
    summary = _closed(match) if match else None
    if match is None or summary is None:
        return None
    return Judged(vocabulary().verdicts[match["word"].lower()], summary or None, None, match.start("result"))


def _from_json(value: dict[str, Any], start: int) -> Judged | None:
    said, summary, artifacts = value.get("verdict"), value.get("summary"), value.get("artifacts")
    word = vocabulary().verdicts.get(said.lower()) if isinstance(said, str) else None
    good = isinstance(value.get("summary", ""), str) and isinstance(value.get("artifacts", []), list)
    if word is None or not good or not value.keys() <= _KEYS:
        return None
    return Judged(word, summary, None if artifacts is None else tuple(artifacts), start)


def _in_json(line: str, policy: ScanPolicy) -> Judged | None:
    match = _JSON.match(line)
    if match is None:
        return None
    try:
        value, end = decode_at(line, match.end(), policy.max_directive_bytes)
    except StrictJsonError:
        return None
    return _from_json(value, match.start("result")) if _JSON_END.fullmatch(line, end) else None


def read_verdict(line: str, policy: ScanPolicy) -> Judged | None:
    """The verdict that the whole line is, None if it is text."""
    return _in_words(line) or _in_json(line, policy)
