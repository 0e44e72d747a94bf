"""Block structure line by line: CommonMark 0.31 and GFM tables (GRAMMAR 2).

A line is read in CommonMark's order: the open containers that it goes on, then the open leaf, then the blocks
that it begins, then text. What may run is examined when its block ends. Three things differ from CommonMark:
there are no reference definitions, a reasoning tag at the start of a line ends every block, and a comment
that its container cuts off goes on without it.
"""

from __future__ import annotations

import re
from typing import Final

from harvester.events import SkipReason
from harvester.scanner.containers import Containers
from harvester.scanner.endings import close_unfinished, run_fence
from harvester.scanner.examination import Cut, examine
from harvester.scanner.foresight import Outlook, outlook
from harvester.scanner.leaps import over_blank_lines, over_fences
from harvester.scanner.leaves import Fence, Hidden, Html, Leaf, Paragraph, Piece, Table, is_plain
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import Cursor, Line
from harvester.scanner.opening import heading, new_fence, new_hidden, new_html, new_paragraph
from harvester.scanner.starts import (
    CODE_INDENT,
    COMMENT_KIND,
    HTML_ENDS,
    Found,
    Open,
    Start,
    find_start,
    find_too_deep,
    is_delimiter_row,
)
from harvester.scanner.tags import LINE_REASONING, LINE_REASONING_END, REASONING
from harvester.scanner.watches import Watch

# What no block but a paragraph begins with, no delimiter row and no reasoning tag.
_TEXT: Final = re.compile(r"[^ \t>#`~=_*+<|:0-9-]")


