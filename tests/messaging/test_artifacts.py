"""References to artifacts, and content against them (M-80, M-84)."""

from __future__ import annotations

from typing import Any

import pytest

from messaging import ArtifactMismatch, ArtifactRef, BadArtifactRef, artifact_in, verify_artifact
from messaging.artifacts import sha256_of

CONTENT = b"soup"
GOOD = {
    "uri": "file:///a",
    "sha256": sha256_of(CONTENT),
    "bytes": 4,
    "content_type": "text/plain; charset=utf-8",
}


def test_a_reference_reads_as_it_is_written() -> None:  # M-80
    assert ArtifactRef.from_json(GOOD).to_json() == GOOD


@pytest.mark.parametrize(
    "wrong",
    [
        {"uri": ""},
        {"uri": None},
        {"sha256": "A" * 64},
        {"sha256": "0" * 63},
        {"sha256": "0" * 64 + "\n"},
        {"bytes": -1},
        {"bytes": True},
        {"bytes": 1.0},
        {"content_type": "text"},
        {"content_type": "text/html\r\nset-cookie: a=b"},
        {"name": "one key too many"},
    ],
)
def test_what_is_no_reference_is_refused(wrong: dict[str, Any]) -> None:  # M-80
    with pytest.raises(BadArtifactRef):
        ArtifactRef.from_json(GOOD | wrong)


def test_a_reference_without_a_key_is_refused() -> None:  # M-80
    with pytest.raises(BadArtifactRef, match="uri, sha256, bytes, content_type"):
        ArtifactRef.from_json({key: value for key, value in GOOD.items() if key != "bytes"})


def test_content_that_is_what_the_reference_says_is_given_back() -> None:  # M-84
    assert verify_artifact(ArtifactRef.from_json(GOOD), CONTENT) == CONTENT


@pytest.mark.parametrize("content", [b"", b"sou", b"soup ", b"stew"])
def test_content_of_another_length_or_hash_is_a_mismatch(content: bytes) -> None:  # M-84
    with pytest.raises(ArtifactMismatch) as caught:
        verify_artifact(ArtifactRef.from_json(GOOD), content)
    assert (caught.value.code, caught.value.found_bytes) == ("artifact_mismatch", len(content))


def test_a_result_has_its_reference_under_artifact() -> None:
    assert artifact_in({"artifact": GOOD, "bytes": 4}) == ArtifactRef.from_json(GOOD)


@pytest.mark.parametrize("result", [None, [], "x", {}, {"artifact": "a"}, {"artifact": GOOD | {"bytes": -1}}])
def test_a_result_without_one_has_none(result: Any) -> None:
    assert artifact_in(result) is None
