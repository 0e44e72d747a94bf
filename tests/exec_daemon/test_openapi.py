"""The API described for programs. Whether answers are as described: test_docs_api.py."""

from __future__ import annotations

import pytest
from openapi_pydantic import OpenAPI

from exec_daemon.api.app import EVERY_ROW, ROWS
from exec_daemon.api.openapi.document import document
from exec_daemon.api.openapi.operations import OPERATIONS

DOCUMENT = document(EVERY_ROW)


def test_every_endpoint_is_described_and_nothing_else() -> None:  # O-80
    assert {(row.method, row.path) for row in EVERY_ROW} == set(OPERATIONS)


def test_the_document_is_valid_openapi() -> None:
    OpenAPI.model_validate(DOCUMENT)


def test_every_reference_leads_somewhere() -> None:
    def references(node: object) -> list[str]:
        if isinstance(node, dict):
            found = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
            return found + [one for value in node.values() for one in references(value)]
        return [one for value in node for one in references(value)] if isinstance(node, list) else []

    named = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert set(references(DOCUMENT)) <= named


@pytest.mark.parametrize("row", EVERY_ROW, ids=lambda row: f"{row.method} {row.path}")
def test_each_operation_says_in_words_what_it_does(row) -> None:
    operation = DOCUMENT["paths"][row.path][row.method.lower()]
    assert operation["summary"].endswith(".")
    assert bool(operation["security"]) is (row in ROWS)


def test_operation_ids_are_unique_names() -> None:
    ids = [one["operationId"] for path in DOCUMENT["paths"].values() for one in path.values()]
    assert len(set(ids)) == len(ids)
    assert all(one.isidentifier() for one in ids)


def test_anybody_may_read_it(daemon) -> None:
    answer = daemon.client("operator").get("/openapi.json", headers={"Authorization": ""})
    assert answer.json()["openapi"] == "3.1.0"
