"""A turn that failed of something that may pass is tried again, a few times (O-85)."""

from __future__ import annotations

from typing import Any

import pytest

from harvester.adapters import Failure, failure
from harvester.worker_host.children import _failed, _Turns

ROW: dict[str, Any] = {"id": "w-1"}


def failing(why: Failure | None, times: int) -> _Turns:
    """Turns whose pauses are over at once."""
    mine = _Turns(looked=7)
    mine.over.set()
    for _ in range(times):
        assert mine.failed is None
        _failed(ROW, why, mine)
    return mine


def test_a_provider_that_is_busy_is_asked_again_and_in_the_end_given_up() -> None:
    busy = failure("429 too many requests")
    assert (failing(busy, 3).failed, failing(busy, 3).looked) == (None, -1)
    assert failing(busy, 4).failed == "throttle: 429 too many requests (4 times)"


@pytest.mark.parametrize("why", [failure("invalid api key"), None])
def test_what_does_not_pass_is_the_end(why: Failure | None) -> None:
    assert failing(why, 1).failed in ("auth: invalid api key", "its run failed")
