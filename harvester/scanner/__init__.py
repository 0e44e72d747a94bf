"""Finds directives and verdicts in an agent's reply, as the reply comes in (GRAMMAR sections 1 to 8).

front      Scanner: pieces of text in, events out; the limit of a reply
reading    which lines have to be read at all; `skipping` finds them
reply      reasoning, and the lines around it
blocks     block structure: `containers`, `starts`, `leaves`, `opening`, `endings` are its parts
foresight  what the beginning of a line ends
inside     what runs in a paragraph, heading or table row; `layout` says where text is inert
openers    F1 to F4; `fences` is F5, `curl` is F6, `verdicts` section 8
"""

from harvester.scanner.front import Scanner, orphan_end, scan_reply

__all__ = ["Scanner", "orphan_end", "scan_reply"]
