"""Stopping a job over NATS: a request on `jobs.<job_id>.control`, and its acknowledgement (M-65)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from messaging.sinks.errors import SinkBroken
from messaging.sinks.nats_connection import connect, control_subject, disconnect
from messaging.strict_json import StrictJsonError, load_object

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

# Told the reason; False when the job has ended already.
Cancel = Callable[[str | None], bool]

ALREADY_TERMINAL = "already_terminal"


def answer_control(content: bytes, cancel: Cancel) -> Mapping[str, Any] | None:
    """What a control message is answered with; None for a type that we do not know, which is ignored."""
    try:
        document = load_object(content.decode())
    except (UnicodeDecodeError, StrictJsonError):
        return None
    if document.get("type") != "cancel":
        return None
    reason = document.get("reason")
    if cancel(reason if isinstance(reason, str) else None):
        return {"ok": True}
    return {"ok": False, "error": {"code": ALREADY_TERMINAL}}


async def listen(client: Client, job_id: str, cancel: Cancel) -> None:
    """From now on, for as long as the connection lasts, the job can be stopped."""

    async def on_message(message: Msg) -> None:
        answer = answer_control(message.data, cancel)
        if answer is not None and message.reply:
            await message.respond(json.dumps(answer).encode())

    await client.subscribe(control_subject(job_id), cb=on_message)
    await client.flush()


async def request_cancel(
    url: str, job_id: str, reason: str | None = None, *, timeout_s: float = 5.0
) -> Mapping[str, Any]:
    """Asks the job to stop; its answer, `{"ok": …}`. Raises `SinkBroken` when nobody listens."""
    client = await connect(url, timeout_s)
    import nats

    told = {"type": "cancel"} | ({} if reason is None else {"reason": reason})
    try:
        answer = await client.request(control_subject(job_id), json.dumps(told).encode(), timeout=timeout_s)
        return load_object(answer.data.decode())
    except (nats.errors.Error, TimeoutError) as failure:
        raise SinkBroken(f"job {job_id} does not listen ({type(failure).__name__})") from failure
    finally:
        await disconnect(client)
