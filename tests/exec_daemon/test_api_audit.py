"""`/audit`: for operators, in pages; the check over HTTP."""

from __future__ import annotations

import pytest

from exec_daemon.certificates.requests import new_request
from tests.exec_daemon.conftest import Running


def test_a_call_on_behalf_of_nobody_else_names_no_asker(daemon: Running) -> None:  # O-34
    call = daemon.exec("operator", "tools.list").json()
    line = daemon.client("operator").get("/audit?limit=1").json()["lines"][0]
    assert (line["identity"], line["asked_by"], line["job_id"]) == ("operator/local", None, call["job_id"])


def test_the_audit_is_read_backwards_in_pages(daemon: Running) -> None:
    for _ in range(3):
        daemon.exec("operator", "tools.list")
    client = daemon.client("operator")
    newest = client.get("/audit?limit=2").json()["lines"]
    older = client.get(f"/audit?limit=1&before={newest[-1]['seq']}").json()["lines"]
    assert [line["seq"] for line in newest + older] == list(range(newest[0]["seq"], newest[0]["seq"] - 3, -1))


@pytest.mark.parametrize("path", ["/audit", "/audit/check"])
def test_only_operators_see_the_audit(daemon: Running, path: str) -> None:  # O-33
    for who in ("agent/heron", "viewer/eve", "harvester"):
        assert daemon.client(who).get(path).status_code == 403


def test_an_end_that_was_noted_is_looked_for(daemon: Running) -> None:  # D111
    daemon.exec("operator", "tools.list")
    client = daemon.client("operator")
    whole = client.get("/audit/check").json()
    assert whole["ok"]
    assert client.get(f"/audit/check?noted={whole['last']}:{whole['hash']}").json()["ok"]
    other = client.get(f"/audit/check?noted=1:{'0' * 64}").json()
    assert (other["ok"], other["broken"]["seq"]) == (False, 1)
    assert client.get("/audit/check?noted=1").json()["code"] == "INVALID_REQUEST"


def test_who_gave_and_took_tokens_and_certificates_is_in_the_audit(daemon: Running) -> None:  # D108
    client = daemon.client("operator")
    token = client.post("/tokens", json={"identity": "viewer/eve"}).json()["id"]
    client.delete(f"/tokens/{token}")
    assert client.delete("/tokens/tok-nobody").status_code == 404
    body = {"identity": "viewer/eve", "csr": new_request()[1]}
    serial = client.post("/certificates", json=body).json()["serial"]
    assert client.post("/certificates", json=body | {"csr": "none"}).status_code == 400
    client.delete(f"/certificates/{serial}")
    lines = client.get("/audit?limit=4").json()["lines"]
    assert [(line["op"], line["call_id"], line["identity"]) for line in reversed(lines)] == [
        ("token.create", token, "operator/local"),
        ("token.revoke", token, "operator/local"),
        ("certificate.issue", serial, "operator/local"),
        ("certificate.revoke", serial, "operator/local"),
    ]
