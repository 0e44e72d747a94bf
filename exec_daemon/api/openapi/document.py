"""The OpenAPI document: the table of endpoints, with what `operations` says of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from exec_daemon.access.identity import Role
from exec_daemon.api.openapi.operations import JSON, OPERATIONS, Operation, Parameter
from exec_daemon.api.openapi.schemas import Schema, components, ref
from exec_daemon.api.problems import EXEC_PATH
from exec_daemon.api.route import OpenRow, Row
from exec_daemon.version import version

_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_PROBLEM: Final = "application/problem+json"


def document(rows: Iterable[Row | OpenRow]) -> dict[str, Any]:
    """OpenAPI 3.1 for these endpoints."""
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row)
    bodies = [operation.body for operation in OPERATIONS.values() if operation.body is not None]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "inband",
            "version": version(),
            "description": "Directives in an agent's reply, run by a constrained daemon. See docs/api.md.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components(bodies),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(row: Row | OpenRow) -> dict[str, Any]:
    described = OPERATIONS[row.method, row.path]
    summary, _, more = (row.answer.__doc__ or "").strip().partition("\n\n")
    made: dict[str, Any] = {
        "operationId": _name(row),
        "summary": " ".join(summary.split()),
        "parameters": [*_path_parameters(row.path), *map(_parameter, described.parameters)],
        "responses": _answers(row, described),
        "security": [{"token": []}] if isinstance(row, Row) else [],
    }
    if more:
        made["description"] = " ".join(more.split())
    if isinstance(row, Row) and row.roles != frozenset(Role):
        made["x-roles"] = sorted(row.roles)
    body = _body(described)
    return made | ({"requestBody": body} if body else {})


def _name(row: Row | OpenRow) -> str:
    words = re.sub(r"[^A-Za-z0-9_]", "_", _IN_PATH.sub(r"by_\1", row.path.strip("/")))
    return f"{row.method.lower()}_{words}"


def _path_parameters(path: str) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _IN_PATH.findall(path)
    ]


def _parameter(one: Parameter) -> Schema:
    return {"name": one.name, "in": one.place, "schema": one.schema, "description": one.purpose}


def _body(described: Operation) -> Schema | None:
    if described.body is not None:
        return {"required": True, "content": {JSON: {"schema": ref(described.body.__name__)}}}
    if described.content:
        return {"required": True, "content": {described.content: {"schema": {}}}}
    return None


def _answers(row: Row | OpenRow, described: Operation) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for status, shape in described.answers.items():
        content: dict[str, Any] = {} if shape is None else {JSON: {"schema": shape}}
        if described.media and status != 204:
            content[described.media] = {"schema": {"type": "string"}}
        made[str(status)] = {"description": _MEANINGS[status]} | ({"content": content} if content else {})
    refused = (
        {JSON: {"schema": ref("Result")}} if row.path == EXEC_PATH else {_PROBLEM: {"schema": ref("Problem")}}
    )
    return made | {"default": {"description": "refused or failed: see docs/errors.md", "content": refused}}


_MEANINGS: Final[Mapping[int, str]] = {
    200: "done",
    201: "made",
    202: "accepted",
    204: "nothing more will come",
    404: "there is no such session",
}
