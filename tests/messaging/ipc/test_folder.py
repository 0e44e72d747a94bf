"""A directory that is shared with somebody hostile."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from messaging.ipc import Changes, Folder, NotPlainError
from tests.patience import AGES_S, PATIENCE_S, meanwhile


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that nobody here may touch."""
    file = tmp_path / "victim"
    file.write_text("untouched")
    return file


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "shared"
    place.mkdir()
    return place


@pytest.fixture
def folder(place: Path) -> Iterator[Folder]:
    with Folder.at(place) as folder:
        yield folder


def test_a_file_is_written_whole_under_another_name_first(folder: Folder, place: Path) -> None:
    # T-35
    folder.stage("a.json", b"one")
    assert folder.names() == []
    assert (place / "a.json.tmp").read_bytes() == b"one"
    folder.publish("a.json", durable=True)
    assert (folder.names(), folder.read("a.json")) == (["a.json"], b"one")
    assert (place / "a.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileNotFoundError):
        folder.publish("a.json")


def test_readers_see_names_with_the_ending_in_their_order(folder: Folder, place: Path) -> None:
    # T-35, T-37
    for name in ("b.json", "a.json", "c.json.tmp", "_close", "d.JSON", ".json"):
        (place / name).touch()
    assert folder.names() == [".json", "a.json", "b.json"]
    assert len(folder.names(most=2)) <= 2


def test_writing_replaces_a_planted_link_and_leaves_its_target_alone(
    folder: Folder, place: Path, outside: Path
) -> None:
    # T-41
    for name in ("a.json", "a.json.tmp"):
        (place / name).symlink_to(outside)
    folder.write("a.json", b"new")
    assert outside.read_text() == "untouched"
    assert not (place / "a.json").is_symlink()
    assert (place / "a.json").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["a.json", "a.json.tmp"])
@pytest.mark.parametrize("full", [False, True])
def test_a_planted_directory_is_put_aside(folder: Folder, place: Path, name: str, full: bool) -> None:
    # T-41
    (place / name).mkdir()
    if full:
        (place / name / "x").touch()
    folder.write("a.json", b"new")
    assert folder.read("a.json") == b"new"


def test_links_pipes_directories_and_second_names_are_not_read(
    folder: Folder, place: Path, outside: Path
) -> None:
    # T-40
    (place / "link.json").symlink_to(outside)
    os.link(outside, place / "hard.json")
    os.mkfifo(place / "pipe.json")
    (place / "dir.json").mkdir()
    (place / "large.json").write_bytes(b"x" * 11)
    for name in folder.names():
        with pytest.raises(NotPlainError):
            folder.read(name, most_bytes=10)
    with pytest.raises(FileNotFoundError):
        folder.read("missing.json")


def test_a_link_in_place_of_a_directory_is_refused(folder: Folder, place: Path, tmp_path: Path) -> None:
    # T-40
    (place / "messages").symlink_to(tmp_path)
    with pytest.raises(OSError, match="messages"):
        folder.child("messages", create=True)


def test_a_link_that_is_moved_or_removed_stays_a_link(folder: Folder, place: Path, outside: Path) -> None:
    # T-40
    (place / "link.json").symlink_to(outside)
    with folder.child("claimed", create=True) as claimed:
        folder.move("link.json", claimed, "x")
        assert claimed.has("x")
        claimed.remove("x")
        assert not claimed.has("x")
    assert outside.read_text() == "untouched"


def test_waiting_ends_when_a_file_arrives(folder: Folder, place: Path) -> None:
    # T-26
    with Changes(poll_s=AGES_S) as changes:
        changes.watch(folder.fileno())
        began = time.monotonic()
        with meanwhile(0.05, lambda: folder.write("a.json", b"{}")):
            changes.wait(AGES_S)
        assert time.monotonic() - began < PATIENCE_S


def test_waiting_ends_without_events_too(folder: Folder) -> None:
    # T-26
    with Changes(poll_s=0.01) as changes:
        changes.close()
        began = time.monotonic()
        changes.wait(AGES_S)
        assert time.monotonic() - began < PATIENCE_S
