"""What each endpoint takes and gives, by method and path. An endpoint without a row here fails a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from exec_daemon.api.body import Body
from exec_daemon.api.endpoints.agents import AgentBody
from exec_daemon.api.endpoints.approvals import ApproveBody, DenyBody
from exec_daemon.api.endpoints.callback import ExpectBody
from exec_daemon.api.endpoints.certificates import CertificateBody
from exec_daemon.api.endpoints.exec import ExecBody
from exec_daemon.api.endpoints.grants import GrantBody
from exec_daemon.api.endpoints.messages import ReadBody
from exec_daemon.api.endpoints.metrics import HarvestBody
from exec_daemon.api.endpoints.orders import OrderBody
from exec_daemon.api.endpoints.replies import CursorBody
from exec_daemon.api.endpoints.runs import RunBody
from exec_daemon.api.endpoints.session import LinkBody
from exec_daemon.api.endpoints.threads import MessageBody, ThreadBody
from exec_daemon.api.endpoints.timers import PreviewBody, VerdictBody
from exec_daemon.api.endpoints.tokens import TokenBody
from exec_daemon.api.endpoints.why import WhyBody
from exec_daemon.api.endpoints.workers import StateBody
from exec_daemon.api.openapi.schemas import Schema, flag, many, number, record, ref, text
from exec_daemon.store import ApprovalState
from exec_daemon.store.worker_values import WorkerState
from messaging import JobState

JSON: Final = "application/json"
SSE: Final = "text/event-stream"
LINES: Final = "application/x-ndjson"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A query parameter or header that the endpoint reads; all are optional."""

    name: str
    schema: Schema
    purpose: str
    place: str = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`answers` are the shapes by status, in JSON; `media` names another type that may come, as text.

    `content` is the type of a body that is no model of ours.
    """

    answers: Mapping[int, Schema | None]
    body: type[Body] | None = None
    content: str = ""
    parameters: tuple[Parameter, ...] = ()
    media: str = ""


def _whole(name: str, purpose: str, least: int = 0) -> Parameter:
    return Parameter(name=name, schema={"type": "integer", "minimum": least}, purpose=purpose)


_LIMIT: Final = _whole("limit", "at most so many")
_AFTER: Final = _whole("after", "only what comes behind this one")
_WAIT: Final = Parameter(
    name="wait", schema={"type": "number", "minimum": 0}, purpose="seconds to wait for the first one"
)
_LAST: Final = Parameter(
    name="Last-Event-ID", schema=text(), purpose="where a broken stream goes on", place="header"
)
_PREFER: Final = Parameter(
    name="Prefer", schema=text(), purpose="wait=SECONDS or respond-async (RFC 7240)", place="header"
)
_KEY: Final = Parameter(
    name="Idempotency-Key", schema=text(), purpose="posted again, it is the same message", place="header"
)

_STATUS: Final = record({"status": text()})
_AROUND: Final = record(
    {}, {"trees": text(), "layers": {"type": "object"}, "lacks": many(text()), "problem": text()}
)
_CONDITION: Final = record({"status": text(), "programs": _AROUND, "ops": {"type": "object"}})
_CURSOR: Final = record({"name": text(), "position": number()})
_AGENT: Final = ref("Agent")
_READ: Final = record({"thread": text(), "reader": text(), "seq": number(), "unread": number()})
_APPROVAL: Final = record(
    {
        **dict.fromkeys(("id", "identity", "asker", "op", "digest", "call_id", "marked_by"), text()),
        **dict.fromkeys(("asked_at", "expires_at"), text()),
        **dict.fromkeys(("thread", "reply", "decided_by", "decided_at", "reason", "job_id"), text(null=True)),
        "state": {"type": "string", "enum": [str(one) for one in ApprovalState]},
        "side_effecting": flag(),
        "args": {"type": "object"},
    }
)
_GRANT: Final = record(
    {"subject": text(), "place": text(), "rules": {"type": "object"}}, {"set_by": text(), "set_at": text()}
)
_WORKER: Final = record(
    {
        **dict.fromkeys(("id", "name", "owner", "root", "template", "runtime", "thread", "job"), text()),
        **dict.fromkeys(("cwd", "told", "reason", "session", "heartbeat_at", "ended_at"), text(null=True)),
        **dict.fromkeys(("created_at", "updated_at"), text()),
        "attach": text(null=True),
        "state": {"type": "string", "enum": [str(one) for one in WorkerState]},
        "depth": number(),
        "messages": number(),
        "stays": flag(),
    }
)
_JOB: Final = ref("Job")
_ACCEPTED: Final = record({"job_id": text(), "call_id": text(), "op": text(), "state": text()})


def _listing(name: str, shape: str, **more: Schema) -> Schema:
    return record({name: many(ref(shape)), **more})


OPERATIONS: Final[Mapping[tuple[str, str], Operation]] = {
    ("GET", "/healthz"): Operation(answers={200: _STATUS}),
    ("GET", "/readyz"): Operation(answers={200: _STATUS}),
    ("GET", "/health"): Operation(answers={200: _CONDITION}),
    ("GET", "/openapi.json"): Operation(answers={200: {"type": "object"}}),
    ("POST", "/exec"): Operation(
        body=ExecBody,
        parameters=(_PREFER,),
        answers={
            200: {"anyOf": [ref("Result"), ref("Rehearsal")]},
            202: {"anyOf": [_ACCEPTED, ref("Result")]},
        },
    ),
    ("GET", "/ops"): Operation(answers={200: _listing("ops", "Op", digest=text())}),
    ("GET", "/ops/{op}"): Operation(answers={200: ref("Op")}),
    ("POST", "/why"): Operation(
        body=WhyBody,
        answers={
            200: record(
                {
                    "identity": text(),
                    "op": text(),
                    "allowed": flag(),
                    "rule": text(),
                    "reason": text(),
                    "where": text(),
                    "rules": many(record({"rule": text(), "holds": flag(), "where": text()})),
                    "rates": many(record({"what": text(), "per_minute": number(), "where": text()})),
                }
            )
        },
    ),
    ("GET", "/grants"): Operation(answers={200: record({"grants": many(_GRANT)})}),
    ("PUT", "/grants"): Operation(body=GrantBody, answers={200: _GRANT}),
    ("DELETE", "/grants"): Operation(
        parameters=(Parameter(name="subject", schema=text(), purpose="the role or identity"),),
        answers={200: record({"subject": text(), "removed": flag()})},
    ),
    ("GET", "/approvals"): Operation(
        parameters=(
            Parameter(
                name="state", schema={"enum": [str(one) for one in ApprovalState]}, purpose="only these"
            ),
            _LIMIT,
        ),
        answers={200: record({"approvals": many(_APPROVAL)})},
    ),
    ("GET", "/approvals/{id}"): Operation(answers={200: _APPROVAL}),
    ("POST", "/approvals/{id}/approve"): Operation(body=ApproveBody, answers={200: _APPROVAL}),
    ("POST", "/approvals/{id}/deny"): Operation(body=DenyBody, answers={200: _APPROVAL}),
    ("GET", "/jobs"): Operation(
        parameters=(
            Parameter(name="state", schema={"enum": [str(one) for one in JobState]}, purpose="only these"),
            _LIMIT,
        ),
        answers={200: _listing("jobs", "Job")},
    ),
    ("GET", "/jobs/{id}"): Operation(answers={200: _JOB}),
    ("GET", "/jobs/{id}/events"): Operation(
        parameters=(_AFTER, _WAIT, _LAST), answers={200: _listing("events", "JobEvent"), 204: None}, media=SSE
    ),
    ("POST", "/jobs/{id}/cancel"): Operation(answers={200: _JOB}),
    ("POST", "/callback"): Operation(
        body=ExpectBody, answers={201: record({"job_id": text(), "url": text(), "secret": text()})}
    ),
    ("POST", "/callback/{job_id}"): Operation(
        content=JSON, answers={202: record({"job_id": text(), "seq": number(), "state": text()})}
    ),
    ("GET", "/artifacts/{sha256}"): Operation(answers={200: None}, media="application/octet-stream"),
    ("GET", "/threads"): Operation(
        parameters=(Parameter(name="agent", schema=text(), purpose="only this agent's"), _LIMIT),
        answers={200: _listing("threads", "Thread")},
    ),
    ("POST", "/threads"): Operation(body=ThreadBody, answers={201: ref("Thread")}),
    ("GET", "/threads/{id}"): Operation(answers={200: ref("Thread")}),
    ("GET", "/threads/{id}/messages"): Operation(
        parameters=(_AFTER, _LIMIT), answers={200: _listing("messages", "Message")}
    ),
    ("POST", "/threads/{id}/messages"): Operation(
        body=MessageBody, parameters=(_KEY,), answers={200: ref("Message"), 201: ref("Message")}
    ),
    ("GET", "/threads/{id}/read"): Operation(answers={200: _READ}),
    ("PUT", "/threads/{id}/read"): Operation(body=ReadBody, answers={200: _READ}),
    ("GET", "/messages/{id}"): Operation(
        answers={200: record({"message": ref("Message"), "delivery": {"type": "object"}})}
    ),
    ("GET", "/threads/{id}/stream"): Operation(parameters=(_AFTER, _LAST), answers={200: None}, media=SSE),
    ("POST", "/timers/preview"): Operation(
        body=PreviewBody,
        answers={200: record({"schedule_type": text(), "tz": text(), "next": many(text())})},
    ),
    ("GET", "/timers/{id}"): Operation(answers={200: {"type": "object"}}),
    ("GET", "/timers/{id}/runs"): Operation(
        parameters=(_LIMIT,),
        answers={200: record({"timer": text(), "name": text(), "runs": many({"type": "object"})})},
    ),
    ("POST", "/timers/{id}/run"): Operation(answers={201: {"type": "object"}}),
    ("POST", "/orders"): Operation(body=OrderBody, answers={201: {"type": "object"}}),
    ("GET", "/workers"): Operation(
        parameters=(
            Parameter(name="state", schema={"enum": ["alive", "all"]}, purpose="those that are over too"),
            _LIMIT,
            _WAIT,
            Parameter(name="seen", schema=text(), purpose="the `seen` of the last answer: wait for another"),
        ),
        answers={200: record({"workers": many(_WORKER), "seen": text()})},
    ),
    ("GET", "/workers/{id}"): Operation(answers={200: _WORKER}),
    ("POST", "/workers/{id}/state"): Operation(body=StateBody, answers={200: _WORKER}),
    ("POST", "/verdicts"): Operation(body=VerdictBody, answers={200: record({"run": {}, "job": {}})}),
    ("GET", "/metrics"): Operation(answers={200: None}, media="text/plain"),
    ("POST", "/harvests"): Operation(body=HarvestBody, answers={200: record({"counted": number()})}),
    ("GET", "/replies"): Operation(
        parameters=(_AFTER, _LIMIT, _WAIT),
        answers={
            200: record(
                {
                    "replies": many(record({"position": number(), "message": ref("Message"), "thread": {}})),
                    "position": number(),
                }
            )
        },
    ),
    ("GET", "/cursors/{name}"): Operation(answers={200: _CURSOR}),
    ("PUT", "/cursors/{name}"): Operation(body=CursorBody, answers={200: _CURSOR}),
    ("GET", "/agents"): Operation(answers={200: _listing("agents", "Agent")}),
    ("POST", "/agents"): Operation(body=AgentBody, answers={200: _AGENT, 201: _AGENT}),
    ("POST", "/agents/{name}/runs"): Operation(
        body=RunBody,
        answers=dict.fromkeys((200, 201), record({"agent": text(), "key": text(), "counted": flag()})),
    ),
    ("POST", "/rpc"): Operation(content=LINES, answers={200: None}, media=LINES),
    ("GET", "/audit"): Operation(
        parameters=(_LIMIT, _whole("before", "only lines with a lower number")),
        answers={200: _listing("lines", "AuditLine")},
    ),
    ("GET", "/audit/check"): Operation(
        parameters=(
            Parameter(
                name="noted", schema=text(), purpose="NUMBER:HASH of earlier ends, with commas between"
            ),
        ),
        answers={200: ref("AuditCheck")},
    ),
    ("POST", "/sign-in-links"): Operation(
        body=LinkBody, answers={201: record({"path": text(), "identity": text()})}
    ),
    ("DELETE", "/session"): Operation(answers={200: record({"signed_out": flag()})}),
    ("POST", "/mcp"): Operation(content=JSON, answers={200: {}, 202: None}, media=SSE),
    ("DELETE", "/mcp"): Operation(answers={200: None, 404: {}}),
    ("GET", "/certificates"): Operation(answers={200: _listing("certificates", "Certificate")}),
    ("POST", "/certificates"): Operation(
        body=CertificateBody,
        answers={201: {"allOf": [ref("Certificate"), record({"certificate": text(), "ca": text()})]}},
    ),
    ("DELETE", "/certificates/{id}"): Operation(answers={200: ref("Certificate")}),
    ("GET", "/tokens"): Operation(answers={200: _listing("tokens", "Token")}),
    ("POST", "/tokens"): Operation(
        body=TokenBody, answers={201: {"allOf": [ref("Token"), record({"token": text()})]}}
    ),
    ("DELETE", "/tokens/{id}"): Operation(answers={200: record({"id": text(), "revoked": flag()})}),
}
