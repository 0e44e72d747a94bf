"""Room in a folder of artifacts: the oldest go first, and nothing else goes."""

from __future__ import annotations

import os
from pathlib import Path

from messaging.artifact_stores import LocalStore, kept_bytes, prune, sweep


async def filled(root: Path, count: int) -> list[Path]:
    """Artifacts of 100 bytes, each put a second after the other."""
    paths = []
    for number in range(count):
        ref = await LocalStore(root).put(bytes([number]) * 100, "text/plain")
        paths.append(root / "sha256" / ref.sha256[:2] / ref.sha256)
        os.utime(paths[-1], (number, number))
    return paths


def there(paths: list[Path]) -> list[bool]:
    return [path.exists() for path in paths]


async def test_nothing_goes_while_there_is_room(tmp_path: Path) -> None:
    paths = await filled(tmp_path, 3)
    assert (kept_bytes(tmp_path), prune(tmp_path, 300)) == (300, 300)
    assert there(paths) == [True] * 3


async def test_the_oldest_go_until_nine_tenths_are_left(tmp_path: Path) -> None:
    paths = await filled(tmp_path, 10)
    assert prune(tmp_path, 900) == 800
    assert there(paths) == [False, False] + [True] * 8


async def test_links_are_neither_counted_nor_removed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"x" * 500)
    (paths,) = [await filled(tmp_path / "a", 1)]
    link = paths[0].with_name("link")
    link.symlink_to(tmp_path / "victim")
    (tmp_path / "a" / "sha256" / "zz").symlink_to(tmp_path)
    assert (kept_bytes(tmp_path / "a"), prune(tmp_path / "a", 0)) == (100, 0)
    assert (link.is_symlink(), (tmp_path / "victim").exists()) == (True, True)


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    sweep(tmp_path / "none")
    assert (kept_bytes(tmp_path / "none"), prune(tmp_path / "none", 0)) == (0, 0)
