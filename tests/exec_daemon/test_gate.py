"""The head of a request: what browsers could be made to send, and what two programs read differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.middleware.base import BaseHTTPMiddleware

from exec_daemon import DaemonSettings
from exec_daemon.api.app import App
from exec_daemon.api.gate import Allowed, allowed, refusal
from exec_daemon.api.head import Head, Heads, head_of

OURS = allowed(
    DaemonSettings(
        home=Path("/nowhere"), host="192.0.2.7", names=("Box.Example",), origins=("https://Panel.example",)
    )
)
JSON = {"host": "localhost:8443", "content-type": "application/json", "content-length": "2"}


def status(method: str = "GET", path: str = "/ops", query: str = "", **fields: str) -> int | None:
    written = {"host": "localhost:8443"} | {name.replace("_", "-"): value for name, value in fields.items()}
    found = refusal(Head(method, path, path.encode(), query.encode(), written), OURS)
    return found.status if found else None


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:8443", "[::1]:8443", "192.0.2.7", "box.example:443"]
)
def test_a_client_may_call_the_daemon_by_each_of_its_names(host: str) -> None:
    assert status(host=host) is None


@pytest.mark.parametrize(
    ("host", "refused"),
    [
        ("", 400),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("localhost.", 421),
        ("localhost:8443:1", 400),
        ("localhost, evil.example", 400),
        ("user@localhost", 400),
        ("localhost\t", 400),
        ("[::1", 400),
        ("2130706433", 421),
        ("x" * 300, 400),
    ],
)
def test_a_name_that_is_not_ours_is_turned_away(host: str, refused: int) -> None:  # D060
    assert status(host=host) == refused


def test_our_own_page_and_those_on_the_list_may_ask() -> None:
    assert status(origin="https://localhost:8443") is None
    assert status(origin="https://panel.EXAMPLE") is None


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://localhost:8443",
        "https://localhost",
        "https://localhost:9000",
        "null",
        "",
        "https://localhost:8443, https://evil.example",
    ],
)
def test_a_page_of_another_origin_may_not_even_read(origin: str) -> None:  # D061
    assert status(origin=origin) == 403
    assert status("POST", **JSON, origin=origin) == 403


def test_a_rebound_name_is_no_origin_of_ours_though_host_and_origin_agree() -> None:  # D061
    assert status(host="evil.example:8443", origin="https://evil.example:8443") == 421


@pytest.mark.parametrize(
    ("method", "site", "mode", "refused"),
    [
        ("GET", "none", "navigate", None),
        ("GET", "same-origin", "cors", None),
        ("GET", "cross-site", "navigate", None),
        ("GET", "cross-site", "no-cors", 403),
        ("GET", "same-site", "cors", 403),
        ("POST", "cross-site", "navigate", 403),
        ("DELETE", "same-site", "cors", 403),
    ],
)
def test_what_a_browser_says_about_the_asking_site_counts_where_it_gives_no_origin(
    method: str, site: str, mode: str, refused: int | None
) -> None:  # D143
    assert status(method, sec_fetch_site=site, sec_fetch_mode=mode) == refused


@pytest.mark.parametrize(
    "written", ["application/json", "Application/JSON; charset=UTF-8", "application/json;"]
)
def test_a_body_is_json_and_says_so(written: str) -> None:
    assert status("POST", content_type=written, content_length="2") is None


@pytest.mark.parametrize(
    "written",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "text/plain; application/json",
        "application/json, text/plain",
    ],
)
def test_a_body_of_another_type_is_turned_away(written: str) -> None:  # D061 D143
    for body in ({"content_length": "2"}, {"transfer_encoding": "chunked"}):
        assert status("POST", content_type=written, **body) == 415
        assert status("DELETE", content_type=written, **body) == 415


def test_what_has_no_body_needs_no_type() -> None:
    assert status("POST", "/jobs/job-1/cancel") is None
    assert status("POST", "/jobs/job-1/cancel", content_length="0") is None


def test_the_rpc_takes_lines_and_a_signed_callback_any_type() -> None:
    lines = {"content_type": "application/x-ndjson", "transfer_encoding": "chunked"}
    assert (status("POST", "/rpc", **lines), status("POST", "/exec", **lines)) == (None, 415)
    assert status("POST", "/callback/job-1", content_type="text/plain", content_length="2") is None


@pytest.mark.parametrize("coding", ["gzip", "br", "identity, gzip", "zstd"])
def test_a_body_that_would_have_to_be_unpacked_is_not_read(coding: str) -> None:  # D051
    assert status("POST", content_encoding=coding, content_type="application/json", content_length="9") == 415


@pytest.mark.parametrize(
    "path",
    ["/artifacts/..%2f..%2fca.key", "/threads/a%00", "/threads/a%5Cb", "/x%0d%0aset-cookie:a", "/a\\b"],
)
def test_a_path_that_could_be_read_in_two_ways_names_nothing(path: str) -> None:  # D018
    assert status(path=path) == 404


@pytest.mark.parametrize("query", ["after=1&after=2", "after=1&%61fter=2"])
def test_a_parameter_stands_once(query: str) -> None:
    assert status(query=query) == 400
    assert status(query="after=1&limit=2") is None


@pytest.mark.parametrize("name", ["authorization", "idempotency-key", "host", "origin", "content-type"])
def test_a_field_that_decides_something_stands_once(name: str) -> None:  # D064
    scope: dict[str, Any] = {"method": "GET", "path": "/ops", "raw_path": b"/ops", "query_string": b""}
    scope["headers"] = [(b"host", b"localhost"), (name.encode(), b"localhost"), (name.encode(), b"localhost")]
    found = refusal(head_of(scope), OURS)
    assert found
    assert (found.status, name in found.message) == (400, True)


def test_the_refusal_of_a_call_is_a_failed_result_and_of_all_else_a_problem(daemon: Any) -> None:
    client = daemon.client("operator")
    strange = {"origin": "https://evil.example"}
    call = client.post("/exec", json={"op": "tools.list"}, headers=strange)
    assert (call.status_code, call.json()["ok"], call.json()["error"]["code"]) == (403, False, "FORBIDDEN")
    other = client.get("/ops", headers={"host": "evil.example"})
    assert (other.status_code, other.json()["status"], other.json()["code"]) == (421, 421, "INVALID_REQUEST")
    assert "daemon.names" in other.json()["detail"]
    form = client.post("/exec", data={"op": "tools.list"})
    assert (form.status_code, "curl --json" in form.json()["error"]["message"]) == (415, True)


def test_a_forwarded_address_is_not_believed(daemon: Any) -> None:
    said = {
        "x-forwarded-for": "10.0.0.1",
        "x-forwarded-host": "evil.example",
        "forwarded": "host=evil.example",
    }
    made = daemon.client("operator").post("/callback", json={"job_id": "forwarded-1"}, headers=said)
    assert made.json()["url"] == f"{daemon.url}/callback/forwarded-1"


def test_no_answer_lets_another_site_in(daemon: Any) -> None:
    asked = {"origin": daemon.url, "access-control-request-method": "POST"}
    with daemon.bearing(None) as stranger:
        for answer in (stranger.get("/healthz"), stranger.options("/exec", headers=asked)):
            assert not [name for name in answer.headers if name.startswith("access-control")]


def test_there_is_one_way_in_and_no_other(daemon: Any) -> None:  # D083
    client = daemon.client("operator")
    for path in (
        "/nothing",
        "/exec/",
        "/exec/x",
        "/.git/config",
        "/proxy",
        "/upload",
        "/ops/a/b",
        "/%2e%2e/exec",
    ):
        assert client.get(path).status_code in (404, 405), path
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "GET"):  # D143
        assert client.request(method, "/exec").status_code == 405, method


def test_no_middleware_stands_between_an_endpoint_and_the_disconnect(daemon: Any) -> None:  # D131 D132
    app = App(daemon.daemon._server._services)
    assert not isinstance(app, BaseHTTPMiddleware)
    assert not hasattr(app, "user_middleware")


def request(length: str | None = "2", **fields: str) -> dict[str, Any]:
    """A scope as the server makes one for each request of a connection."""
    sent = {"host": "localhost:8443", "content-type": "application/json"} | fields
    sent |= {} if length is None else {"content-length": length}
    headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in sent.items()]
    return {"method": "POST", "path": "/exec", "raw_path": b"/exec", "query_string": b"", "headers": headers}


def test_a_connection_that_sends_the_same_head_again_has_it_looked_at_once() -> None:
    heads = Heads()
    first = heads.of(request())
    assert refusal(first, OURS) is None
    assert heads.of(request()) is first
    longer = heads.of(request("17"))
    assert (longer.fields["content-length"], longer.known) == ("17", first.known)
    assert longer == head_of(request("17"))
    assert refusal(longer, OURS) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (request(), request(authorization="Bearer other")),
        (request(), request(host="evil.example")),
        (request(), request(origin="https://evil.example")),
        (request(), request() | {"method": "GET"}),
        (request(), request() | {"raw_path": b"/ops", "path": "/ops"}),
        (request(), request() | {"query_string": b"a=1&a=2"}),
        (request("0", content_type="text/plain"), request("5", content_type="text/plain")),
        (request(None, content_type="text/plain"), request("5", content_type="text/plain")),
        (request("5"), request(None)),
    ],
)
def test_a_head_that_differs_in_anything_that_a_rule_looks_at_is_looked_at_anew(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    heads = Heads()
    one = heads.of(first)
    refusal(one, OURS)
    other = heads.of(second)
    assert other.known == {}
    assert other == head_of(dict(second))
    assert refusal(other, OURS) == refusal(head_of(dict(second)), OURS)


def test_a_head_that_may_enter_here_may_not_enter_everywhere() -> None:
    head = Heads().of(request())
    assert refusal(head, OURS) is None
    assert refusal(head, Allowed(frozenset({"elsewhere"}))) is not None
