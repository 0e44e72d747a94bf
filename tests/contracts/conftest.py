"""Every store of ours, each fresh, with a clock and ids that a test knows beforehand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from exec_daemon.store import Store
from tests.contracts.samples import STORES, open_sample


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_sample(request.param, tmp_path)
    yield opened
    await opened.close()
