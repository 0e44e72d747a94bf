"""An op as everyone sees it: written, read again, and told apart by its digest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from messaging.ops import OpInfo, catalogue

SEND = OpInfo(name="dm.send", side_effecting=True, summary="Send.", args_schema={"type": "object"})


@pytest.mark.parametrize(
    "op",
    [
        SEND,
        replace(SEND, aliases=("dm",), example={"to": "heron"}, allowed=False),
        replace(SEND, approval=True),
        replace(SEND, name="box.exec", actions=(("disk", None), ("job", "job_id")), allowed=True),
    ],
)
def test_what_is_written_of_an_op_is_read_again(op: OpInfo) -> None:  # O-50
    assert OpInfo.from_json(op.to_json()) == op


def test_an_op_without_its_flag_counts_as_side_effecting() -> None:
    document = SEND.to_json()
    del document["side_effecting"]
    assert OpInfo.from_json(document).side_effecting


def test_the_digest_of_all_ops_changes_when_one_goes_or_changes() -> None:
    other = replace(SEND, summary="Send it.", digest="")
    digests = {catalogue([SEND]), catalogue([other]), catalogue([SEND, other]), catalogue([])}
    assert len(digests) == 4
    assert catalogue([SEND]) == catalogue([OpInfo.from_json(SEND.to_json())])
