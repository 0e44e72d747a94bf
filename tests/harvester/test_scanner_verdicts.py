"""Which lines are verdicts (GRAMMAR 8)."""

from __future__ import annotations

import pytest

from tests.harvester._asked import verdicts


@pytest.mark.parametrize(
    ("line", "word", "summary"),
    [
        ('[RESULT\t{"verdict":"ok"}\t]\t', "PASS", None),
        ('[RESULT{"verdict":"ok"} ]', "PASS", None),
        ("[RESULT]\tPASS\t:\tx\t", "PASS", "x"),
        ("***[RESULT] PASS*** - x", "PASS", "x"),
        ("___[RESULT] PASS: x___", "PASS", "x"),
        ("**[RESULT] pass**!", "PASS", None),
        ("**[RESULT] PASS. x**", None, None),
        ("**[RESULT] PASS.**", "PASS", None),
        ("*[RESULT] FAIL: a*b*", "FAIL", "a*b"),
        ("**[RESULT] PASS**: x**", "PASS", "x**"),
        ("**[RESULT] PASS: x*", None, None),
        ("**[RESULT] PASS", None, None),
        ("[RESULT] PASS**", None, None),
        ("[RESULT] PASS.!", None, None),
        ("[RESULT] PASSED", None, None),
        ("[RESULT] PASSx", None, None),
        ("[RESULT] PASS x", None, None),
        ("[RESULT]  Skip – x", "SKIP", "x"),
        ("[RESULT] PASS —", "PASS", None),
        ("[RESULT]PASS", None, None),
        ("- [x] ## [RESULT] PASS", "PASS", None),
        ("1) [ ] [RESULT] PASS", "PASS", None),
        ("123456789. [RESULT] PASS", "PASS", None),
        ("x [RESULT] PASS", None, None),
        ("# [RESULT] PASS #", "PASS", None),
        ("### [RESULT] PASS: x ## \t ", "PASS", "x"),
        ("# [RESULT] PASS: x#", "PASS", "x#"),
        ("[RESULT] PASS:\t x", "PASS", "x"),
        ("[y] [RESULT] PASS", None, None),
        ("[RESULT] PASS\u00a0: x", None, None),
        ('[RESULT {"verdict":"ok"}] x', None, None),
        ('[RESULT {"verdict":"ok"}]x', None, None),
        ('x [RESULT {"verdict":"ok"}]', None, None),
        ('[RESULT {"verdict":"ok","more":1}]', None, None),
        ('[RESULT {"verdict":"ok","summary":1}]', None, None),
        ('[RESULT {"verdict":"ok","summary":null}]', None, None),
        ('[RESULT {"verdict":"ok","artifacts":{}}]', None, None),
        ('[RESULT {"verdict":1}]', None, None),
        ('[RESULT {"verdict":"?"}]', None, None),
        ('[RESULT {"verdict":"ok","summary":""}]', "PASS", ""),
        ('[RESULT {"summary":"x"}]', None, None),
    ],
)
def test_a_line_is_a_verdict_or_text(line: str, word: str | None, summary: str | None) -> None:
    assert [(one.word, one.summary) for one in verdicts(line)] == ([(word, summary)] if word else [])


def test_the_place_of_a_verdict_is_from_its_bracket_to_the_end_of_its_line() -> None:
    text = "x\n- **[RESULT] PASS**: y\t\n\nz"
    (found,) = verdicts(text)
    assert text[slice(*found.span)] == "[RESULT] PASS**: y"


@pytest.mark.parametrize(
    "text",
    [
        "`[RESULT] PASS`", "“[RESULT] PASS”", "[RESULT] PASS: ` x\n`", "<code>[RESULT] PASS",
        "~~[RESULT] PASS~~", "[TOOL x {bad}] x\n[RESULT] PASS", "> [RESULT] PASS",
        "[RESULT] PASS [RESULT] FAILx", "\\[RESULT] PASS",
    ],
)  # fmt: skip
def test_a_verdict_that_is_no_live_line_is_none(text: str) -> None:
    assert verdicts(text) == []
