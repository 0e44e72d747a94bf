"""A result that is too large to be journaled is kept as an artifact; a reference stands for it (M-81)."""

from __future__ import annotations

from typing import Final

from exec_daemon.calls.op import Ended, Keeper, Success
from exec_daemon.store.json_text import dump
from exec_daemon.store.values import KeepArtifact
from messaging import ArtifactError, ErrorCode, error
from messaging.artifact_stores import MOST_RESULT_BYTES

_JSON: Final = "application/json"
# Of a character in UTF-8: shorter texts fit, and need not be counted in bytes.
_MOST_BYTES_EACH: Final = 4


async def small_enough(ended: Ended, keeper: Keeper) -> Ended:
    """`ended` with its text, its data kept and replaced by `{"artifact": …}` where they pass 256 KiB as JSON.

    What cannot be kept fails the call: its effects do not happen.
    """
    if not isinstance(ended, Success):
        return ended
    text = dump(ended.data)
    if len(text) <= MOST_RESULT_BYTES // _MOST_BYTES_EACH:
        return Success(ended.data, ended.effects, text)
    content = text.encode("utf-8", "replace")
    if len(content) <= MOST_RESULT_BYTES:
        return Success(ended.data, ended.effects, text)
    try:
        ref = await keeper.content(content, _JSON)
    except ArtifactError:
        return error(ErrorCode.UNAVAILABLE, "The result is too large to send, and could not be kept.")
    return Success({"artifact": ref.to_json()}, (*ended.effects, KeepArtifact(ref)))
