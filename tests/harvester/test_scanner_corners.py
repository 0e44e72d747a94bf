"""Corners that no other test reaches: each kills a mutant of the scanner (`./box soak mutants`)."""

from __future__ import annotations

import sys
import tracemalloc
from types import FrameType

import pytest

from harvester.errors import ScannerClosed
from harvester.events import Directive, Event, Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner, scan_reply
from tests.harvester._asked import LIST, ops, reasons, scan


def test_ascii_pieces_count_for_the_limit_of_a_reply_as_others_do() -> None:
    text = f"{LIST}\n\n{LIST}\n\n{LIST}\n\n"
    for size in (1, 5, 22, len(text)):
        scanner = Scanner(ScanPolicy(max_reply_bytes=50))
        found = [event for at in range(0, len(text), size) for event in scanner.feed(text[at : at + size])]
        found += scanner.close()
        assert found[-1] == Skipped(SkipReason.LIMIT_REPLY, (50, len(text)))


def test_a_bracket_on_the_next_line_closes_a_broken_directive_too() -> None:
    assert ops(f"[TOOL x {{bad}}\n \t](u) {LIST}") == ["tools.list"]  # a link: passed over, not broken
    assert ops(f"[TOOL x {{bad}}\n](u {LIST}") == ops(f"[TOOL x {{bad}}\t](u) {LIST}") == ["tools.list"]
    assert ops(f"[TOOL x {{bad}}\n] {LIST}\n\n{LIST}") == ["tools.list"]


def test_the_place_of_a_curl_in_a_fence_is_its_own_text() -> None:
    command = """curl https://localhost/exec -d '{"op":"x"}'"""
    text = f"- ```sh\n\n   \t{command}\n \n  ```\n"
    assert [text[slice(*event.span)] for event in scan(text)] == [command]


def in_pieces(text: str, size: int) -> list[Event]:
    scanner = Scanner()
    found = [event for at in range(0, len(text), size) for event in scanner.feed(text[at : at + size])]
    return found + scanner.close()


# ---- why a place does not run, and where it is (GRAMMAR 7) -------------------------------------------


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("> a </think> b", []),
        ("x [TOOL x] y", [("prose", 2, 7)]),
        (f"> # {LIST}  ##", [("block_quote", 4, 24)]),
        (f"-\t\t{LIST}", [("indented_code", 3, 23)]),
        ("```tool\n[TOOL tools.list\n \n{}]\n```", [("bad_block", 0, 34)]),
        (f"x `{LIST}", [("code_span", 3, 23)]),
        (f"é > x\n\n> {LIST}", [("block_quote", 9, 29)]),
        (f"> - ```\n>   {LIST}\n>   ```\n> x", [("block_quote", 4, 40)]),  # one block, to its closing fence
        (f"<div>{LIST}\n\n", [("html_block", 0, 25)]),
        (f"<!-- {LIST} -->\n", [("html_block", 0, 29)]),
        (f"x\n<hr>\n{LIST}\n\ny", [("html_block", 2, 27)]),
        ("```tool\ntools.list\n" + "\n" * 70_000 + "```", [("block_too_long", 0, 70_022)]),
    ],
    ids=str,
)
def test_a_place_that_does_not_run_is_told_with_its_reason(text: str, skipped: list[object]) -> None:
    found = [(event.reason.value, *event.span) for event in scan(text) if isinstance(event, Skipped)]
    assert found == skipped


# ---- reasoning tags (GRAMMAR 2) ----------------------------------------------------------------------


def test_tags_that_nothing_could_cover_are_followed_without_a_limit() -> None:
    assert ops("a <think>x</think>\n" * 40 + LIST) == ["tools.list"]


def test_a_closing_tag_by_itself_begins_no_html_whatever_blanks_stand_behind_it() -> None:
    assert ops(f"</think> \t\n{LIST}") == ops(f"</Think >\n{LIST}") == ["tools.list"]


def test_an_orphan_closing_tag_is_looked_for_behind_a_byte_order_mark() -> None:
    # The mark dropped, the item ends before the tag's line and its HTML block with it: the tag counts.
    text = f"1. {LIST}\n\n   <div>\n  a </think> b"
    for reply in (text, "\ufeff" + text):
        assert not [event for event in scan_reply(reply) if isinstance(event, Directive)]


def test_bytes_that_the_reply_ends_in_the_middle_of_are_one_more_character() -> None:
    scanner = Scanner()
    assert scanner.feed_bytes(b"<think>\xe2\x82") == []
    assert scanner.close() == [Skipped(SkipReason.REASONING, (0, 8))]


# ---- quotation marks (GRAMMAR 2.8) -------------------------------------------------------------------


def test_a_straight_mark_between_a_letter_and_a_bracket_opens_nothing() -> None:
    assert ops(f'a"{LIST}" b') == ["tools.list"]
    assert ops(f'a "{LIST}" b') == []


