"""Where a callback may go (M-32 to M-34)."""

from __future__ import annotations

import pytest

from messaging.sinks import TransportError, allowed_hosts, check_target


@pytest.mark.parametrize(
    "url",
    ["ftp://a/x", "file:///etc/passwd", "gopher://a/", "a/x", "", "http://", "http:///x", "https://a:99999/",
     "https://u:p@a/", "https://u@a/", "https://a/\r\nX: y", "https://a\\@b/", "http://[::1/", "//a/x"],
)  # fmt: skip
def test_what_is_no_plain_http_url_is_refused(url: str) -> None:  # M-32, M-33
    with pytest.raises(TransportError, match="BOX_CALLBACK_URL"):
        check_target(url, frozenset())


@pytest.mark.parametrize(
    "url", ["http://10.0.0.5:9000/cb", "https://parent.cluster.local/cb", "http://[::1]/x"]
)
def test_a_private_address_is_a_lawful_target(url: str) -> None:  # M-34
    assert check_target(url, frozenset()) == url


def test_the_list_is_trimmed_and_in_lower_case() -> None:  # M-33
    assert allowed_hosts(" Parent.Example , 10.0.0.5:9000,, ") == {"parent.example", "10.0.0.5:9000"}


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://parent.example/cb", True),
        ("https://PARENT.example:8443/cb", True),
        ("http://10.0.0.5:9000/cb", True),
        ("http://10.0.0.5/cb", False),
        ("http://10.0.0.5:9001/cb", False),
        ("https://[::1]:9/cb", True),
        ("https://evil.example/cb", False),
        ("https://parent.example.evil.example/cb", False),
        ("https://xparent.example/cb", False),
        ("https://parent.example./cb", False),
    ],
)
def test_only_hosts_of_the_list_are_taken(url: str, *, taken: bool) -> None:  # M-33
    hosts = allowed_hosts("parent.example,10.0.0.5:9000,[::1]:9")
    if taken:
        assert check_target(url, hosts) == url
        return
    with pytest.raises(TransportError, match="not among the allowed"):
        check_target(url, hosts)
