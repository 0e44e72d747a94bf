"""How an approved, denied or expired call ended, as the message that its thread gets. Pure."""

from __future__ import annotations

import json
from typing import Final

from exec_daemon.store import Approval, ApprovalState
from messaging import AuthorKind, MessageKind, NewMessage, Result, fence_mark, fenced, redact, strip_terminal
from prompt_envelope.escape import escaped

# As the messages of the harvester: what an agent reads at a glance (O-19).
_MOST_CHARS: Final = 3600
_HALF: Final = _MOST_CHARS // 2
_WORDS: Final = {
    ApprovalState.APPROVED: "approved by",
    ApprovalState.DENIED: "denied by",
    ApprovalState.EXPIRED: "expired, told by",
}


def message(approval: Approval, result: Result) -> NewMessage | None:
    """The message, once per approval by its key; None for a call that came from no thread."""
    if approval.call.thread is None:
        return None
    return NewMessage(
        thread=approval.call.thread,
        author="daemon",
        author_kind=AuthorKind.SYSTEM,
        kind=MessageKind.RESULT,
        body=_body(approval, result),
        in_reply_to=approval.call.reply,
        job_id=result.job_id or approval.id,
        key=f"approval:{approval.id}",
    )


def _body(approval: Approval, result: Result) -> str:
    """A heading of words that are ours, and a fence in which nothing can run or close it (O-18)."""
    parts = (
        approval.call.op,
        "ok" if result.ok else "failed",
        f"{_WORDS[approval.state]} {approval.decided_by}",
        f"job {approval.id}",
    )
    return f"{' · '.join(parts)}\n{fenced(_shown(result, approval.id), fence_mark(approval.id))}"


def _shown(result: Result, job_id: str) -> str:
    if result.error is not None:
        text = f"{result.error.code}: {result.error.message}"
    else:
        text = json.dumps(result.data, ensure_ascii=False, indent=1)
    clean = redact(strip_terminal(text)).encode("utf-8", "replace").decode()
    whole = escaped(clean)
    if len(whole) <= _MOST_CHARS:
        return whole
    note = f"… {len(clean) - _HALF:,} characters left out; all of it: op job.get, id {job_id} …"
    return f"{escaped(clean[:_HALF])[:_MOST_CHARS]}\n{note}"
