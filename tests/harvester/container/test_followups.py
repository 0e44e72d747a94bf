"""What an agent was told and no turn has answered is told again."""

from __future__ import annotations

from pathlib import Path

import pytest

from messaging.ipc.folder import MAX_FILE_BYTES
from tests.harvester.container._host import Host


def test_follow_ups_that_a_turn_named_are_answered_and_the_others_lie_in_their_place_again(
    host: Host,
) -> None:
    # T-10, T-28
    names = [host.follow_ups.tell("family", text, text) or "" for text in ("one", "two", "three")]
    place = host.layout.ipc("family") / "input"
    for name in names[:2]:
        (place / name).unlink()  # the agent took both, and died in the turn of the second
    host.follow_ups.answered("family", names[:1])
    assert host.follow_ups.restore("family", reported=True) == names[1:]
    assert host.told("family") == ["two", "three"]
    assert host.follow_ups.restore("family", reported=True) == names[1:]


def test_of_an_agent_that_reports_nothing_what_it_took_counts_as_answered(host: Host) -> None:
    # T-10
    names = [host.follow_ups.tell("family", text, text) or "" for text in ("one", "two")]
    (host.layout.ipc("family") / "input" / names[0]).unlink()
    assert host.follow_ups.restore("family", reported=False) == names[1:]
    assert host.told("family") == ["two"]


def test_an_answer_is_for_good(host: Host) -> None:
    # T-42
    name = host.follow_ups.tell("family", "one", "key") or ""
    host.follow_ups.answered("family", [name, "1796040000000-ffffff.json"])
    host.ledger.mark("family", [name], "sent")
    assert host.ledger.unanswered("family") == []


def test_the_sentinel_is_a_file_of_its_own_and_can_be_taken_back(host: Host) -> None:
    # T-26
    close: Path = host.layout.ipc("family") / "input" / "_close"
    host.follow_ups.close("family")
    assert close.exists()
    host.follow_ups.clear_close("family")
    host.follow_ups.clear_close("family")
    assert not close.exists()


@pytest.mark.parametrize("character", ["x", "\U0001f600", "\x01"])
def test_what_is_too_large_for_a_file_is_cut_in_the_middle(host: Host, character: str) -> None:
    # T-30
    host.follow_ups.tell("family", f"begin{character * 1_000_000}end", "key")
    (file,) = (host.layout.ipc("family") / "input").glob("*.json")
    assert file.stat().st_size <= MAX_FILE_BYTES
    (text,) = host.told("family")
    assert (text[:5], text[-3:], "characters are left out" in text) == ("begin", "end", True)
