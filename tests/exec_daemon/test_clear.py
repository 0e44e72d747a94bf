"""Where a request ends and what it asks for, head by head."""

from __future__ import annotations

import pytest

from exec_daemon.clear import is_clear

LENGTH, CODING = b"content-length", b"transfer-encoding"


@pytest.mark.parametrize(
    "headers", [[], [(LENGTH, b"0")], [(LENGTH, b" 12 ")], [(CODING, b"chunked")], [(CODING, b"Chunked ")]]
)
def test_one_length_or_chunks_is_clear(headers: list[tuple[bytes, bytes]]) -> None:
    assert is_clear(b"/exec", "1.1", headers)


@pytest.mark.parametrize(
    "headers",
    [
        [(LENGTH, b"1"), (CODING, b"chunked")],
        [(LENGTH, b"1"), (LENGTH, b"1")],
        [(CODING, b"chunked"), (CODING, b"chunked")],
        [(LENGTH, b"")],
        [(LENGTH, b"+1")],
        [(LENGTH, b"1,1")],
        [(LENGTH, "²".encode())],
        [(CODING, b"chunked, identity")],
        [(CODING, b"gzip")],
        [(CODING, b"")],
    ],
)
def test_anything_else_is_not(headers: list[tuple[bytes, bytes]]) -> None:  # D058
    assert not is_clear(b"/exec", "1.1", headers)


@pytest.mark.parametrize(
    ("target", "version", "headers"),
    [
        (b"https://localhost/exec", "1.1", []),
        (b"*", "1.1", []),
        (b"/healthz#/exec", "1.1", []),
        (b"localhost:443", "1.1", []),
        (b"/exec", "2.0", []),
        (b"/exec", "0.9", []),
        (b"/exec", "1.0", [(CODING, b"chunked")]),
    ],
)
def test_another_target_or_version_is_not(
    target: bytes, version: str, headers: list[tuple[bytes, bytes]]
) -> None:
    assert not is_clear(target, version, headers)
