"""The scanner's contract (GRAMMAR 7): pieces, limits, spans, reasons, misuse."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvester.errors import ScannerClosed
from harvester.events import Directive, Event, Form, Skipped, SkipReason, Verdict
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner, orphan_end, scan_reply
from tests.harvester.scanned import calls, scan

LIST = "[TOOL tools.list {}]"
CRON = "[TOOL cron.list {}]"


def ops(events: list[Event]) -> list[str]:
    return [event.op for event in events if isinstance(event, Directive)]


def reasons(text: str, policy: ScanPolicy | None = None) -> list[str]:
    return [event.reason.value for event in scan_reply(text, policy) if isinstance(event, Skipped)]


# ---- pieces ----------------------------------------------------------------------------------------

# Bits that begin, end or cover something; put together they reach the corners that whole replies miss.
BITS = st.sampled_from(
    [
        LIST, CRON, '[DM {"to": "a", "text": "b"}]', "[TOOL x {bad}]", "[TOOL x {", "[TOOL",
        "[RESULT] PASS: ok", '[RESULT {"verdict": "ok"}]', "```tool\n", "```box\ndisk\n```", "```\n",
        "~~~\n", "`", "``", "<think>", "</think>", "<code>", "</code>", "<!--", "-->", "<div>", "> ",
        "- ", "1. ", "# ", "    ", "\t", "\n", "\r\n", "\r", "\n\n", "| a |\n|---|\n", "===\n",
        "---\n", "“", "”", '"', "'", "~~", "\\", "!", "(u)",
        "curl https://localhost/exec -d '{\"op\":\"cron.list\"}'", " ", "a ", "é", "\ud800", "\x00",
        "\ufeff", "}", "]",
    ]
)  # fmt: skip
TEXTS = st.lists(BITS, max_size=24).map("".join)


@settings(max_examples=400)
@given(text=TEXTS, cuts=st.lists(st.integers(0, 400), max_size=12))
def test_any_partition_gives_the_events_of_the_whole(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    assert scan(text, pieces) == scan_reply(text)


@settings(max_examples=300)
@given(text=TEXTS)
def test_events_are_in_order_and_a_call_never_lies_in_what_is_skipped(text: str) -> None:
    events = scan_reply(text)
    assert [event.span[0] for event in events] == sorted(event.span[0] for event in events)
    hidden = [event.span for event in events if isinstance(event, Skipped)]
    for event in events:
        if isinstance(event, Directive):
            assert not any(start < event.span[1] and event.span[0] < end for start, end in hidden)


@settings(max_examples=300)
@given(text=st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    assert isinstance(scan_reply(text), list)


@settings(max_examples=200)
@given(text=TEXTS, size=st.integers(1, 7))
def test_bytes_may_be_cut_in_the_middle_of_a_character(text: str, size: int) -> None:
    text = text.replace("\ud800", "東京 🚀")
    data, scanner = text.encode(), Scanner()
    events = [
        event
        for start in range(0, len(data), size)
        for event in scanner.feed_bytes(data[start : start + size])
    ]
    whole = Scanner()
    assert events + scanner.close() == whole.feed(text) + whole.close()


def test_bytes_that_are_no_utf_8_are_text() -> None:
    scanner = Scanner()
    assert ops(scanner.feed_bytes(b"\xff\xc3(" + LIST.encode() + b"\xf0\x9f")) == []
    (event,) = scanner.close()
    assert event.span == (3, 3 + len(LIST))


def test_a_directive_is_handed_out_when_its_paragraph_ends() -> None:
    scanner = Scanner()
    assert scanner.feed(LIST + "\n") == []
    assert ops(scanner.feed("\n")) == ["tools.list"]
    assert scanner.close() == []


def test_text_that_cannot_matter_is_not_read_until_it_has_to_be() -> None:
    scanner = Scanner()
    fence = "```\n" + "x\n" * 10_000  # more than waits
    assert scanner.feed(fence) == []
    assert ops(scanner.feed(LIST + "\n```\n" + CRON)) == []
    assert ops(scanner.close()) == ["cron.list"]


def test_a_cr_at_the_end_of_a_piece_may_be_half_of_a_line_end() -> None:
    text = f"```tool\r\ncron.list\r\n```\r\n{LIST}\r"
    assert scan(text, ("```tool\r", "\ncron.list\r", "\n```\r\n" + LIST + "\r")) == scan_reply(text)


@pytest.mark.parametrize("use", [Scanner.close, lambda scanner: scanner.feed("x")])
def test_a_closed_scanner_is_not_used_again(use: object) -> None:
    scanner = Scanner()
    scanner.close()
    assert callable(use)
    with pytest.raises(ScannerClosed):
        use(scanner)


# ---- spans -----------------------------------------------------------------------------------------

SPANS = [
    (f"é {LIST} x", LIST),
    ("- a\r\n  [TOOL tools.list\r\n  {}]", "[TOOL tools.list\r\n  {}]"),
    (f"\ufeff{LIST}", LIST),
    ("# [TOOL tools.list] #", "[TOOL tools.list]"),
    ("- ```tool\n  tools.list {}\n  ```", "tools.list {}"),
    ('```tool\n [ {"op": "tools.list"} ]\n```', '{"op": "tools.list"}'),
    ("<think>x</think> " + LIST, LIST),
]  # fmt: skip


@pytest.mark.parametrize(("text", "written"), SPANS)
def test_a_span_is_the_directives_own_text(text: str, written: str) -> None:
    spans = [event.span for event in scan_reply(text) if isinstance(event, Directive)]
    assert [text[start:end] for start, end in spans] == [written]


def test_events_say_in_which_form_a_call_is_written_and_under_which_id() -> None:
    text = f'{LIST} [DM {{}}] [TOOL tools.list] [TOOL {{"op": "a", "id": "7"}}]\n\n```tool\na {{}}\n```\n'
    text += '\ncurl https://localhost/exec -d \'{"op": "a", "id": "8"}\''
    found = [(event.form, event.id) for event in scan_reply(text) if isinstance(event, Directive)]
    assert [form for form, _ in found] == [form for form in Form if form is not Form.NATIVE]
    assert [name for _, name in found] == [None, None, None, "7", None, "8"]


def test_a_verdict_says_its_summary_and_artifacts() -> None:
    text = '[RESULT] done — all `green`\n\n[RESULT {"verdict": "Failed", "artifacts": ["a", 1]}]'
    words, objects = (event for event in scan_reply(text) if isinstance(event, Verdict))
    assert (words.word, words.summary, words.artifacts) == ("PASS", "all `green`", None)
    assert (objects.word, objects.summary, objects.artifacts) == ("FAIL", None, ("a", 1))
    assert text[slice(*words.span)] == "[RESULT] done — all `green`"


# ---- limits ----------------------------------------------------------------------------------------


def test_past_the_limit_of_calls_nothing_more_runs() -> None:
    events = scan_reply(f"{LIST} {LIST} {LIST} {LIST}", ScanPolicy(max_calls=2))
    assert ops(events) == ["tools.list"] * 2
    assert reasons(f"{LIST} {LIST} {LIST} {LIST}", ScanPolicy(max_calls=2)) == ["limit_calls"] * 2


def test_past_its_limit_a_reply_is_read_as_if_it_ended_there() -> None:
    policy = ScanPolicy(max_reply_bytes=len(LIST) + 4)
    assert calls(scan_reply(LIST + "\n\n" + LIST, policy)) == [{"op": "tools.list", "args": {}}]
    assert scan_reply(LIST + "\n\nabc", policy)[-1] == Skipped(
        SkipReason.LIMIT_REPLY, (len(LIST) + 4, len(LIST) + 5)
    )
    assert "limit_reply" not in reasons(LIST + "\n\nab", policy)


def test_a_character_over_the_limit_does_not_come_in_part() -> None:
    policy = ScanPolicy(max_reply_bytes=5)
    assert scan_reply("abéé", policy) == [Skipped(SkipReason.LIMIT_REPLY, (3, 4))]
    assert scan_reply("abcéé", policy) == [Skipped(SkipReason.LIMIT_REPLY, (4, 5))]
    assert scan_reply("abcdé", policy) == [Skipped(SkipReason.LIMIT_REPLY, (4, 5))]


def test_a_byte_order_mark_counts_with_its_three_bytes() -> None:
    text = f"\ufeff{LIST}"
    assert ops(scan_reply(text, ScanPolicy(max_reply_bytes=3 + len(LIST)))) == ["tools.list"]
    for most in (2 + len(LIST), 3, 2, 0):
        events = scan_reply(text, ScanPolicy(max_reply_bytes=most))
        assert ops(events) == []
        assert events[-1] == Skipped(SkipReason.LIMIT_REPLY, (max(1, most - 2), len(text))), most


def test_a_limit_is_met_at_the_same_place_in_any_pieces() -> None:
    text, policy = f"é{LIST}\n\n{CRON}\n", ScanPolicy(max_reply_bytes=30)
    for cut in range(len(text)):
        assert scan(text, (text[:cut], text[cut:]), policy) == scan_reply(text, policy)


def test_tags_in_the_middle_of_covered_lines_are_followed_only_so_often() -> None:
    text = "a ' \" <think>x</think>\n" * 20 + LIST
    assert ops(scan_reply(text)) == []
    assert reasons(text)[-1] == "limit_tags"
    assert ops(scan_reply(text, ScanPolicy(max_inline_tags=20))) == ["tools.list"]


def test_sizes_and_depths_come_from_the_policy() -> None:
    assert reasons(f"- - {LIST}", ScanPolicy(max_containers=1)) == ["too_deep"]
    assert reasons(f"aaaa {LIST}", ScanPolicy(max_paragraph_bytes=20)) == ["too_long"]
    assert reasons(f"# aaaa {LIST}", ScanPolicy(max_paragraph_bytes=20)) == ["too_long"]
    assert reasons(LIST + "x", ScanPolicy(max_directive_bytes=19)) == ["broken"]
    assert reasons(LIST + "x", ScanPolicy(max_directive_bytes=20)) == []
    assert reasons("```tool\ncron.list\n```", ScanPolicy(max_directive_bytes=20)) == ["block_too_long"]
    assert reasons("```tool\ncron.list\n```", ScanPolicy(max_directive_bytes=21)) == []


def test_a_paragraph_that_is_too_long_is_held_no_further() -> None:
    policy = ScanPolicy(max_paragraph_bytes=30)
    long = f"{LIST}\n" * 5
    assert reasons(long, policy) == ["too_long"]
    assert ops(scan_reply(f"{long}\n{CRON}", policy)) == ["cron.list"]
    assert ops(scan_reply(f"a\nb\n{'c' * 40}\n| {CRON} |\n|---|\n| {LIST} |", policy)) == [
        "cron.list",
        "tools.list",
    ]


# ---- what the policy allows ------------------------------------------------------------------------


def test_a_registrys_ops_may_stand_without_arguments() -> None:
    assert ops(scan_reply("[TOOL deploy.status]", ScanPolicy(bare_ops=frozenset({"deploy.status"})))) == [
        "deploy.status"
    ]


@pytest.mark.parametrize(
    ("url", "policy", "runs"),
    [
        ("http://localhost/exec", ScanPolicy(allow_http=True), True),
        ("https://localhost/exec", ScanPolicy(allow_http=True), True),
        ("https://box.example:1/exec", ScanPolicy(daemon_hosts=("box.example",)), True),
        ("https://boxXexample/exec", ScanPolicy(daemon_hosts=("box.example",)), False),
        ("https://localhost/exec", ScanPolicy(daemon_hosts=("box.example",)), False),
    ],
)
def test_a_curl_runs_only_against_a_host_of_ours(url: str, policy: ScanPolicy, *, runs: bool) -> None:
    events = scan_reply(f'curl {url} -d \'{{"op": "cron.list"}}\'', policy)
    assert ops(events) == ["cron.list"] * runs


def test_a_reply_may_begin_inside_reasoning() -> None:
    policy = ScanPolicy(reasoning_open=True)
    assert ops(scan_reply(f"{CRON}\n</Reasoning> {LIST} </think> {LIST}", policy)) == ["tools.list"] * 2
    assert scan_reply(CRON, policy) == [Skipped(SkipReason.REASONING, (0, len(CRON)))]


def test_only_who_has_the_whole_reply_looks_for_an_orphan_closing_tag() -> None:
    text = f"{CRON}</think>{LIST}"
    scanner = Scanner()
    assert ops(scanner.feed(text) + scanner.close()) == ["cron.list", "tools.list"]
    assert orphan_end(text, ScanPolicy()) == text.index("[TOOL tools")
    assert ops(scan_reply(text)) == ["tools.list"]


# ---- why a place does not run ----------------------------------------------------------------------

REASONS = [
    ("<think>x", "reasoning"),
    (f"```\n{LIST}\n```", "fence"),
    (f"```\n{LIST}", "fence"),
    (f"```bash\n{LIST}\n```", "fence"),
    (f"    {LIST}", "indented_code"),
    (f"> {LIST}", "block_quote"),
    (f"> ```tool\n> {LIST}\n> ```", "block_quote"),
    (f"<div>\n{LIST}", "html_block"),
    ("- " * 33 + LIST, "too_deep"),
    (f"` {LIST} `", "code_span"),
    (f"<code>{LIST}</code>", "html"),
    (f"~~{LIST}~~", "struck_out"),
    (f"“{LIST}”", "quoted"),
    (f"'{LIST}'", "quoted"),
    (f"\\{LIST}", "escaped"),
    (f"!{LIST}", "image"),
    (f"{LIST}(u)", "link"),
    ("[TOOL x]", "prose"),
    ('[TOOL {"x": 1}]', "no_call"),
    ("[TOOL x {bad}]", "broken"),
    ("```tool\ncron.list", "cut_off"),
    ("```tool\nx y\n```", "bad_block"),
    ("```tool\n" + "x" * 65536 + "\n```", "block_too_long"),
    (f"curl x {LIST}", "curl"),
]


@pytest.mark.parametrize(("text", "reason"), REASONS)
def test_a_skipped_place_says_why(text: str, reason: str) -> None:
    assert reasons(text) == [reason]


def test_every_reason_is_told_by_some_test() -> None:
    told = {reason for _, reason in REASONS} | {
        "dead",
        "limit_calls",
        "limit_reply",
        "limit_tags",
        "too_long",
    }
    assert told == {reason.value for reason in SkipReason}


def test_what_stands_behind_a_broken_directive_is_dead() -> None:
    assert reasons(f"[TOOL x {{\n{LIST}\n- {LIST}") == ["broken", "dead"]
    assert reasons(f"[TOOL x {{}} {LIST}") == ["broken", "dead"]
