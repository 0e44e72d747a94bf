"""What something that raised means to a caller: a typed error, while paths and causes stay in the log."""

from __future__ import annotations

import logging

from exec_daemon.store import Exists, NoSuchThread, Outdated, OverBudget, StoreError, random_id
from messaging import CallError, ErrorCode, error

log = logging.getLogger(__name__)


def store_error(raised: StoreError) -> CallError:
    """The error for what the store raised."""
    if isinstance(raised, NoSuchThread):
        return error(ErrorCode.NOT_FOUND, f"There is no thread {raised.subject!r} that you may see.")
    if isinstance(raised, Exists):
        return error(ErrorCode.DUPLICATE_ID, f"{raised.subject!r} is taken. Choose another id or name.")
    if isinstance(raised, Outdated):
        return error(ErrorCode.BUSY, f"{raised.subject!r} changed meanwhile. Send the call again.")
    if isinstance(raised, OverBudget):
        text = f"There are {raised}. Wait until some have ended, or stop some with swarm.stop."
        return error(ErrorCode.RATE_LIMITED, text, details={"root": raised.subject})
    log.error("the store cannot serve: %s", raised)
    text = "The daemon's store cannot serve now. `box doctor` on its machine says why."
    return error(ErrorCode.UNAVAILABLE, text, details={"reason": type(raised).__name__})


def fault(raised: BaseException) -> CallError:
    """INTERNAL_ERROR with an incident id; the log has the details under that id, and nothing else has."""
    incident = random_id("inc")
    log.error("incident %s", incident, exc_info=raised)
    text = f"A fault of the daemon. Its log has the details under {incident}."
    return error(ErrorCode.INTERNAL_ERROR, text, details={"incident": incident})
