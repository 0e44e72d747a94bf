"""Corners that no other test reaches: each kills a mutant of the scanner (`./box soak mutants`)."""

from __future__ import annotations

from tests.harvester._asked import LIST, ops


def test_a_bracket_on_the_next_line_closes_a_broken_directive_too() -> None:
    assert ops(f"[TOOL x {{bad}}\n \t](u) {LIST}") == ["tools.list"]  # a link: passed over, not broken
    assert ops(f"[TOOL x {{bad}}\n](u {LIST}") == ["tools.list"]
    assert ops(f"[TOOL x {{bad}}\n] {LIST}\n\n{LIST}") == ["tools.list"]
