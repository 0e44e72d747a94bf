"""A host on a directory of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harvester.container._host import Host

# Each test makes and removes some dozens of directories, which costs a disk more than the tests themselves.
_FAST = Path("/dev/shm")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=_FAST if _FAST.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path)
    yield host
    host.ledger.close()
