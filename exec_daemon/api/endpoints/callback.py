"""`/callback`: events of jobs that run elsewhere, each signed, kept before it is answered (M-50 to M-54).

The path says which job it is, the signature that whoever sends may speak for it. Nothing is told to a
sender without one, not even whether the job exists.
"""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import datetime

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body, read_content
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.home import Home
from exec_daemon.services import Services
from exec_daemon.store import NoSuchJob, Reception
from messaging import ErrorCode, EventError, JobEvent, decode_event, verify, verify_webhook
from messaging.signature import SIGNATURE

log = logging.getLogger(__name__)

# M-52. What is larger is an artifact (M-81).
MOST_EVENT_BYTES = 1024 * 1024
# More steps than any job has that a person or program follows; what a tool can fill the disk with is bounded.
MOST_EVENTS = 100_000


class ExpectBody(Body):
    """Without `job_id` the daemon chooses one."""

    job_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,128}$")


async def expect(ask: Ask) -> Response:
    """Makes a job that will run elsewhere; the answer has what its program needs to tell its events."""
    services = ask.services
    body = await read_body(ask.request, ExpectBody, services.settings.limits.max_call_bytes)
    job_id = body.job_id or services.new_id("job")
    await services.store.expect(job_id, str(ask.identity))
    url = f"{_base(ask)}/callback/{job_id}"
    return answer({"job_id": job_id, "url": url, "secret": services.callback_secret(job_id)}, 201)


def _base(ask: Ask) -> str:
    """The address that the asker has used, and on the unix socket, which a program elsewhere cannot, ours."""
    asked = ask.request.base_url
    if asked.scheme == "https":
        return str(asked).rstrip("/")
    listening = json.loads(Home(ask.services.settings.home).address.read_bytes())
    return str(listening["url"])


async def receive(request: Request, services: Services) -> Response:
    """Keeps one event. 202 says that it is on the disk."""
    job_id: str = request.path_params["job_id"]
    content = await read_content(request, MOST_EVENT_BYTES)
    if not _signed(request, services, job_id, content):
        raise refuse(ErrorCode.UNAUTHENTICATED, f"{SIGNATURE} is missing or not that of this job and body.")
    event = _event(content)
    _check(request, job_id, event)
    try:
        reception = await services.store.receive(event, hashlib.sha256(content).hexdigest())
    except NoSuchJob:
        raise refuse(ErrorCode.NOT_FOUND, f"There is no job {job_id!r} that tells its events here.") from None
    if reception is Reception.CONFLICT:
        text = f"{event.key} came before with another body, or comes behind the end of the job."
        raise refuse(ErrorCode.DUPLICATE_ID, text)
    return answer({"job_id": job_id, "seq": event.seq, "state": str(reception)}, 202)


def _signed(request: Request, services: Services, job_id: str, content: bytes) -> bool:
    """By our own header, or by those of Standard Webhooks."""
    secret, headers = services.callback_secret(job_id), request.headers
    now_s = datetime.fromisoformat(services.clock()).timestamp()
    return verify(secret, content, headers.get(SIGNATURE)) or verify_webhook(secret, headers, content, now_s)


def _event(content: bytes) -> JobEvent:
    try:
        return decode_event(content)
    except EventError as wrong:
        raise refuse(ErrorCode.INVALID_REQUEST, f"This is {wrong}.", problems=list(wrong.problems)) from None


def _check(request: Request, job_id: str, event: JobEvent) -> None:
    """Path and body name one job (M-51), both keys are one (M-53), and the job is not too long."""
    if event.job_id != job_id:
        log.warning("a callback for job %s holds an event of job %r; it was refused", job_id, event.job_id)
        raise refuse(ErrorCode.DUPLICATE_ID, f"The event is of job {event.job_id!r}, the path of {job_id!r}.")
    if event.seq >= MOST_EVENTS:
        raise refuse(ErrorCode.TOO_LARGE, f"A job tells at most {MOST_EVENTS} events.")
    key = request.headers.get("idempotency-key")
    if key not in (None, event.key):
        raise refuse(ErrorCode.INVALID_REQUEST, f"Idempotency-Key must be {event.key}.")
