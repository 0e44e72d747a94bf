"""Verdict lines (GRAMMAR 8)."""

from __future__ import annotations

import re

from tests.oracle import strict

WORDS = {
    "pass": "PASS",
    "fail": "FAIL",
    "blocked": "BLOCKED",
    "partial": "PARTIAL",
    "skip": "SKIP",
    "ok": "PASS",
    "done": "PASS",
    "success": "PASS",
    "succeeded": "PASS",
    "complete": "PASS",
    "completed": "PASS",
    "failed": "FAIL",
    "error": "FAIL",
    "waiting": "BLOCKED",
    "needs-human": "BLOCKED",
    "noop": "SKIP",
    "nothing-to-do": "SKIP",
}
_WORD = "|".join(sorted(WORDS, key=len, reverse=True))
_LEAD = r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?(?:#{1,6}[ \t]+)?"
_SUMMARY = r"(?:[ \t]*[:–—-].*?)?"
_LINE = re.compile(
    rf"{_LEAD}(?P<mark>\*{{1,3}}|_{{1,3}})?(?P<at>\[RESULT\])[ \t]+(?P<word>(?i:{_WORD}))(?(mark)(?:"
    rf"(?P=mark)[.!]?{_SUMMARY}|[.!]?(?:(?P=mark){_SUMMARY}|{_SUMMARY}(?P=mark)))|[.!]?{_SUMMARY})[ \t]*$",
    re.ASCII,
)
_JSON = re.compile(r"(?P<at>\[RESULT[ \t]*(?P<json>\{.*\})[ \t]*\])[ \t]*$")


def read(line: str) -> tuple[str, int] | None:
    """The word of a verdict line and where its `[` stands, if the line is one."""
    plain = _LINE.match(line)
    if plain:
        return WORDS[plain.group("word").lower()], plain.start("at")
    form = _JSON.match(line)
    word = _json_word(form.group("json")) if form else None
    return None if word is None else (word, 0)


def _json_word(text: str) -> str | None:
    try:
        found = strict.value(text)
    except strict.NotStrictError:
        return None
    if not found.keys() <= {"verdict", "summary", "artifacts"} or not isinstance(found.get("verdict"), str):
        return None
    if not isinstance(found.get("summary", ""), str) or not isinstance(found.get("artifacts", []), list):
        return None
    return WORDS.get(found["verdict"].lower())
