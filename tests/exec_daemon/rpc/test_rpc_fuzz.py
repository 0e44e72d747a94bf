"""A short run of `tests/fuzz/rpc.py`, which has a hundred thousand lines by itself."""

from __future__ import annotations

import pytest

from tests.fuzz.rpc import main, run


@pytest.mark.parametrize("seed", [1, 2])
def test_no_line_crashes_it_and_each_id_is_answered(seed: int) -> None:  # J-06, J-14
    assert main(3000, seed) == 0


async def test_the_run_reaches_every_kind_of_answer() -> None:
    tallies = await run(3000, 3)
    codes = {code for one in tallies for code in one.codes}
    assert {"ok", "INVALID_REQUEST", "TASK_NOT_READY", "TASK_NOT_FOUND", "FORBIDDEN"} <= codes
    assert sum(len(one.seqs) for one in tallies) > 100
