"""The regular expressions of CommonMark 0.31 that the reading needs: HTML, fences, marks (named as there)."""

from __future__ import annotations

import re

REASONING = ("think", "thinking", "thought", "reasoning", "analysis", "scratchpad", "reflection")
INERT_ELEMENTS = ("code", "pre", "kbd", "samp", "q", "blockquote", "del", "s", "script", "style", "textarea")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|"
    "head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|"
    "param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)

_NAME = r"[A-Za-z][A-Za-z0-9-]*"
_BLANKS = r"[ \t\n]"
_ATTRIBUTE = (
    rf"(?:{_BLANKS}+[a-zA-Z_:][a-zA-Z0-9:._-]*"
    rf"(?:{_BLANKS}*={_BLANKS}*(?:[^\"'=<>` \t\n]+|'[^']*'|\"[^\"]*\"))?)"
)
OPEN_TAG = rf"<{_NAME}{_ATTRIBUTE}*{_BLANKS}*/?>"
CLOSE_TAG = rf"</{_NAME}{_BLANKS}*>"
COMMENT = r"<!-->|<!--->|<!--[\s\S]*?-->"
INLINE_HTML = re.compile(
    rf"{OPEN_TAG}|{CLOSE_TAG}|{COMMENT}|<\?[\s\S]*?\?>|<![A-Za-z][^>]*>|<!\[CDATA\[[\s\S]*?\]\]>"
)
AUTOLINK = re.compile(
    r"<[A-Za-z][A-Za-z0-9.+-]{1,31}:[^<>\x00-\x20]*>"
    r"|<[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
    r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*>"
)
TAG_NAME = re.compile(rf"<(/?)({_NAME})")

# GRAMMAR 2: attributes allowed, `<x/>` is none, on one line.
_NAMES = "|".join(REASONING)
REASONING_OPEN = re.compile(rf"<({_NAMES})(?=[ \t>]){_ATTRIBUTE}*[ \t]*>", re.IGNORECASE)
REASONING_CLOSE = re.compile(rf"</({_NAMES})[ \t]*>", re.IGNORECASE)
LINE_START = re.compile(r"[ \t]{0,3}(?=<)")

HTML_STARTS = {
    1: re.compile(r"<(?:script|pre|textarea|style)(?:[ \t]|>|$)", re.IGNORECASE),
    2: re.compile(r"<!--"),
    3: re.compile(r"<[?]"),
    4: re.compile(r"<![A-Za-z]"),
    5: re.compile(r"<!\[CDATA\["),
    6: re.compile(rf"</?(?:{_BLOCK_TAGS})(?:[ \t]|/?>|$)", re.IGNORECASE),
    7: re.compile(rf"(?:{OPEN_TAG}|{CLOSE_TAG})[ \t]*$", re.IGNORECASE),
}
HTML_ENDS = {
    1: re.compile(r"</(?:script|pre|textarea|style)>", re.IGNORECASE),
    2: re.compile(r"-->"),
    3: re.compile(r"\?>"),
    4: re.compile(r">"),
    5: re.compile(r"\]\]>"),
}

ATX = re.compile(r"(#{1,6})(?:[ \t]+|$)")
ATX_END = re.compile(r"(?:^|[ \t]+)#+[ \t]*$|[ \t]+$")
SETEXT = re.compile(r"(?:=+|-+)[ \t]*$")
BREAK = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$")
FENCE = re.compile(r"`{3,}(?!.*`)|~{3,}")
BULLET = re.compile(r"[*+-]|(\d{1,9})[.)]", re.ASCII)
DELIMITERS = re.compile(r"\|?[ \t\v\f]*:?-+:?[ \t\v\f]*(?:\|[ \t\v\f]*:?-+:?[ \t\v\f]*)*\|?[ \t\v\f]*$")


def reasoning_tag(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    """The reasoning tag that stands at `at` on one line, else None."""
    found = pattern.match(text, at)
    return None if found is None or re.search(r"[\r\n]", found.group()) else found
