"""`POST /exec`: one call (O-31)."""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic import Field
from starlette.responses import Response

from exec_daemon.api.answers import Written, answer, error_headers
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.head import head_of
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.calls.execute import Pending, Rehearsed
from messaging import ERRORS, Call, CallRequest, ErrorCode, Result
from messaging.tracing import HEADER, span

_ID: Final = r"^[\x21-\x7e]{1,200}$"
# RFC 7240: `Prefer: wait=10`, `Prefer: respond-async`, several with commas between.
_WAIT: Final = re.compile(r"wait=([0-9]{1,6})")


class ExecBody(Body):
    """What a caller sends; `args` are checked later, by the op."""

    op: str = Field(min_length=1, max_length=200)
    args: dict[str, Any] = Field(default_factory=dict)
    call_id: str | None = Field(
        default=None, pattern=_ID, description="1 to 200 visible ASCII characters, without blanks"
    )
    thread: str | None = Field(default=None, max_length=200)
    reply: str | None = Field(default=None, max_length=200)
    on_behalf_of: str | None = Field(default=None, max_length=64)
    dry_run: bool = False
    op_digest: str | None = Field(
        default=None, pattern=r"^[0-9a-f]{64}$", description="the digest that the op must have"
    )

    def request(self) -> CallRequest:
        """The call request."""
        return CallRequest(
            call=Call(self.op, self.args, self.call_id),
            thread=self.thread,
            reply=self.reply,
            on_behalf_of=self.on_behalf_of,
            dry_run=self.dry_run,
            op_digest=self.op_digest,
        )


def wait_s(preferences: list[str], most_s: float) -> float | None:
    """How long to wait for the end, from the `Prefer` fields; None: as long as it takes."""
    wishes = [wish.strip().lower() for field in preferences for wish in field.split(",")]
    waits = [match for wish in wishes if (match := _WAIT.fullmatch(wish))]
    if waits:
        return min(float(waits[0][1]), most_s)
    return 0.0 if "respond-async" in wishes else None


def _accepted(pending: Pending) -> Response:
    job = pending.job
    body = {"job_id": job.id, "call_id": job.call_id, "op": job.op, "state": str(job.state)}
    return answer(body, 202, {"location": f"/jobs/{job.id}"})


def _result(result: Result) -> Response:
    if result.error is None:
        return Written(result.to_text().encode("utf-8", "replace"))
    return answer(result.to_json(), ERRORS[result.error.code].http_status, error_headers(result.error))


def _ids(body: ExecBody, result: Result) -> dict[str, str | None]:
    """What the log tells of a call: names and ids, never arguments."""
    code = None if result.error is None else str(result.error.code)
    return {
        "op": result.op,
        "call_id": result.call_id,
        "job_id": result.job_id,
        "code": code,
        "thread": body.thread,
        "reply": body.reply,
        "on_behalf_of": body.on_behalf_of,
    }


async def call(ask: Ask) -> Response:
    """Runs the call and answers with its result."""
    limits = ask.services.settings.limits
    body = await read_body(ask.request, ExecBody, limits.max_call_bytes)
    if body.on_behalf_of is not None and (body.thread is None or body.reply is None):
        raise refuse(ErrorCode.INVALID_REQUEST, "on_behalf_of needs thread and reply.")
    sent = head_of(ask.request.scope).fields
    waiting_s = wait_s(ask.request.headers.getlist("prefer"), limits.max_wait_s) if "prefer" in sent else None
    wanted = {"inband.op": body.op, "inband.thread": body.thread, "inband.reply": body.reply}
    with span("inband.exec", wanted, parent=sent.get(HEADER)) as note:
        ended = await ask.services.executor.call(ask.asker, body.request(), waiting_s)
        if isinstance(ended, Result):
            note("inband.call_id", ended.call_id)
            note("inband.job_id", ended.job_id)
            note("inband.code", None if ended.error is None else str(ended.error.code))
    if isinstance(ended, Pending):
        return _accepted(ended)
    if isinstance(ended, Rehearsed):
        return answer(ended.to_json())
    ask.services.metrics.called(ended)
    ask.request.scope["inband.ids"] = _ids(body, ended)
    return _result(ended)
