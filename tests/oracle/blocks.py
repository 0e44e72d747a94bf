"""Block structure after CommonMark 0.31's own parsing strategy (its appendix), plus GFM tables.

One `Blocks` reads from an offset on with a fresh structure, up to an opening reasoning tag at the start of a
line or to the end. For each line: match the open containers, then look for block starts, then add what is
left to the open leaf. `> ` and list items are containers; everything else is a leaf.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.oracle import shapes
from tests.oracle.leaves import BREAK, CODE, FENCE, HEADING, HTML, PARAGRAPH, ROW, Leaf
from tests.oracle.lines import Cursor, Line, lines_from
from tests.oracle.tables import starts_table


@dataclass
class Container:
    """A block quote (`indent` 0) or a list item, whose content starts `indent` columns in."""

    indent: int = 0
    has_child: bool = False

    @property
    def quote(self) -> bool:
        return self.indent == 0

    def continues(self, cursor: Cursor) -> bool:
        """Match this container on a line and advance over its prefix."""
        if self.quote:
            return _quote_mark(cursor)
        if cursor.blank:
            cursor.to_first()
            return self.has_child
        if cursor.indent < self.indent:
            return False
        cursor.columns(self.indent)
        return True


class Blocks:
    """The blocks of `text` from `start` on; `stop` is where an opening reasoning tag begins a line."""

    def __init__(self, text: str, start: int) -> None:
        self.leaves: list[Leaf] = []
        self.blank_lines: list[int] = []
        self.closing_tags: list[re.Match[str]] = []
        self.stop: re.Match[str] | None = None
        self.stack: list[Container] = []
        self.leaf: Leaf | None = None
        for line in lines_from(text, start):
            if not self._line(text, line, first=line.start == start):
                return

    def _line(self, text: str, line: Line, *, first: bool) -> bool:
        """Read one line; False where reasoning begins with it."""
        cursor = Cursor(line)
        matched = 0
        while matched < len(self.stack) and self.stack[matched].continues(cursor):
            matched += 1
        whole = matched == len(self.stack)
        in_fence = whole and self.leaf is not None and self.leaf.kind == FENCE
        if not in_fence and self._reasoning(text, line):
            return False
        if not in_fence and line.blank and not (first and line.start > 0):
            self.blank_lines.append(line.start)
        if self._cut_comment(whole) and self.leaf is not None:
            self.stack.clear()
            self._add_html(self.leaf, cursor)
        elif not (whole and self._fills_leaf(cursor)):
            self._open(cursor, matched)
        return True

    def _reasoning(self, text: str, line: Line) -> bool:
        """Note a reasoning tag at the start of the line; True if it opens (GRAMMAR 2)."""
        lead = shapes.LINE_START.match(line.text)
        if lead is None:
            return False
        at = line.start + lead.end()
        self.stop = shapes.reasoning_tag(shapes.REASONING_OPEN, text, at)
        closing = shapes.reasoning_tag(shapes.REASONING_CLOSE, text, at)
        if closing:
            self.closing_tags.append(closing)
        return self.stop is not None

    def _cut_comment(self, whole: bool) -> bool:
        """GRAMMAR 2.4: a comment that its container cuts off goes on."""
        return not whole and self.leaf is not None and self.leaf.html == 2

    # ---- leaves that take the line as it is ------------------------------------------------------

    def _fills_leaf(self, cursor: Cursor) -> bool:
        leaf = self.leaf
        if leaf is None or leaf.kind not in (FENCE, CODE, HTML):
            return False
        return {FENCE: self._fill_fence, CODE: self._fill_code, HTML: self._fill_html}[leaf.kind](
            leaf, cursor
        )

    def _fill_fence(self, leaf: Leaf, cursor: Cursor) -> bool:
        if cursor.indent < 4 and _closes(leaf.fence, cursor.rest()):
            leaf.closed = True
            self.leaf = None
            return True
        cursor.columns(leaf.indent)
        leaf.add(cursor.line.start + cursor.offset, cursor.line.text[cursor.offset :])
        return True

    def _fill_code(self, leaf: Leaf, cursor: Cursor) -> bool:
        if cursor.indent < 4 and not cursor.blank:
            self.leaf = None
            return False
        leaf.add(cursor.line.start + cursor.first, cursor.rest())
        return True

    def _fill_html(self, leaf: Leaf, cursor: Cursor) -> bool:
        if cursor.blank and leaf.html >= 6:
            self.leaf = None
            return False
        self._add_html(leaf, cursor)
        return True

    def _add_html(self, leaf: Leaf, cursor: Cursor) -> None:
        leaf.add(cursor.line.start + cursor.offset, cursor.line.text[cursor.offset :])
        if leaf.html < 6 and shapes.HTML_ENDS[leaf.html].search(cursor.rest()):
            self.leaf = None

    # ---- block starts ----------------------------------------------------------------------------

    def _open(self, cursor: Cursor, matched: int) -> None:
        """Try the block starts on what the containers left of the line, then add the rest as text."""
        whole = matched == len(self.stack)
        if cursor.blank:
            self._close(matched)
            return
        while True:
            here = self.leaf.kind if self.leaf is not None and whole else ""
            lazy = self.leaf is not None and self.leaf.kind == PARAGRAPH
            new = self._start(cursor, matched, here, lazy)
            if new is None:
                break
            if isinstance(new, Leaf):
                return
            matched, whole = len(self.stack), True
            if not cursor.rest():
                return
        self._add_text(cursor, matched, whole)

    def _start(self, cursor: Cursor, matched: int, here: str, lazy: bool) -> Container | Leaf | None:
        """The block that starts here, opened; `here` is the open leaf that this line may interrupt."""
        if cursor.indent >= 4:
            return None if lazy else self._leaf(CODE, cursor, matched)
        rest = cursor.rest()
        if rest[0] == ">":
            _quote_mark(cursor)
            return self._container(Container(), matched)
        if heading := shapes.ATX.match(rest):
            return self._leaf(HEADING, cursor, matched, skip=heading.end())
        if fence := shapes.FENCE.match(rest):
            return self._fence(cursor, matched, fence.group())
        if kind := _html_kind(rest, lazy):
            return self._html(cursor, matched, kind)
        if here == PARAGRAPH and shapes.SETEXT.match(rest):
            return self._setext()
        if shapes.BREAK.match(rest):
            return self._leaf(BREAK, cursor, matched)
        if item := _item(cursor, interrupts=here == PARAGRAPH):
            return self._container(item, matched)
        if here == PARAGRAPH and self.leaf and starts_table(self.leaf.pieces[-1].text, rest):
            return self._table(cursor, matched)
        return None

    def _container(self, new: Container, matched: int) -> Container:
        self._close(matched)
        self._adopt()
        self.stack.append(new)
        return new

    def _leaf(self, kind: str, cursor: Cursor, matched: int, skip: int = 0) -> Leaf:
        """Open a leaf that starts at the cursor; its first piece is the rest of the line behind `skip`."""
        self._close(matched)
        self._adopt()
        first = cursor.first
        leaf = Leaf(kind, cursor.line.start + first, len(self.stack), any(c.quote for c in self.stack))
        text = cursor.line.text[first + skip :]
        leaf.add(leaf.at + skip, shapes.ATX_END.sub("", text) if kind == HEADING else text)
        self.leaves.append(leaf)
        self.leaf = leaf if kind in (CODE, HTML, PARAGRAPH, ROW) else None
        return leaf

    def _fence(self, cursor: Cursor, matched: int, fence: str) -> Leaf:
        indent, info = cursor.indent, cursor.rest()[len(fence) :]
        leaf = self._leaf(FENCE, cursor, matched)
        leaf.pieces.clear()
        leaf.fence, leaf.indent, leaf.info = fence, indent, info.strip(" \t")
        self.leaf = leaf
        return leaf

    def _html(self, cursor: Cursor, matched: int, kind: int) -> Leaf:
        leaf = self._leaf(HTML, cursor, matched)
        leaf.html = kind
        if kind < 6 and shapes.HTML_ENDS[kind].search(cursor.rest()):
            self.leaf = None
        return leaf

    def _setext(self) -> Leaf:
        assert self.leaf is not None
        heading, self.leaf = self.leaf, None
        heading.kind = HEADING
        return heading

    def _table(self, cursor: Cursor, matched: int) -> Leaf:
        """The paragraph's last line becomes the header row; the delimiter row holds nothing to read."""
        paragraph = self.leaf
        assert paragraph is not None
        header = paragraph.pieces.pop()
        if not paragraph.pieces:
            self.leaves.remove(paragraph)
        row = self._leaf(ROW, cursor, matched)
        row.at, row.pieces = header.at, [header]
        return row

    def _add_text(self, cursor: Cursor, matched: int, whole: bool) -> None:
        """A paragraph's first or next line (a lazy one too), or a table's next row."""
        at, text = cursor.line.start + cursor.first, cursor.rest()
        if self.leaf is not None and self.leaf.kind == PARAGRAPH:
            self.leaf.add(at, text)
        elif whole and self.leaf is not None and self.leaf.kind == ROW:
            self._leaf(ROW, cursor, matched)
        else:
            self._leaf(PARAGRAPH, cursor, matched)

    def _close(self, matched: int) -> None:
        del self.stack[matched:]
        self.leaf = None

    def _adopt(self) -> None:
        if self.stack:
            self.stack[-1].has_child = True


