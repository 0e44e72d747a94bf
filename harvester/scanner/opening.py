"""New leaf blocks from the line that begins them."""

from __future__ import annotations

import re

from harvester.events import SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner.leaves import Fence, Hidden, Html, Paragraph, Piece
from harvester.scanner.lines import Cursor, Line
from harvester.scanner.passage import utf8_bytes
from patterns import vocabulary


def heading(line: Line, behind: int) -> Piece:
    """The inside of an ATX heading: no blanks around it, no closing run of `#`."""
    content = line.text[behind:].rstrip(" \t")
    bare = content.rstrip("#")
    if not bare or bare[-1] in " \t":
        content = bare.rstrip(" \t")
    first = behind + len(content) - len(content.lstrip(" \t"))
    return Piece(line, first, behind + len(content))


def new_hidden(reason: SkipReason, line: Line, first: int) -> Hidden:
    """An inert block whose first line is read from `first` on."""
    hidden = Hidden(reason, line.start + first)
    hidden.see(line.text[first:], line.start + first)
    return hidden


def new_html(reason: SkipReason, line: Line, first: int, kind: int) -> Html:
    """An HTML block."""
    html = Html(reason, line.start + first, kind=kind)
    html.see(line.text[first:], line.start + first)
    return html


def new_paragraph(line: Line, policy: ScanPolicy) -> Paragraph:
    """A paragraph that begins on this line, which is still to be added."""
    return Paragraph(policy.max_paragraph_bytes, Hidden(SkipReason.TOO_LONG, line.start + line.begin))


def new_fence(
    line: Line, cursor: Cursor, match: re.Match[str], inert: SkipReason | None, policy: ScanPolicy
) -> Fence:
    """Fenced code. Its language is the first word of the info string, compared without case (GRAMMAR 3)."""
    info = (match["info"] or match["words"] or "").strip(" \t")
    language = re.split(r"[ \t]", info, maxsplit=1)[0].lower()
    words = vocabulary()
    may_run = inert is None and language in words.call_fences + words.shell_fences
    return Fence(
        run=match["run"] or match["waves"],
        indent=cursor.indent(),
        language=language,
        hidden=new_hidden(inert or SkipReason.FENCE, line, cursor.first),
        pieces=[] if may_run else None,
        room=policy.max_directive_bytes - utf8_bytes(line.text) - 1,
    )
