"""The threads, and one of them with its replies marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from exec_daemon.api.body import query_number
from exec_daemon.api.endpoints import threads
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.web.asking import told
from exec_daemon.web.marking import outcomes, pieces
from messaging import AuthorKind, ErrorCode, MessageKind

# A long thread is shown in parts: what a browser lays out at once.
_SHOWN: Final = 100
# Results come right behind their reply.
_NEAR: Final = 50


async def every(ask: Ask) -> dict[str, Any]:
    """The last active one first."""
    return await told(ask, threads.every, query={"limit": 500})


async def one(ask: Ask) -> dict[str, Any]:
    """The newest messages of a thread, or those before `?before=SEQ`."""
    thread_id = ask.request.path_params["id"]
    thread = await told(ask, threads.one, id=thread_id)
    last = min(thread["last_seq"], query_number(ask.request, "before", 2**53, 2**53) - 1)
    first = max(0, last - _SHOWN)
    found = await _messages(ask, thread_id, first, last - first)
    return {
        "thread": thread,
        "messages": [_shown(ask, message, found) for message in found],
        "older": first + 1 if first else None,
        "live": last >= thread["last_seq"],
    }


async def message(ask: Ask) -> dict[str, Any]:
    """One message, for the script that follows the thread."""
    seq = ask.request.path_params["seq"]
    if not seq.isascii() or not seq.isdigit() or len(seq) > 15 or int(seq) < 1:
        raise refuse(ErrorCode.NOT_FOUND, "There is no such message.")
    found = await _messages(ask, ask.request.path_params["id"], int(seq) - 1, _NEAR)
    if not found or found[0]["seq"] != int(seq):
        raise refuse(ErrorCode.NOT_FOUND, "There is no such message.")
    return {"message": _shown(ask, found[0], found)}


async def _messages(ask: Ask, thread_id: str, after: int, limit: int) -> list[dict[str, Any]]:
    if limit <= 0:
        return []
    found = await told(ask, threads.messages, id=thread_id, query={"after": after, "limit": limit})
    return list(found["messages"])


def _shown(ask: Ask, message: Mapping[str, Any], near: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The message with its body in pieces; directives of a reply know how their calls ended."""
    is_reply = message["author_kind"] == AuthorKind.AGENT and message["kind"] == MessageKind.TEXT
    marks = ask.services.settings.marker(message["body"]) if is_reply else ()
    return {**message, "pieces": list(pieces(message["body"], marks, _ended(message, near)))}


def _ended(reply: Mapping[str, Any], near: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    return next(
        (
            outcomes(each["body"])
            for each in near
            if each["in_reply_to"] == reply["id"] and each["kind"] == MessageKind.RESULT
        ),
        {},
    )
