"""Shapes of what goes in and comes out, as JSON Schema 2020-12, each under its name.

What is a dataclass or a request model is described by pydantic; the others are the `to_json` of types
that are not written field by field. An answer may hold more than its schema names: no client may break on
that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from exec_daemon.api.body import Body
from exec_daemon.store import Agent, AuditLine
from messaging import ERRORS, ArtifactRef, EventType, Job, Message, Thread

Schema: TypeAlias = dict[str, Any]

_REF: Final = "#/components/schemas/{model}"

_DATACLASSES: Final[Mapping[str, Any]] = {
    "Thread": Thread,
    "Message": Message,
    "Job": Job,
    "Agent": Agent,
    "ArtifactRef": ArtifactRef,
    "AuditLine": AuditLine,
}


def ref(name: str) -> Schema:
    """A reference to a named shape."""
    return {"$ref": _REF.format(model=name)}


def text(description: str = "", *, null: bool = False) -> Schema:
    """A string, or null."""
    shape: Schema = {"type": ["string", "null"] if null else "string"}
    return shape | ({"description": description} if description else {})


def number() -> Schema:
    """A whole number."""
    return {"type": "integer"}


def flag() -> Schema:
    """True or false."""
    return {"type": "boolean"}


def many(of: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": of}


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


_ERROR: Final = record(
    {
        "code": {"type": "string", "enum": [str(code) for code in ERRORS]},
        "message": text(),
        "retryable": flag(),
        "details": {"type": "object"},
    }
)

_PROBLEM: Final = record(
    {
        "type": text("urn:inband:error:CODE"),
        "title": text(),
        "status": number(),
        "detail": text(),
        "code": {"type": "string", "enum": [str(code) for code in ERRORS]},
        "retryable": flag(),
        "details": {"type": "object"},
    }
)

_RESULT: Final = record(
    {
        "ok": flag(),
        "op": text(),
        "call_id": text(null=True),
        "job_id": text(null=True),
        "side_effecting": flag(),
        "duration_ms": {"type": "number"},
    },
    {"result": {}, "error": ref("Error"), "replayed": flag()},
)

_REHEARSAL: Final = record(
    {
        "ok": flag(),
        "dry_run": flag(),
        "would": record({"op": text(), "args": {"type": "object"}, "side_effecting": flag()}),
    }
)

_OP: Final = record(
    {
        "op": text(),
        "side_effecting": flag(),
        "summary": text(),
        "args_schema": {"type": "object"},
        "example": {"type": "object"},
        "aliases": many(text()),
    },
    {"allowed": flag(), "actions": many(record({"action": text(), "arg": text(null=True)}))},
)

_EVENT: Final = record(
    {
        "job_id": text(),
        "seq": number(),
        "ts": text("UTC, ISO 8601"),
        "type": {"type": "string", "enum": [str(kind) for kind in EventType]},
    }
)

_TOKEN: Final = record(
    {
        "id": text(),
        "identity": text("ROLE/NAME"),
        "created_at": text(),
        "expires_at": text(null=True),
        "last_used_at": text(null=True),
        "revoked_at": text(null=True),
        "scopes": many(text()),
    }
)

_CERTIFICATE: Final = record(
    {
        "serial": text(),
        "identity": text(null=True),
        "issued_at": text(),
        "expires_at": text(),
        "revoked_at": text(null=True),
    }
)

_AUDIT_CHECK: Final = record(
    {
        "ok": flag(),
        "lines": number(),
        "last": number(),
        "hash": text(),
        "broken": {"anyOf": [record({"seq": number(), "problem": text()}), {"type": "null"}]},
    }
)

_WRITTEN: Final[Mapping[str, Schema]] = {
    "Error": _ERROR,
    "Problem": _PROBLEM,
    "Result": _RESULT,
    "Rehearsal": _REHEARSAL,
    "Op": _OP,
    "JobEvent": _EVENT,
    "Token": _TOKEN,
    "Certificate": _CERTIFICATE,
    "AuditCheck": _AUDIT_CHECK,
}


def components(bodies: Sequence[type[Body]]) -> dict[str, Schema]:
    """Every named shape: answers, and `bodies`, the request models."""
    answers = [(name, "serialization", TypeAdapter(kind)) for name, kind in _DATACLASSES.items()]
    requests = [(body.__name__, "validation", TypeAdapter(body)) for body in bodies]
    _, answered = TypeAdapter.json_schemas(answers, ref_template=_REF)  # type: ignore[arg-type]
    _, requested = TypeAdapter.json_schemas(requests, ref_template=_REF)  # type: ignore[arg-type]
    return {**answered.get("$defs", {}), **requested.get("$defs", {}), **_WRITTEN}
