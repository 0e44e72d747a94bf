r"""User text made harmless, so that it can be given back exactly (O-63, O-64).

Inside its fence the text is inert already. The escapes are for the agent that copies a part of it into its
reply: of the forms of GRAMMAR sections 1 and 9 none is left in any stretch of lines, with or without the
fence; only calls in a dialect that marks them by nothing cannot be told from text.
The first character of what could begin one is written as `\u00XX`; a backslash that would read as such an
escape is written as `\u005c`, which is what makes the way back exact.
"""

from __future__ import annotations

import re

from patterns import vocabulary

_LANGUAGE = rf"[ \t]*(?:[^\s`]*[&\\]|(?i:{'|'.join(vocabulary().call_fences)})(?![\w-]))"
_NATIVE = "|".join(
    f"{re.escape(opener[0])}(?={re.escape(opener[1:])})" for opener in vocabulary().native_openers
)
_ACTIVE = re.compile(
    r"\\(?=u00(?:3c|41|5b|5c|60|63|7e))"  # what the way back would take for an escape
    r"|\[(?=TOOL|EXEC|DM|RESULT)"  # F1 to F4 and verdicts
    rf"|(?<!`)`(?=``++{_LANGUAGE})|(?<!~)~(?=~~++{_LANGUAGE})"  # F5
    r"|(?<!\w)c(?=url[ \t])"  # F6
    rf"|{_NATIVE}"  # GRAMMAR 9
)
_ESCAPE = re.compile(r"\\u00(3c|41|5b|5c|60|63|7e)")


def escaped(text: str) -> str:
    """`text` with an escape in place of the first character of whatever could begin a directive."""
    return _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def unescaped(text: str) -> str:
    """The inverse of `escaped`."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
