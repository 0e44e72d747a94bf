"""What is done to certificates while no daemon runs, in the audit of the store that the next one has."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from inband.errors import InputError


def note(database: Path, what: str, serial: str, content: dict[str, Any]) -> None:
    """One line, by the operator of this machine. Raises `InputError` where the store cannot be written."""
    from exec_daemon.access.tokens import BOOTSTRAP
    from exec_daemon.store import StoreError, open_store, utc_now
    from exec_daemon.store.deeds import deed

    async def write() -> None:
        store = await open_store(database)
        try:
            await store.note(deed(what, serial, by=str(BOOTSTRAP[0]), at=utc_now(), content=content))
        finally:
            await store.close()

    try:
        asyncio.run(write())
    except StoreError as fault:
        raise InputError(f"the audit cannot be written: {fault}") from None
