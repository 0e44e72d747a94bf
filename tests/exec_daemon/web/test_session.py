"""The session of the web page, asked without a browser, as an attacker would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from exec_daemon.web.rendering import POLICY
from tests.exec_daemon.conftest import Running, start


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    made = start(tmp_path_factory.mktemp("home"))
    yield made
    made.stop()


@pytest.fixture
def signed_in(running: Any) -> Iterator[httpx2.Client]:
    with running.bearing(None) as client:
        entered = client.post("/sign-in", data={"token": running.token("operator")})
        assert entered.status_code == 303
        yield client


def test_the_cookie_is_for_this_host_over_tls_and_for_no_script_and_no_other_site(running: Any) -> None:
    with running.bearing(None) as client:
        cookie = client.post("/sign-in", data={"token": running.token("operator")}).headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))


def test_the_cookie_alone_reads_and_changes_nothing(signed_in: httpx2.Client) -> None:  # D061
    assert signed_in.get("/jobs").status_code == 200
    refused = signed_in.post("/exec", json={"op": "tools.list"})
    assert refused.status_code == 403
    assert "X-Inband-Proof" in refused.text or "x-inband-proof" in refused.text
    wrong = signed_in.post("/exec", json={"op": "tools.list"}, headers={"x-inband-proof": "0" * 64})
    assert wrong.status_code == 403


def test_a_form_of_another_site_cannot_sign_anybody_in_or_call_anything(running: Any) -> None:  # D061
    with running.bearing(None) as client:
        headers = {"origin": "https://evil.example"}
        assert client.post("/sign-in", data={"token": "x"}, headers=headers).status_code == 403
        assert client.post("/exec", data={"op": "x"}).status_code == 415


def test_who_signs_in_without_end_signs_nobody_else_out(running: Any, signed_in: httpx2.Client) -> None:
    # D133
    running.agent("heron")
    token, first = running.token("agent/heron"), ""
    with running.bearing(None) as heron:
        for number in range(21):
            heron.cookies.clear()
            heron.post("/sign-in", data={"token": token})
            first = first or heron.cookies["__Host-inband"]
            assert number or heron.get("/ops").status_code == 200
        assert heron.get("/ops").status_code == 200
        heron.cookies.clear()
        assert heron.get("/ops", headers={"cookie": f"__Host-inband={first}"}).status_code == 401
    assert signed_in.get("/jobs").status_code == 200


@pytest.mark.parametrize(
    "place", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_signing_in_leads_to_our_own_pages_only(running: Any, place: str) -> None:
    with running.bearing(None) as client:
        entered = client.post("/sign-in", params={"next": place}, data={"token": running.token("operator")})
    assert entered.headers["location"] == "/"


def test_every_page_has_the_policy_and_is_kept_by_no_cache(signed_in: httpx2.Client) -> None:
    for path in ("/", "/ui/threads", "/ui/jobs/none", "/sign-in"):
        headers = signed_in.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


def test_without_a_session_a_page_leads_to_the_sign_in_and_back(running: Any) -> None:
    with running.bearing(None) as client:
        away = client.get("/ui/jobs")
    assert (away.status_code, away.headers["location"]) == (303, "/sign-in?next=/ui/jobs")


def test_what_is_not_there_and_what_one_may_not_see_look_the_same(running: Any) -> None:  # O-46
    running.agent("heron")
    running.client("operator").post("/threads", json={"id": "secret"})
    with running.bearing(None) as client:
        client.post("/sign-in", data={"token": running.token("agent/heron")})
        pages = [client.get(f"/ui/threads/{name}") for name in ("secret", "nowhere")]
    assert [page.status_code for page in pages] == [404, 404]
    assert pages[0].text.replace("secret", "X") == pages[1].text.replace("nowhere", "X")


def test_a_long_thread_is_shown_in_parts(running: Any, signed_in: httpx2.Client) -> None:
    operator = running.client("operator")
    operator.post("/threads", json={"id": "long"})
    for number in range(250):
        operator.post("/threads/long/messages", json={"body": f"number {number + 1}."})
    newest = signed_in.get("/ui/threads/long").text
    assert newest.count('<li class="message') == 100
    assert "number 250." in newest
    assert 'href="?before=151"' in newest
    oldest = signed_in.get("/ui/threads/long?before=51").text
    assert oldest.count('<li class="message') == 50
    assert "Older messages" not in oldest
    assert "data-stream" not in oldest