@pytest.mark.parametrize("length", [1, 16, 17, 400])
def test_a_chain_of_broken_links_hides_no_mark(length: int) -> None:
    broken = "[TOOL b {bad}]" * length
    assert ops(f'[TOOL a {{"x":"“"}}]{broken}(u) {LIST} ”') == []
    assert ops(f'“ [TOOL a {{"x":"”"}}]{broken}(u) {LIST} ”') == ["tools.list"]


@pytest.mark.parametrize(
    "nest",
    [
        ("[TOOL a {}][TOOL b {x " * 40 + "}]" * 40) * 2,
        "[TOOL a {}][TOOL b {x " * 16 + "[TOOL a {}]" + "[TOOL b {bad}]" * 800 + "}]" * 16,
    ],
    ids=["nests", "a chain in a nest"],
)
def test_nothing_runs_behind_links_that_take_too_long_to_tell(nest: str) -> None:
    text = f'{nest}(u) [TOOL a {{"x":"“"}}][TOOL b {{bad}}](u) {LIST} ”'
    assert ops(text) == []
    assert ops(f"{text}\n\n{LIST}") == ["tools.list"]


# ---- headings (GRAMMAR 2 and 6) ----------------------------------------------------------------------


@pytest.mark.parametrize("under", ["---", "--", "===", "=", "-  "])
def test_an_underlined_command_is_a_heading(under: str) -> None:
    command = """curl https://localhost/exec -d '{"op":"x"}'"""
    assert ops(f"{command}\n{under}\n") == []
    assert ops(f"{command}\n\n{under}\n") == ["x"]


def test_the_inside_of_a_heading_begins_behind_its_blanks() -> None:
    assert ops(f"#\t“ {LIST}") == ops(f"# \t “ {LIST} #") == []
    assert ops(f"# “ {LIST} ”#") == []


# ---- what is text (GRAMMAR 1, 2.7 and 8) ------------------------------------------------------------


def test_a_result_with_a_word_before_its_brace_is_no_opener() -> None:
    assert ops(f"[RESULT x {{ {LIST}") == ops(f"[RESULT x {{{LIST}}}]") == ["tools.list"]
    assert ops(f"[RESULT {{ {LIST}") == []


def test_struck_out_text_begins_with_the_first_mark_that_may_open_it() -> None:
    assert ops(f"~~a {LIST} ~~b c~~ {LIST}") == ops(f"x ~~a {LIST} ~~b c~~ {LIST}") == ["tools.list"]


def test_a_shells_fence_may_be_empty() -> None:
    assert ops(f"{LIST}\n```sh\n```\n{LIST}") == ["tools.list"] * 2


@pytest.mark.parametrize("run", ["```", "````", "~~~"])
@pytest.mark.parametrize("indent", ["", " ", "   "])
def test_text_in_a_fence_that_no_line_closes_is_none(run: str, indent: str) -> None:
    assert ops(f"Text.\n\n{indent}{run}\n\nText.\n\n{LIST}\n\n") == []
    assert ops(f"Text.\n\n{indent}{run}\nx\n\n{indent}{run}\n\nText.\n\n{LIST}\n\n") == ["tools.list"]


def test_a_closed_scanner_says_what_is_wrong() -> None:
    scanner = Scanner()
    scanner.close()
    with pytest.raises(ScannerClosed, match=r"^this scanner is closed; a reply has one scanner\Z"):
        scanner.feed("x")


# ---- blocks (GRAMMAR 2.4 and 3) ----------------------------------------------------------------------


def test_a_directive_at_the_margin_ends_the_list_before_it() -> None:
    code = f"     {LIST}"  # of an item only a paragraph
    assert ops(f"- [TOOL a {{}}]\n\n[TOOL b {{}}]\n\n{code}") == ["a", "b"]
    assert ops(f"- [TOOL a {{}}]\n\n{code}") == ["a", "tools.list"]


def test_all_containers_end_where_one_cuts_a_comment_off() -> None:
    assert reasons(f"- - <!--\nx -->\n     {LIST}") == ["indented_code"]
    assert ops(f"- - <!--\nx -->\n   {LIST}") == ["tools.list"]
    assert ops(f"- <!-- x\n  y -->\n     {LIST}") == ["tools.list"]


@pytest.mark.parametrize("body", ["\ttools.list\t", " \ttools.list {}\t ", "\t\n\ttools.list\n\t"])
def test_blanks_around_the_lines_of_a_call_fence_mean_nothing(body: str) -> None:
    assert ops(f"```tool\n{body}\n```") == ["tools.list"]
    assert ops(f"```box\n{body.replace('tools.list', 'disk').replace('{}', '')}\n```") == ["box.exec"]


