"""A directive that is all of a paragraph runs as it would in the middle of one (GRAMMAR 1, 2 and 5.4)."""

from __future__ import annotations

from harvester.events import Directive, Event, Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import lines_from
from harvester.scanner.reply import Reply

LIST = "[TOOL tools.list {}]"


def scan(text: str, policy: ScanPolicy) -> list[Event]:
    scanner = Scanner(policy)
    return scanner.feed(text) + scanner.close()


def read_every_line(text: str, policy: ScanPolicy) -> list[Event]:
    ledger = Ledger(policy)
    reply = Reply(ledger)
    for line, _ in lines_from(text + "\n", 0, 0):
        reply.line(line)
    reply.finish(len(text))
    return ledger.take()


def test_it_is_reported_with_the_blank_line_behind_it() -> None:
    scanner = Scanner()
    assert scanner.feed(f"Text.\n\n{LIST}\n") == []
    assert [event.span for event in scanner.feed("\n")] == [(7, 27)]


def test_a_carriage_return_ends_a_line_at_once_and_a_line_feed_behind_it_is_its_second_half() -> None:
    scanner = Scanner()
    assert scanner.feed(f"{LIST}\r") == scanner.feed("") == scanner.feed("\n") == []
    assert [event.span for event in scanner.feed("\r")] == [(0, 20)]
    assert scanner.feed("\n") == []
    assert [event.span for event in scanner.feed(f"{LIST}\n\n")] == [(24, 44)]


def test_it_counts_for_the_limit_of_calls() -> None:
    events = scan(f"{LIST}\n\n" * 3, ScanPolicy(max_calls=2))
    assert [type(event) for event in events] == [Directive, Directive, Skipped]


def test_the_limits_of_a_directive_and_of_a_paragraph_hold() -> None:
    text = f'Text.\n\n[TOOL x {{"a": "{"x" * 100}"}}]\n\n'
    for policy, reason in (
        (ScanPolicy(max_directive_bytes=50), SkipReason.BROKEN),
        (ScanPolicy(max_paragraph_bytes=50), SkipReason.TOO_LONG),
    ):
        events = scan(text, policy)
        assert events == read_every_line(text, policy)
        assert [event.reason for event in events if isinstance(event, Skipped)] == [reason]


def test_it_does_not_run_in_a_list_that_a_quote_is_in_or_behind_a_broken_one() -> None:
    for text in (
        f"> {LIST}\n\n",
        f"- a\n\n  > b\n  {LIST}\n\n",
        f"[TOOL x {{bad}}] x\n{LIST}\n\n",
        f"```\n\n{LIST}\n\n```\n",
        f"<pre>\n\n{LIST}\n\n",
    ):
        events = scan(text, ScanPolicy())
        assert events == read_every_line(text, ScanPolicy())
        assert not [event for event in events if isinstance(event, Directive)]


def test_what_stands_before_or_behind_it_in_its_paragraph_decides_too() -> None:
    for text in (f"`{LIST}`\n\n", f"{LIST}(x)\n\n", f"“{LIST}”\n\n", f"~~\n{LIST}\n~~\n\n", f"{LIST} x\n\n"):
        assert scan(text, ScanPolicy()) == read_every_line(text, ScanPolicy())
