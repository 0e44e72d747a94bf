"""Fetching through the guard: what is checked is what is connected to, over each redirect (M-48)."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import replace

import pytest
import trustme

from messaging.guarded_fetch import FetchFailed, Guard, fetch
from messaging.url_guard import UrlBlocked
from tests.messaging._pages import Pages, Served, moved
from tests.patience import PATIENCE_S

HELLO = Served(b"<p>hello")


def known(*rows: tuple[str, Sequence[str]]) -> Guard:
    """A guard whose names are these; each look-up takes the next row of its name."""
    left = list(rows)

    async def resolve(host: str, port: int) -> Sequence[str]:
        row = next((row for row in left if row[0] == host), None)
        if row is None:
            raise OSError(f"{host} is not known")
        left.remove(row)
        return row[1]

    return Guard(resolve=resolve)


def allowing(pages: Pages, *names: str) -> Guard:
    """A guard that takes these names for the server on this machine, and allows its port of each."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host in names else [host]

    return Guard(exceptions=frozenset(f"{name}:{pages.port}" for name in names), resolve=resolve)


async def test_a_page_comes_from_the_address_that_was_checked_and_knows_its_own_name() -> None:  # M-48
    with Pages({"/x?y=1": HELLO}) as pages:
        guard = allowing(pages, "a.example")
        page = await fetch(await guard.check(f"http://a.example:{pages.port}/x?y=1#z"), guard)
    assert (page.content, page.content_type) == (b"<p>hello", "text/html; charset=utf-8")
    assert pages.asked == [("/x?y=1", f"a.example:{pages.port}")]


async def test_a_name_that_is_one_address_when_checked_and_another_later_is_asked_for_once() -> None:  # M-48
    guard = known(("a.example", ["203.0.114.1"]), ("a.example", ["127.0.0.1"]))
    checked = await guard.check("http://a.example/")
    assert checked.address == "203.0.114.1"
    with pytest.raises(UrlBlocked):
        await guard.check("http://a.example/")


@pytest.mark.parametrize("addresses", [["10.0.0.5"], ["1.1.1.1", "169.254.169.254"], []])
async def test_a_name_of_ours_is_blocked(addresses: list[str]) -> None:  # M-48
    with pytest.raises(UrlBlocked):
        await known(("a.example", addresses)).check("http://a.example/")


async def test_a_name_that_nobody_knows_is_blocked() -> None:  # M-48
    with pytest.raises(UrlBlocked, match="cannot be resolved"):
        await known().check("http://a.example/")


async def test_the_system_resolves_names_by_default() -> None:  # M-48
    with pytest.raises(UrlBlocked, match=r"127\.0\.0\.1|::1"):
        await Guard().check("http://localhost/")


async def test_redirects_are_followed_and_each_is_checked() -> None:  # M-48
    with Pages({"/a": moved("/b"), "/b": HELLO}) as pages:
        guard = allowing(pages, "a.example")
        page = await fetch(await guard.check(f"http://a.example:{pages.port}/a"), guard)
        assert page.url == f"http://a.example:{pages.port}/b"


@pytest.mark.parametrize(
    "to", ["http://10.0.0.5/", "http://localhost/", "file:///etc/passwd", "//127.0.0.1:1/"]
)
async def test_a_redirect_to_what_may_not_be_fetched_is_blocked(to: str) -> None:  # M-48, D096
    with Pages({"/a": moved(to)}) as pages:
        guard = allowing(pages, "a.example")
        with pytest.raises(UrlBlocked):
            await fetch(await guard.check(f"http://a.example:{pages.port}/a"), guard)


@pytest.mark.parametrize(("redirects", "arrives"), [(5, True), (6, False)])
async def test_five_redirects_are_enough(redirects: int, arrives: bool) -> None:  # M-48
    chain = {f"/{number}": moved(f"/{number + 1}") for number in range(redirects)}
    with Pages(chain | {f"/{redirects}": HELLO}) as pages:
        guard = allowing(pages, "a.example")
        checked = await guard.check(f"http://a.example:{pages.port}/0")
        if arrives:
            assert (await fetch(checked, guard)).content == b"<p>hello"
        else:
            with pytest.raises(FetchFailed, match="more than 5 redirects"):
                await fetch(checked, guard)


@pytest.mark.parametrize(
    ("served", "limit_s", "reason"),
    [
        (Served(status=500), PATIENCE_S, "HTTP 500"),
        (Served(b"x" * 2000), PATIENCE_S, "more than 1000 bytes"),
        (Served(HELLO.content, wait_s=1.5), 0.5, "within 0.5 s"),
    ],
)
async def test_a_page_that_does_not_come_says_why(served: Served, limit_s: float, reason: str) -> None:
    with Pages({"/": served}) as pages:
        guard = allowing(pages, "a.example")
        checked = await guard.check(f"http://a.example:{pages.port}/")
        with pytest.raises(FetchFailed, match=reason):
            await fetch(checked, guard, most_bytes=1000, time_limit_s=limit_s)


async def test_nobody_at_home_is_a_failure_and_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pages({}) as pages:
        port = pages.port
        monkeypatch.setenv("HTTP_PROXY", pages.url)
    guard = Guard(exceptions=frozenset({f"127.0.0.1:{port}"}))
    with pytest.raises(FetchFailed, match="ConnectError"):
        await fetch(await guard.check(f"http://127.0.0.1:{port}/"), guard)


@pytest.mark.parametrize(("certified", "fetched"), [("a.example", True), ("b.example", False)])
async def test_the_certificate_has_to_name_the_host(certified: str, fetched: bool) -> None:
    # M-48
    authority = trustme.CA()
    serving, believing = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert(certified, "127.0.0.1").configure_cert(serving)
    authority.configure_trust(believing)
    with Pages({"/": HELLO}, tls=serving) as pages:
        guard = replace(allowing(pages, "a.example"), tls=believing)
        checked = await guard.check(f"https://a.example:{pages.port}/")
        if fetched:
            assert (await fetch(checked, guard)).content == b"<p>hello"
        else:
            with pytest.raises(FetchFailed, match="ConnectError"):
                await fetch(checked, guard)
