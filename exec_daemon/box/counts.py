"""queue, usage and errors: what waits, what it cost, what went wrong."""

from __future__ import annotations

import re
from typing import Final

from exec_daemon.box.hygiene import clean_lines
from exec_daemon.box.logs import TAIL_BYTES, tail
from exec_daemon.box.ports import BoxContext, StoreFacts
from exec_daemon.box.reading import Reading, absent, row

# O 7.1: the last 50 errors.
_ERRORS: Final = 50
# How a line of a log says that it is about a fault, in text and in JSON.
_FAULT: Final = re.compile(r"\b(?:ERROR|CRITICAL|FATAL|Traceback|error|critical)\b")


def queue(facts: StoreFacts, _context: BoxContext) -> Reading:
    """What waits in the daemon. What it does not keep is null."""
    return Reading(row(facts.queue()))


def usage(facts: StoreFacts, context: BoxContext) -> Reading:
    """Tokens and US dollars by agent and model."""
    found = facts.usage(context.scope)
    return absent("this daemon counts no tokens") if found is None else Reading({"usage": [*map(row, found)]})


def errors(facts: StoreFacts, context: BoxContext) -> Reading:
    """The last errors in the store, newest first, and the lines of our log that tell of one."""
    found = [row(each) for each in facts.errors(context.scope, _ERRORS)]
    text = tail(context.log_dir / "daemon.log") if context.log_dir else ""
    lines = [line for line in clean_lines(text, context.secrets, TAIL_BYTES) if _FAULT.search(line)]
    return Reading({"errors": found, "lines": lines[-_ERRORS:]})