def _quote_mark(cursor: Cursor) -> bool:
    if cursor.indent >= 4 or not cursor.rest().startswith(">"):
        return False
    cursor.to_first()
    cursor.chars(1)
    cursor.columns(1)
    return True


def _closes(fence: str, rest: str) -> bool:
    run = len(rest) - len(rest.lstrip(fence[0]))
    return run >= len(fence) and not rest[run:].strip(" \t")


def _html_kind(rest: str, lazy: bool) -> int:
    """Which of the seven kinds of HTML block starts with this text; no reasoning tag ever starts one."""
    for kind, start in shapes.HTML_STARTS.items():
        if start.match(rest) and not (kind == 7 and (lazy or _is_reasoning(rest))):
            return kind
    return 0


def _is_reasoning(rest: str) -> bool:
    return any(shapes.reasoning_tag(p, rest, 0) for p in (shapes.REASONING_OPEN, shapes.REASONING_CLOSE))


def _item(cursor: Cursor, *, interrupts: bool) -> Container | None:
    """A list item that starts here; the cursor then stands at its content."""
    marker = shapes.BULLET.match(cursor.rest())
    if marker is None:
        return None
    behind = cursor.rest()[marker.end() :]
    if behind and behind[0] not in " \t":
        return None
    if interrupts and (int(marker.group(1) or 1) != 1 or not behind.strip(" \t")):
        return None
    return Container(_to_content(cursor, len(marker.group())))


def _to_content(cursor: Cursor, width: int) -> int:
    """Advance over the marker and its padding; the columns that the item's content is indented by."""
    lead = cursor.indent
    cursor.to_first()
    cursor.chars(width)
    padding = cursor.indent
    if padding > 4 or cursor.blank:
        padding = 1
    cursor.columns(padding)
    return lead + width + max(padding, 1)
