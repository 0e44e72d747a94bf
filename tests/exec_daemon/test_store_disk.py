"""A disk that is full or read-only: typed errors, nothing lost, and the store mends itself with the disk."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# A user and a mount namespace of their own: mounting needs no rights, and nobody else sees the mount.
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Under /tmp itself, where an ordinary user may get to."""
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def run(program: str, folder: Path, *prefix: str) -> Any:
    command = [*prefix, sys.executable, "-m", "tests.exec_daemon.store_child", program, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def mountable() -> None:
    try:
        probe = subprocess.run(
            [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("no unshare program: sudo apt install util-linux")
    if probe.returncode != 0:
        pytest.skip(f"no mount namespace for this user: {probe.stderr.decode().strip()}")


def test_a_full_disk_refuses_writes_and_loses_nothing(folder: Path, mountable: None) -> None:
    report = run("full", folder, *NAMESPACE)
    assert report["acknowledged"] > 0
    assert report["kept"] == report["acknowledged"]
    assert report["large"] == "StoreFull"


def test_a_store_works_again_when_there_is_space(folder: Path, mountable: None) -> None:
    report = run("full", folder, *NAMESPACE)
    assert report["healed"] is None
    assert report["after"] == 1


def test_reads_go_on_where_the_disk_is_full_and_the_audit_tells_what_it_lost(
    folder: Path, mountable: None
) -> None:  # D108
    report = run("full_for_reads", folder, *NAMESPACE)
    assert report == {"ended": True, "refused": "StoreFull", "lost": 300, "whole": True}


def test_a_disk_that_is_full_at_birth_leaves_no_half_database(folder: Path, mountable: None) -> None:
    assert run("full_at_birth", folder, *NAMESPACE) == {"fault": "StoreFull", "made": False, "healed": None}


def test_a_disk_that_is_full_at_start_is_named(folder: Path, mountable: None) -> None:
    assert run("full_at_start", folder, *NAMESPACE) == {"fault": "StoreFull", "healed": None}


def test_a_read_only_disk_is_named_and_not_touched(folder: Path, mountable: None) -> None:
    assert run("read_only_disk", folder, *NAMESPACE) == {
        "fault": "StoreReadOnly",
        "files": ["store.db", "store.db.lock"],
    }


def test_a_folder_without_permission_is_named(folder: Path) -> None:
    try:
        report = run("read_only_folder", folder)
    finally:
        folder.chmod(0o755)
    assert report["fault"] == "StoreReadOnly"