class Blocks:
    """The open blocks of a reply. Each step may find a reasoning tag that takes over, and returns it."""

    __slots__ = ("_containers", "_leaf", "_ledger", "_policy")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._policy = ledger.policy
        self._containers = Containers(self._policy.max_containers)
        self._leaf: Leaf | None = None

    # ---- the way of a line -----------------------------------------------------------------------------

    def line(self, line: Line) -> Cut | None:
        """The next line."""
        if not line.text and (self._leaf is None or isinstance(self._leaf, Paragraph)):
            return self._blank(line)
        if self._is_plain_text(line):
            return self._text(line, line.begin)
        cursor = Cursor(line)
        blank = cursor.blank and not line.begin
        depth = self._containers.walk(cursor)
        within = depth == len(self._containers)
        if within and isinstance(self._leaf, Fence):
            self._in_fence(line, cursor, self._leaf)
            return None
        tag = self._line_tag(line)
        if tag or self._in_hidden(line, cursor, within=within):
            cut = tag
        else:
            cut = self._in_text(line, cursor, depth)
        if blank and not cut:
            self._ledger.dead = False  # GRAMMAR 4: "the next line that is blank"
        return cut

    def _blank(self, line: Line) -> Cut | None:
        """An empty line, where nothing is open that goes on with it: a shorter way once more."""
        cut = self.finish()
        if cut:
            return cut.then(line)
        self._containers.truncate(self._containers.walk_blank())
        self._ledger.dead = False
        return None

    def leap(self, text: str, pos: int, at: int) -> int:
        """How far the lines from `pos` on only go on the open leaf, which takes them, or are blank again."""
        if self._leaf is None:
            end = over_blank_lines(text, pos)
            return end if self._containers else over_fences(text, end)
        if isinstance(self._leaf, Fence | Paragraph | Table) and not self._containers:
            return self._leaf.leap(text, pos, at)
        return pos

    def _is_plain_text(self, line: Line) -> bool:
        """Most lines are: a shorter way to what `_in_text` would do with them."""
        alone = not self._containers and (self._leaf is None or isinstance(self._leaf, Paragraph))
        return alone and _TEXT.match(line.text, line.begin) is not None

    @property
    def in_paragraph(self) -> bool:
        """Is a paragraph open?"""
        return isinstance(self._leaf, Paragraph)

    @property
    def watch(self) -> Watch | None:
        """What must come for anything to be decided. In a container any line may end the open leaf."""
        if self._leaf is None or (self._containers and not self.in_paragraph):
            return None
        return self._leaf.watch

    def outlook(self, line: Line) -> Outlook:
        """What the beginning of the next line means for the open paragraph."""
        return outlook(line, self._containers)

    def finish(self, *, heading: bool = False) -> Cut | None:
        """The open leaf ends, or the reply; with `heading` a paragraph turns out to be a setext heading."""
        leaf, self._leaf = self._leaf, None
        return close_unfinished(leaf, self._ledger, self._inert(), heading=heading) if leaf else None

    def foretell(self, line: Line) -> Cut | None:
        """The open paragraph ends before this line, which may underline it. Commands in it depend on that."""
        paragraph = self._leaf
        if not isinstance(paragraph, Paragraph) or paragraph.may_command:
            return None
        cut = self.finish()
        if cut is None:
            self._leaf = new_paragraph(line, self._policy)  # nothing is left in it
        return cut

    def clear(self) -> None:
        """Every block is over, and nothing in the open leaf matters."""
        self._leaf = None
        self._containers.truncate(0)

    @property
    def idle(self) -> bool:
        """Is no leaf open, and may what comes run?"""
        return self._leaf is None and not self._ledger.dead

    @property
    def empty(self) -> bool:
        """Is no block open at all, and may what comes run?"""
        return self.idle and not self._containers

    @property
    def skippable(self) -> bool:
        """Is no leaf open that goes on behind a blank line?"""
        endless = isinstance(self._leaf, Html) and self._leaf.kind in HTML_ENDS
        return not endless and not isinstance(self._leaf, Fence)

    def _inert(self) -> SkipReason | None:
        """Why nothing in the open containers runs, if nothing does."""
        return self._containers.inert() or (SkipReason.DEAD if self._ledger.dead else None)

    def _line_tag(self, line: Line) -> Cut | None:
        """GRAMMAR 2: a reasoning tag at the start of a line counts whatever block the line is in."""
        if "<" not in line.text:
            return None
        closing = LINE_REASONING_END.match(line.text, line.begin)
        if closing:
            self._ledger.orphan(line.start + closing.end())
        tag = LINE_REASONING.match(line.text, line.begin)
        if tag is None:
            return None
        cut = self.finish()
        if cut:
            return cut.then(line)
        return Cut.at(line, tag.start("tag"), tag)

    # ---- the open leaf ---------------------------------------------------------------------------------

    def _in_fence(self, line: Line, cursor: Cursor, fence: Fence) -> None:
        if fence.closed_by(cursor):
            fence.close(line)
            self._leaf = None
            run_fence(fence, self._ledger)
        else:
            fence.add(cursor, line)

    def _in_hidden(self, line: Line, cursor: Cursor, *, within: bool) -> bool:
        """Does the line go on an HTML block or indented code?"""
        leaf = self._leaf
        if isinstance(leaf, Html):
            if leaf.kind == COMMENT_KIND and not within:  # GRAMMAR 2.4: its container cuts it off
                self._containers.truncate(0)
                within = True
            return within and self._in_html(line, cursor, leaf)
        if isinstance(leaf, Hidden) and within and (cursor.blank or cursor.indent() >= CODE_INDENT):
            leaf.see(line.text, line.start)
            return True
        return False

    def _in_html(self, line: Line, cursor: Cursor, leaf: Html) -> bool:
        if cursor.blank and leaf.kind not in HTML_ENDS:
            return False
        leaf.see(line.text, line.start)
        if leaf.ends(line.text, cursor.pos):
            self.finish()
        return True

    def _in_text(self, line: Line, cursor: Cursor, depth: int) -> Cut | None:
        """A paragraph or a table goes on, or something begins."""
        found = None
        if not cursor.blank:
            within = depth == len(self._containers)
            found = find_start(cursor, self._before(within=within))
            if found is None and self._can_go_on(within=within):
                return self._go_on(line, cursor, within=within)
        underline = found is not None and found.start is Start.UNDERLINE
        cut = self.finish(heading=underline)
        if cut:
            return cut.then(line)
        self._containers.truncate(depth)
        return None if cursor.blank else self._open(line, cursor, found)

    def _before(self, *, within: bool) -> Open:
        if not isinstance(self._leaf, Paragraph):
            return Open.NONE
        return Open.OWN if within else Open.LAZY

    def _can_go_on(self, *, within: bool) -> bool:
        """Only a paragraph has lazy continuation lines."""
        return isinstance(self._leaf, Paragraph) or (within and isinstance(self._leaf, Table))

    def _go_on(self, line: Line, cursor: Cursor, *, within: bool) -> Cut | None:
        leaf = self._leaf
        if not isinstance(leaf, Paragraph):
            return examine([Piece(line, cursor.first, len(line.text))], self._ledger, self._inert())
        if within and is_delimiter_row(cursor, leaf.last_line()):
            return self._begin_table(leaf, line)
        return self._text(line, cursor.first)

    def _text(self, line: Line, first: int) -> Cut | None:
        """A line of a paragraph, the one that is open or a new one."""
        paragraph = self._leaf if isinstance(self._leaf, Paragraph) else None
        tag = REASONING.search(line.text, first) if "<" in line.text else None
        if tag and self._counts_now(line, first, tag.start(), paragraph):
            self._leaf = None
            return Cut.at(line, tag.start(), tag)
        if paragraph is None:
            paragraph = self._leaf = new_paragraph(line, self._policy)
        paragraph.add(line, first)
        return None

    def _counts_now(self, line: Line, first: int, end: int, paragraph: Paragraph | None) -> bool:
        """Does the tag at `end` count whatever comes behind it, since nothing before it could cover it?

        Then no line has to be read twice, which a flood of tags would make quadratic.
        """
        if self._inert() not in {None, SkipReason.DEAD} or not is_plain(line.text, first, end):
            return False
        return paragraph is None or (not paragraph.long and paragraph.is_plain())

    def _begin_table(self, paragraph: Paragraph, line: Line) -> Cut | None:
        """The last line of the paragraph is the header row."""
        header = paragraph.split_header()
        cut = self.finish() if paragraph.pieces or paragraph.long else None
        if cut:
            return cut.then(header.line).then(line)
        self._leaf = Table()
        cut = examine([header], self._ledger, self._inert())
        return cut.then(line) if cut else None

    # ---- blocks that begin -----------------------------------------------------------------------------

    def _open(self, line: Line, cursor: Cursor, found: Found | None) -> Cut | None:
        self._containers.fill()
        while found and found.start in _CONTAINER_STARTS:
            if self._containers.full:
                found = find_too_deep(cursor)
                break
            self._containers.open(cursor, found)
            if cursor.blank:
                return None
            found = find_start(cursor, Open.NONE)
        return self._open_leaf(line, cursor, found)

    def _open_leaf(self, line: Line, cursor: Cursor, found: Found | None) -> Cut | None:
        if found is None:
            return self._text(line, cursor.first)
        if found.start is Start.HEADING:
            return examine([heading(line, found.match.end())], self._ledger, self._inert())
        if found.start is Start.FENCE:
            self._leaf = new_fence(line, cursor, found.match, self._inert(), self._policy)
        elif found.start is Start.HTML:
            self._open_html(line, found)
        elif found.start is Start.INDENTED:
            self._leaf = new_hidden(self._inert() or SkipReason.INDENTED, line, cursor.first)
        return None

    def _open_html(self, line: Line, found: Found) -> None:
        first = found.match.start()
        html = new_html(self._inert() or SkipReason.HTML_BLOCK, line, first, found.kind)
        self._leaf = html
        if html.ends(line.text, first):
            self.finish()


_CONTAINER_STARTS: Final = frozenset({Start.QUOTE, Start.ITEM})
