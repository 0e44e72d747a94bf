"""Which files may become artifacts, and what becomes of results that are too large (M-81, M-83)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.artifacts import Artifacts
from exec_daemon.calls.keep import small_enough
from exec_daemon.calls.op import Success
from exec_daemon.store import KeepArtifact
from messaging import ArtifactRef, CallError, ErrorCode, error
from messaging.artifact_stores import MOST_RESULT_BYTES, NoSuchArtifact
from messaging.artifacts import sha256_of

ROOM = 2**30
LARGE = {"text": "x" * MOST_RESULT_BYTES}


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    folder = tmp_path / "outbox"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "report.html").write_bytes(b"<p>fine")
    (folder / "noname").write_bytes(b"\x00")
    return folder


@pytest.fixture
def artifacts(tmp_path: Path, outbox: Path) -> Artifacts:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "day.log").write_bytes(b"quiet")
    (tmp_path / "secret").write_bytes(b"secret")
    return Artifacts(tmp_path / "artifacts", (outbox, tmp_path / "open"), most_bytes=10, room_bytes=ROOM)


async def test_a_file_of_the_outbox_is_kept_as_what_its_name_says(artifacts: Artifacts) -> None:
    ref = await artifacts.file("deep/report.html", None)
    assert isinstance(ref, ArtifactRef)
    assert (ref.content_type, ref.bytes, ref.sha256) == ("text/html", 7, sha256_of(b"<p>fine"))
    assert ref.uri == f"/artifacts/{ref.sha256}"  # no path of the box is told
    with artifacts.open(ref.sha256) as file:
        assert file.read() == b"<p>fine"


@pytest.mark.parametrize(
    ("path", "given", "kind"),
    [
        ("noname", None, "application/octet-stream"),
        ("noname", "text/plain; charset=utf-8", "text/plain; charset=utf-8"),
    ],
)
async def test_the_type_may_be_told(artifacts: Artifacts, path: str, given: str | None, kind: str) -> None:
    ref = await artifacts.file(path, given)
    assert isinstance(ref, ArtifactRef)
    assert ref.content_type == kind


async def test_a_file_below_an_opened_folder_is_named_by_its_whole_path(
    artifacts: Artifacts, tmp_path: Path
) -> None:
    assert isinstance(await artifacts.file(str(tmp_path / "open" / "day.log"), None), ArtifactRef)


@pytest.mark.parametrize(
    "path",
    """../secret deep/../../secret {tmp}/secret {tmp}/open/../secret /etc/hostname deep . missing link
    links/report.html fifo deep/report.html/x""".split(),
)
async def test_every_other_path_is_no_file_in_the_same_words(
    artifacts: Artifacts, outbox: Path, tmp_path: Path, path: str
) -> None:  # D018 D021
    (outbox / "link").symlink_to(tmp_path / "secret")
    (outbox / "links").symlink_to(outbox / "deep")
    os.mkfifo(outbox / "fifo")
    refused = await artifacts.file(path.replace("{tmp}", str(tmp_path)), None)
    assert isinstance(refused, CallError)
    assert refused.code is ErrorCode.NOT_FOUND
    assert refused.message.startswith("There is no file ")


async def test_a_file_that_is_too_large_says_so(artifacts: Artifacts, outbox: Path) -> None:
    (outbox / "film").write_bytes(b"x" * 11)
    refused = await artifacts.file("film", None)
    assert isinstance(refused, CallError)
    assert (refused.code, refused.message) == (ErrorCode.TOO_LARGE, "The file passes 10 bytes.")


async def test_a_store_that_cannot_be_used_says_no_path(tmp_path: Path, outbox: Path) -> None:
    (tmp_path / "secret").write_bytes(b"")
    refused = await Artifacts(tmp_path / "secret" / "x", (outbox,), most_bytes=10, room_bytes=ROOM).file(
        "noname", None
    )
    assert isinstance(refused, CallError)
    assert refused.code is ErrorCode.UNAVAILABLE
    assert str(tmp_path) not in refused.message


async def test_a_result_over_256_kib_is_replaced_by_its_reference(tmp_path: Path) -> None:  # M-81
    keeper = Artifacts(tmp_path / "artifacts", (), most_bytes=2**20, room_bytes=ROOM)
    ended = await small_enough(Success(LARGE), keeper)
    assert isinstance(ended, Success)
    (effect,) = ended.effects
    assert isinstance(effect, KeepArtifact)
    assert ended.data == {"artifact": effect.ref.to_json()}
    with keeper.open(effect.ref.sha256) as file:
        assert json.load(file) == LARGE


@pytest.mark.parametrize(
    ("ended", "kept"),
    [
        (Success({"a": 1}), Success({"a": 1}, text='{"a":1}')),
        (error(ErrorCode.NOT_FOUND, "no"), error(ErrorCode.NOT_FOUND, "no")),
    ],
)
async def test_other_ends_stay_as_they_are(tmp_path: Path, ended: Any, kept: Any) -> None:
    keeper = Artifacts(tmp_path / "artifacts", (), most_bytes=0, room_bytes=ROOM)
    assert await small_enough(ended, keeper) == kept


async def test_a_large_result_that_cannot_be_kept_fails_the_call(tmp_path: Path) -> None:
    ended = await small_enough(
        Success(LARGE), Artifacts(tmp_path / "artifacts", (), most_bytes=0, room_bytes=ROOM)
    )
    assert isinstance(ended, CallError)
    assert ended.code is ErrorCode.UNAVAILABLE


async def test_what_was_put_longest_ago_makes_room(tmp_path: Path) -> None:
    keeper = Artifacts(tmp_path / "artifacts", (), most_bytes=100, room_bytes=250)
    first, second = [await keeper.content(text * 100, "text/plain") for text in (b"a", b"b")]
    again = Artifacts(tmp_path / "artifacts", (), most_bytes=100, room_bytes=250)
    await again.content(b"a" * 100, "text/plain")  # as if put now
    await again.content(b"c" * 100, "text/plain")
    again.open(first.sha256).close()
    with pytest.raises(NoSuchArtifact):
        again.open(second.sha256)


def test_what_a_crash_left_unfinished_goes_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / "artifacts" / "incoming" / "0123"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    Artifacts(tmp_path / "artifacts", (), most_bytes=100, room_bytes=250).sweep()
    assert not left.exists()
