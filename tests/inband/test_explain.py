"""`--explain`: each place of the reply is marked, with the rule that decided."""

import pytest

from harvester import ScanPolicy, SkipReason
from inband.explain import RULES, explain

REPLY = """Looking.

[TOOL box.exec {"action": "disk"}]

> [TOOL box.exec {"action": "cpu"}]

`[TOOL box.exec {"action": "memory"}]`

[RESULT] PASS: seen
"""


def lines(text: str, *, colour: bool = False, policy: ScanPolicy | None = None) -> list[str]:
    return list(explain(text, policy or ScanPolicy(), colour=colour))


def test_every_reason_has_its_rule_in_words() -> None:
    assert set(RULES) == set(SkipReason)


def test_what_runs_what_is_skipped_and_the_verdict_are_told_apart_without_colour() -> None:
    shown = "\n".join(lines(REPLY))
    assert '▶ [TOOL box.exec {"action": "disk"}]\n       └ F1: calls box.exec {"action":"disk"}' in shown
    assert '· > [TOOL box.exec {"action": "cpu"}]\n       └ skipped: inside a block quote' in shown
    assert "= [RESULT] PASS: seen\n       └ verdict PASS" in shown
    assert lines(REPLY)[-1] == "calls: box.exec; skipped: 2; verdict: PASS"


def test_colour_surrounds_the_place_and_nothing_else() -> None:
    assert '\x1b[32m[TOOL box.exec {"action": "disk"}]\x1b[0m' in "\n".join(lines(REPLY, colour=True))
    assert "\x1b" not in "\n".join(lines(REPLY))


def test_a_place_of_several_lines_is_marked_on_each_and_said_once() -> None:
    shown = lines('[TOOL box.exec {\n "action": "disk"\n}] and so on')
    assert [line[5] for line in shown[:1] + shown[2:4]] == ["▶", "▶", "▶"]
    assert sum("calls box.exec" in line for line in shown) == 1


@pytest.mark.parametrize("colour", [True, False])
def test_control_codes_of_the_reply_do_not_reach_the_terminal(colour: bool) -> None:
    shown = "\n".join(lines("\x1b]0;title\x07[TOOL tools.list {}] \x1b[2J", colour=colour))
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown


def test_a_limit_is_said() -> None:
    text = "[TOOL tools.list {}] " * 3
    shown = lines(text, policy=ScanPolicy(max_calls=2))
    assert shown[-1].startswith("limit: a reply may hold 2 calls")
