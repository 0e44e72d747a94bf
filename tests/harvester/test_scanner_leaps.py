"""What is taken at once is what one line after the other would have made of it (GRAMMAR 2)."""

from __future__ import annotations

import pytest

from harvester.events import Event
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from harvester.scanner.leaps import over_fences, over_rows, over_text
from harvester.scanner.leaves import Piece
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import Line, lines_from
from harvester.scanner.reply import Reply

LIST = "[TOOL tools.list {}]"


@pytest.mark.parametrize(
    ("taken", "rest"),
    [
        ("```\nx\n```\n", "[TOOL a]"),
        ("```\nx\n```\n```py\ny\n````\n", "z\n"),
        ("```\n````\n", "```\n"),
        ("```` \n```\n````\t\n", ""),
        ("```\nx\n  ```  \n", ""),
        ("```\nx\n    ```\n\t```\n```\n", ""),
        ("```\nx\n``` y\n~~~\n```\n", ""),
        ("", "```\nx\n"),
        ("", "```\nx\n```"),
        ("", "```\nx\n``\n"),
        ("", "```tool\nx\n```\n"),
        ("", "``` ToolS\nx\n```\n"),
        ("", "```sh\nx\n```\n"),
        ("", "```\u212a\nx\n```\n"),
        ("", "```\n[x\n```\n"),
        ("", "```a`\nx\n```\n"),
        ("", "```\r\nx\r\n```\r\n"),
        ("", " ```\nx\n ```\n"),
        ("", "~~~\nx\n~~~\n"),
        ("", "\n```\nx\n```\n"),
    ],
)
def test_fenced_code_in_which_nothing_could_run_is_gone_over(taken: str, rest: str) -> None:
    assert over_fences(f"x\n{taken}{rest}", 2) == 2 + len(taken)


@pytest.mark.parametrize(
    ("taken", "rest"),
    [
        ("|a|\n| - |\n", "b|\n"),
        ("|a|\n", f"|{LIST}|\n"),
        ("|a|\n", "|<think>|\n"),
        ("|a|\n", "|b|"),
        ("", "|a|\r\n"),
        ("", "    |a|\n"),
        ("", "\n"),
    ],
)
def test_rows_without_a_sign_are_gone_over(taken: str, rest: str) -> None:
    assert over_rows(f"x\n{taken}{rest}", 2) == 2 + len(taken)


@pytest.mark.parametrize(
    ("taken", "rest"),
    [
        ("a\nb\n", "c\n- d\n"),
        ("a\rb\r", "c\rd"),
        ("a\n", "b\nc\rd\r"),
        ("", "a\nb\r\nc\n"),
        ("", "a\r\nb\r\n"),
        ("", "a\rb\r"),
        ("", "a <\nb\nc\n"),
        ("", "|a\nb\nc\n"),
        ("", " a\nb\nc\n"),
    ],
)
def test_lines_of_text_that_end_alike_are_taken_all_but_the_last(taken: str, rest: str) -> None:
    assert over_text(f"x\n{taken}{rest}", 2) == 2 + len(taken)


def test_lines_that_were_taken_at_once_can_be_read_one_by_one_again() -> None:
    piece = Piece(Line("a\nbc\nd", 10), 0, 6)
    assert list(piece.lines()) == [Line("a", 10), Line("bc", 12), Line("d", 15)]


def line_by_line(text: str) -> list[Event]:
    ledger = Ledger(ScanPolicy())
    reply = Reply(ledger)
    for line, _ in lines_from(text + "\n", 0, 0):
        reply.line(line)
    reply.finish(len(text))
    return ledger.take()


@pytest.mark.parametrize(
    "text",
    [
        f"[x\n\n```\n```tool\n```\n{LIST}\n",
        f"[TOOL x {{bad\n```\nx\n\n```\n```\n\n```\n{LIST}\n\n{LIST}\n",
        f"- x [TOOL x {{\n```\na\n```\n```\nb\n```\n{LIST}\n",
        f"{LIST}\n\n- ```\n```\n{LIST}\n```\n```\n",
        f"{LIST}\nb\nc\nd\n|-|\n| {LIST} |\n|-|\n| x |\n| {LIST} |\n\n{LIST}\n",
        f"{LIST}\nb\nc\nd\n===\n{LIST}\n",
        f"{LIST}\nb`\nc\nd\ne` {LIST}\n",
        f"[x]\na\nb\nc <think>x</think>\nd\ne\nf {LIST}\n\n",
        f"`\na\nb <think>\nc\nd\ne` {LIST}\n</think> {LIST}\nf\n",
        f"[x]\n`a\nb <think>\nc <think>\nd` {LIST}\n",
        f"<think>x</think> a\nb\nc\nd ` <think>\ne\nf\n</think>{LIST}\n",
        f"[x]\na\nb\ncurl x '\nd <think>'\ne\n</think>\n{LIST}\n",
        f"[x]\nb\n$ curl x '\nd\ne <think>'\n{LIST}\n</think>\n{LIST}\n",
        f'x\ncurl https://localhost/exec \\\n-d \\\n\'{{"op": "tools.list"}}\'\n\n{LIST}',
        f"[TOOL\ntools.list\n{{\n}}\n]\nb\nc\n[TOOL\ntools.list]\n\n{LIST}",
        f"x “\na\nb\nc\n{LIST}\n”\n\n“a\nb\n{LIST}\nd\n",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"], ids=["LF", "CR", "CRLF"])
def test_what_is_taken_at_once_makes_the_events_of_its_lines(text: str, end: str) -> None:
    text = text.replace("\n", end)
    scanner = Scanner()
    found = scanner.feed(text) + scanner.close()
    assert found == line_by_line(text)
    assert found
