"""Which URLs and addresses may be fetched (M-48)."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging.url_guard import UrlBlocked, check_addresses, check_url, why_blocked

BLOCKED = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    ::1/128 ::/128 fe80::/10 fec0::/10 fc00::/7 ff00::/8 2001:db8::/32 ::ffff:0:0/96 2001::/32 2002::/16
    64:ff9b:1::/48 64:ff9b::7f00:0/104 64:ff9b::a00:0/104 64:ff9b::a9fe:0/112
""".split()


@pytest.mark.parametrize("text", BLOCKED)
def test_both_ends_of_each_range_are_blocked(text: str) -> None:  # M-48
    network = ip_network(text)
    assert why_blocked(str(network[0]))
    assert why_blocked(str(network[-1]))


@pytest.mark.parametrize(
    "address",
    "1.1.1.1 9.255.255.255 172.15.255.255 172.32.0.0 192.0.1.0 2606:4700::1 64:ff9b::101:101".split(),
)
def test_public_addresses_are_not_blocked(address: str) -> None:  # M-48
    assert why_blocked(address) is None


@pytest.mark.parametrize(
    "address", ["", "localhost", "127.1", "0x7f000001", "2130706433", "2a00::1%eth0", "01.1.1.1"]
)
def test_an_address_of_unknown_form_is_blocked(address: str) -> None:  # M-48
    assert why_blocked(address)


@given(st.ip_addresses())
def test_an_address_is_blocked_or_global(address: object) -> None:  # M-48
    """Python's own table is another source for the same ranges: what it calls private never passes."""
    from ipaddress import IPv4Address, IPv6Address

    assert isinstance(address, IPv4Address | IPv6Address)
    assert why_blocked(str(address)) or address.is_global


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "file:///etc/passwd",
        "gopher://a.example/",
        "javascript:alert(1)",
        "//a.example/",
        "a.example",
        "http://",
        "http:///x",
        "http://user@a.example/",
        "http://user:pass@a.example/",
        "http://a.example:99999/",
        "http://a.example:x/",
        "http://a.example\\@10.0.0.5/",
        "http://a.example /",
        "http://a.example/\r\nhost: b",
        "http://a.example/\x7f",
        "http://127.1/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://2130706433/",
        "http://a%2eexample/",
        "http://a..example/",
        "http://[::1/",
        "http://[x]/",
        "http://" + "ä" * 300 + "/",
    ],
)
def test_a_url_of_bad_form_is_blocked(url: str) -> None:  # M-48
    with pytest.raises(UrlBlocked):
        check_url(url)


def test_a_url_of_good_form_gives_its_host_and_port() -> None:  # M-48
    targets = [
        check_url(url) for url in ("https://A.example/x?y#z", "http://a.example:81", "http://[2a00::1]:82/")
    ]
    assert [(target.scheme, target.host, target.port) for target in targets] == [
        ("https", "a.example", 443),
        ("http", "a.example", 81),
        ("http", "2a00::1", 82),
    ]
    assert [target.authority for target in targets] == ["a.example:443", "a.example:81", "[2a00::1]:82"]


def test_a_name_in_another_script_is_judged_by_what_it_is_resolved_as() -> None:  # M-48
    assert check_url("http://münchen.example/").host == "xn--mnchen-3ya.example"
    assert check_url("http://１２７.０.０.１/").host == "127.0.0.1"


def test_one_blocked_address_among_good_ones_blocks_the_url() -> None:  # M-48
    target = check_url("http://a.example/")
    assert check_addresses(target, ["1.1.1.1", "2a00::1"]) == "1.1.1.1"
    with pytest.raises(UrlBlocked, match=r"a\.example is 10\.0\.0\.5, which is in 10\.0\.0\.0/8"):
        check_addresses(target, ["1.1.1.1", "10.0.0.5"])
    with pytest.raises(UrlBlocked, match="no address"):
        check_addresses(target, [])
