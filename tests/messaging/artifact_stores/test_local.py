"""Artifacts in a folder: whole or not there, private, and no link is followed (M-83, M-84)."""

from __future__ import annotations

import os
import stat
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from messaging import ArtifactMismatch
from messaging.artifact_stores import ArtifactTooLarge, LocalStore, NoSuchArtifact, StoreBroken
from messaging.artifacts import sha256_of

HASH = sha256_of(b"soup")


class Torn(BytesIO):
    """A source that breaks after its first block."""

    def read(self, *_: Any) -> bytes:
        if self.tell():
            raise OSError(5, "Input/output error")
        return super().read(2)


def inode(root: Path) -> int:
    return (root / "sha256" / HASH[:2] / HASH).stat().st_ino


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


async def test_content_stands_under_its_hash_for_its_owner_only(tmp_path: Path) -> None:  # M-83
    root = tmp_path / "a b" / "artifacts"
    ref = await LocalStore(root).put(b"soup", "text/plain")
    path = root / "sha256" / HASH[:2] / HASH
    assert (ref.uri, path.read_bytes()) == (path.as_uri(), b"soup")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    folders = [folder for folder in (root, *root.rglob("*")) if folder.is_dir()]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


async def test_the_same_content_is_kept_once(tmp_path: Path) -> None:  # M-83
    store = LocalStore(tmp_path)
    await store.put(b"soup", "text/plain")
    before = inode(tmp_path)
    await store.put(b"soup", "text/html")
    assert files(tmp_path) == [f"sha256/{HASH[:2]}/{HASH}"]
    assert inode(tmp_path) == before


async def test_a_damaged_copy_is_replaced(tmp_path: Path) -> None:  # M-83, M-84
    store = LocalStore(tmp_path)
    ref = await store.put(b"soup", "text/plain")
    (tmp_path / "sha256" / HASH[:2] / HASH).write_bytes(b"so")
    with pytest.raises(ArtifactMismatch):
        await store.get(ref)
    assert await store.get(await store.put(b"soup", "text/plain")) == b"soup"


@pytest.mark.parametrize(
    ("source", "failure"), [(BytesIO(b"x" * 11), ArtifactTooLarge), (Torn(b"soup"), StoreBroken)]
)
def test_what_does_not_get_whole_leaves_nothing(
    tmp_path: Path, source: BytesIO, failure: type[Exception]
) -> None:
    # M-83
    with pytest.raises(failure):
        LocalStore(tmp_path).keep(source, most_bytes=10)
    assert files(tmp_path) == []


@pytest.mark.parametrize("where", ["incoming", "sha256", f"sha256/{HASH[:2]}"])
async def test_a_folder_that_is_a_link_is_not_entered(tmp_path: Path, where: str) -> None:
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "artifacts"
    elsewhere.mkdir()
    (root / where).parent.mkdir(parents=True)
    (root / where).symlink_to(elsewhere)
    with pytest.raises(StoreBroken):
        await LocalStore(root).put(b"soup", "text/plain")
    assert list(elsewhere.iterdir()) == []


async def test_a_link_in_the_place_of_content_is_replaced_and_never_read(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    place = tmp_path / "artifacts" / "sha256" / HASH[:2] / HASH
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "victim")
    store = LocalStore(tmp_path / "artifacts")
    with pytest.raises(StoreBroken):
        store.open(HASH)
    await store.put(b"soup", "text/plain")
    assert ((tmp_path / "victim").read_text(), place.is_symlink()) == ("mine", False)


def test_a_fifo_in_the_place_of_content_hangs_nobody(tmp_path: Path) -> None:
    place = tmp_path / "sha256" / HASH[:2] / HASH
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    with pytest.raises(StoreBroken, match="no regular file"):
        LocalStore(tmp_path).open(HASH)


@pytest.mark.parametrize("name", ["", "../../victim", HASH.upper(), HASH + "/", "0" * 64])
def test_a_name_that_is_no_hash_or_not_there_opens_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(NoSuchArtifact):
        LocalStore(tmp_path).open(name)


async def test_a_root_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreBroken, match="cannot be used"):
        await LocalStore(tmp_path / "file" / "artifacts").put(b"soup", "text/plain")
