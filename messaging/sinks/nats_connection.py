"""Connections to a NATS server, the way sinks, sources and controls of ours want them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from messaging.sinks.errors import SinkBroken, TransportError

if TYPE_CHECKING:
    from nats.aio.client import Client

# A broker that restarts is back within a second or so; a client that waits longer only adds to that.
_RECONNECT_EVERY_S: Final = 0.2


def events_subject(job_id: str) -> str:
    """M-60: where the events of a job are published."""
    return f"jobs.{job_id}.events"


def control_subject(job_id: str) -> str:
    """M-65: where a job is told to stop."""
    return f"jobs.{job_id}.control"


async def _ignore(_: Exception) -> None:
    """A lost connection shows where something was to be sent or read; it needs no second report."""


def check_installed() -> None:
    """Raises `TransportError` without nats-py."""
    try:
        import nats  # noqa: F401
    except ImportError:
        raise TransportError("BOX_TRANSPORT", "nats needs the extra of that name: inband[nats]") from None


async def connect(url: str, patience_s: float) -> Client:
    """A connection that comes back by itself for as long as it is open.

    Raises `SinkBroken` when no server answers within `patience_s`, `TransportError` without nats-py.
    """
    check_installed()
    import nats

    try:
        async with asyncio.timeout(patience_s):
            return await nats.connect(
                url,
                error_cb=_ignore,
                max_reconnect_attempts=-1,
                reconnect_time_wait=_RECONNECT_EVERY_S,
                connect_timeout=2,
            )
    except (OSError, TimeoutError, nats.errors.Error) as failure:
        raise SinkBroken(f"no NATS server answers ({type(failure).__name__})") from failure


async def disconnect(client: Client) -> None:
    """Closes the connection. Its socket goes with the next turn of the loop, so that one has to come."""
    await client.close()
    await asyncio.sleep(0)