@pytest.mark.parametrize(
    "body", ["! tools.list", "1tools.list", "- tools.list {}", "tools.list {} x", "(tools.list)"]
)
def test_a_line_with_more_than_a_call_makes_the_block_bad(body: str) -> None:
    assert reasons(f"```tool\n{body}\n```") == reasons(f"```tool\ntools.list\n{body}\n```") == ["bad_block"]


# ---- what waits unread (GRAMMAR 7: any pieces, the events of the whole) -------------------------------

LINE = "x" * 100
LINES = 1000  # together longer than any block that may run, so that not all of it is kept


@pytest.mark.parametrize("begin", ["```\n", "~~~ x\n", "<pre>\n", "<!-- x\n", "<?\n", "- a\n\n  ```\n"])
@pytest.mark.parametrize("size", [999, 110_000])
def test_a_long_block_that_blank_lines_do_not_end_is_still_open(begin: str, size: int) -> None:
    indent = "  " * begin.startswith("-")
    text = begin + f"{indent}{LINE}\n\n" * LINES + f"{indent}z\n\n{indent}{LIST}\n\n"
    assert not [event for event in in_pieces(text, size) if isinstance(event, Directive)]


@pytest.mark.parametrize(("line", "runs"), [("> ", False), ("> - ", False), ("> # ", True), ("- ", True)])
@pytest.mark.parametrize("size", [999, 110_000])
def test_behind_many_lines_a_paragraph_goes_on_lazily_or_begins(line: str, size: int, *, runs: bool) -> None:
    text = f"{line}{LINE}\n" * LINES + f"{LIST}\n\n"
    found = [event.op for event in in_pieces(text, size) if isinstance(event, Directive)]
    assert found == ["tools.list"] * runs


@pytest.mark.parametrize("begin", ["```\n", "<pre>\n", "<!-- x\n"])
def test_a_line_in_brackets_that_a_piece_begins_with_may_stand_in_a_long_block(begin: str) -> None:
    long, call = f"{LINE}\n\n" * LINES, f"{LIST}\n\n"
    for filler in range(4000, 4200, 15):  # one of them ends right where the scanner lets go what waits
        scanner = Scanner()
        found = [scanner.feed(text) for text in (begin, long, "x" * filler + "\n\n", call, call)]
        found.append(scanner.close())
        assert not [event for events in found for event in events if isinstance(event, Directive)]


def test_of_a_long_list_only_so_much_waits() -> None:
    scanner, item = Scanner(), "- an item of it\n" * 256
    tracemalloc.start()
    try:
        for number in range(60):
            scanner.feed(f"{item}- {number}\n")
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < len(item) * 50


def test_prose_behind_a_directive_is_not_read_line_by_line() -> None:
    calls = 0

    def seen(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    scanner = Scanner()
    sys.setprofile(seen)
    try:
        scanner.feed(f"{LIST}\n\n" + "Some prose.\n\n" * 2000)
        scanner.close()
    finally:
        sys.setprofile(None)
    assert calls < 500


def test_behind_the_mark_of_a_quote_a_blank_line_ends_the_quotes_in_it() -> None:
    text = "> - > ```\n>\n> - > [TOOL a]\n"  # else the third line would be code
    assert scan_reply(text) == [Skipped(SkipReason.BLOCK_QUOTE, (text.index("["), len(text) - 1))]


@pytest.mark.parametrize(("inside", "told"), [("[TOOL a]", True), ("</think>", False)])
def test_a_heading_over_the_limit_is_told_if_an_opener_stands_in_it(inside: str, *, told: bool) -> None:
    text = f"# some words {inside}"
    wanted = [Skipped(SkipReason.TOO_LONG, (2, len(text)))] if told else []
    assert scan_reply(text, ScanPolicy(max_paragraph_bytes=10)) == wanted


def test_one_blank_behind_the_mark_of_a_quote_belongs_to_it() -> None:
    text = ">    x\n[TOOL tools.list]"  # else this was code, behind which a line begins something else
    assert scan_reply(text) == [Skipped(SkipReason.BLOCK_QUOTE, (5, len(text)))]


def test_reasoning_begins_in_a_heading_of_dead_text_too() -> None:
    text = "[TOOL a {x\n# h <think>\n\n[TOOL tools.list]"
    assert scan_reply(text)[1:] == [Skipped(SkipReason.REASONING, (text.index("<"), len(text)))]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("> # [TOOL a] ###", SkipReason.BLOCK_QUOTE), ("> # [TOOL ab] ###", SkipReason.TOO_LONG)],
)
def test_what_closes_a_heading_in_a_quote_does_not_count_for_its_limit(text: str, reason: SkipReason) -> None:
    span = (4, text.index("]") + 1)
    assert scan_reply(text, ScanPolicy(max_paragraph_bytes=8)) == [Skipped(reason, span)]
