"""One read from its name to its document: checked, run, made safe, cut to size."""

from __future__ import annotations

import json
import os
from typing import Any, Final

import psutil

from exec_daemon.box import external
from exec_daemon.box.actions import ACTIONS, BY_NAME, Action, Source
from exec_daemon.box.arguments import check
from exec_daemon.box.bounds import clip, fit
from exec_daemon.box.hygiene import clean, clean_tree
from exec_daemon.box.ports import BoxContext
from exec_daemon.box.reading import Reading, absent
from exec_daemon.box.refusals import unknown_action
from exec_daemon.box.times import iso

# Notes are sentences; what a foreign program gives for one may be anything.
_NOTES: Final = 20
_NOTE_CHARS: Final = 300
_NO_STORE: Final = absent("no store here: this machine's daemon has not been started, or it is not ours")


def read(action: str, arg: object, context: BoxContext) -> dict[str, Any]:
    """`{action, host, at, data, truncated?, artifact?, notes?}` (O-45), at most 64 KiB as JSON.

    `arg` is None where none was given. Blocks for up to five seconds. Raises `BoxError` with
    UNKNOWN_ACTION, INVALID_ARGS, NOT_FOUND, UNAVAILABLE or TIMEOUT; the first two before anything is touched.
    """
    chosen = BY_NAME.get(action)
    if chosen is None:
        raise unknown_action(action, (known.name for known in ACTIONS))
    arguments = check(chosen.name, chosen.argument, arg)
    return _document(chosen, _ask(chosen, arguments, context), context)


def _ask(chosen: Action, arguments: tuple[str, ...], context: BoxContext) -> Reading:
    if chosen.source is Source.MACHINE and context.program:
        return external.ask(context.program, chosen.name, arguments, context.limit_s)
    try:
        if chosen.source is Source.STORE:
            return chosen.run(context.facts, context, *arguments) if context.facts else _NO_STORE
        return chosen.run(context, *arguments)
    except (psutil.Error, OSError) as failed:
        return absent(f"this machine does not tell: {failed}")


def _document(chosen: Action, found: Reading, context: BoxContext) -> dict[str, Any]:
    tree: dict[str, Any] = clean_tree({"available": True, **found.data}, context.secrets)
    data, cuts = fit(tree)
    notes = [clip(clean(note, context.secrets), _NOTE_CHARS) for note in (*found.notes, *cuts)[:_NOTES]]
    document: dict[str, Any] = {
        "action": chosen.name,
        "host": os.uname().nodename,
        "at": iso(context.clock()),
        "data": data,
    }
    if found.truncated or cuts:
        document["truncated"] = True
    whole = context.keep(json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace")) if cuts else None
    if whole is not None:
        document["artifact"] = whole
    return document | ({"notes": notes} if notes else {})
