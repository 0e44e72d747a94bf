"""What begins a block and what goes on the paragraph before it (GRAMMAR 2, CommonMark 4 and 5)."""

from __future__ import annotations

import pytest

from harvester.policy import ScanPolicy
from tests.harvester._asked import LIST, ops, reasons

# Behind these a line of text does not go on the quotation that an “ begins, so that the call in it runs.
STARTS = (
    "# x", "###### x", "#", "#\tx", "   # x", "***", "* * *", "_ _\t_", "- - -", "___", "**  * ** *",
    "   ---\t ", "===", "=", "-", "--  ", "   ==\t", "```\n```", "~~~ `\n~~~", "``` x\n```",
    "   ````\n````", "- x\n\n", "+ x\n\n", "* x\n\n", "1. x\n\n", "1) x\n\n", "01. x\n\n",
    "000000001. x\n\n", "<div>\n\n", "</DIV\n\n", "<hr/>\n\n", "<script\n</script>", "<pre>\n</pre>",
    "<style\tx\n</STYLE>", "<textarea>\n</textarea>", "<!-- -->", "<!---->", "<?x?>", "<?\n?>", "<!A>",
    "<!z\n>", "<![CDATA[]]>", "<![CDATA[\n]]>", "> x\n\n", ">x\n\n", "   > x\n\n", "<address\tx\n\n",
    "<h1>\n\n", "</p>\n\n", "<search>\n\n", "<!--\n\n-->", "-\tx\n\n",
)  # fmt: skip
# These go on the paragraph.
NO_STARTS = (
    "#x", "####### x", "    # x", "**", "_ _", "_-_", "**x*", "== =", "==x", "=-", "`` x", "~~",
    "``` x`", "    ```", "    ---", "    ***", "2. x", "0. x", "10. x", "1234567890. x", "1.x", "-x",
    "+", "*", "1.", "<divx>", "<x-y>", "</x-y >", "<prex>", "<>", "<1>", "< div>", "    <div>", "<b>",
    "    > x", "1 . x", "a. x", "\u00a0# x", "#\u00a0x", "\u2010 x", "<!1>", "<![CDATA x", "</pre x",
    "    - x", "\u0661. x", "<i a='b'>",
)  # fmt: skip


@pytest.mark.parametrize("line", STARTS)
def test_a_line_that_begins_a_block_ends_the_paragraph(line: str) -> None:
    assert ops(f"“x\n{line}\n{LIST}”") == ["tools.list"]


@pytest.mark.parametrize("line", NO_STARTS)
def test_a_line_that_begins_no_block_goes_on_the_paragraph(line: str) -> None:
    assert ops(f"“x\n{line}\n{LIST}”") == []


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<script>", "</SCRIPT>"), ("<pre x", "</style>"), ("<textarea>", "</pre>"), ("<!-- ", "-->"),
        ("<?", "?>"), ("<!X", ">"), ("<![CDATA[", "]]>"),
    ],
)  # fmt: skip
def test_raw_html_goes_over_blank_lines_to_its_end(begin: str, end: str) -> None:
    assert ops(f"{begin}\n{LIST}\n\n{LIST}\n{end} {LIST}\n{LIST}") == ["tools.list"]
    assert ops(f"{begin} {LIST}{end} {LIST}\n{LIST}") == ["tools.list"]


@pytest.mark.parametrize(
    "line", ["<div>", "</div>", "<x-y>", "</x-y>", "<i a='b'>  ", "<h6", "<li/>", "<tr\tx"]
)
def test_other_html_goes_to_the_next_blank_line(line: str) -> None:
    assert ops(f"{line}\n{LIST}\n \n{LIST}") == ["tools.list"]


@pytest.mark.parametrize("line", ["<x-y> z", "<i a='b'> c", "</x-y a>", "<a@b.c>", "<x-y", "<1>", "<divx> a"])
def test_a_line_of_other_tags_and_text_is_a_paragraph(line: str) -> None:
    assert ops(f"{line}\n{LIST}") == ["tools.list"]


@pytest.mark.parametrize("indent", ["    ", "\t", " \t", "  \t", "   \t", "     "])
def test_a_line_behind_four_columns_is_code_where_nothing_goes_on(indent: str) -> None:
    assert reasons(f"{indent}{LIST}") == ["indented_code"]
    assert ops(f"x\n{indent}{LIST}") == ["tools.list"]
    assert reasons(f"# x\n{indent}{LIST}") == ["indented_code"]


@pytest.mark.parametrize(
    ("item", "inside", "code"),
    [
        ("- x", "  ", "      "), ("-   x", "    ", "        "), ("-     x", "  ", "      "),
        ("10. x", "    ", "        "), ("-\tx", "    ", "        "), (" - x", "   ", "       "),
        ("-", "  ", "      "), ("1)\n   x", "   ", "       "), ("- - x", "    ", "        "),
        (">- x\n", "", "    "),
        ("1.   x", "\t ", "\t     "), ("- x", "\t", "\t\t"), ("-\tx", "\t", "\t\t"),
    ],
)  # fmt: skip
def test_what_an_item_holds_is_told_by_its_indentation(item: str, inside: str, code: str) -> None:
    assert ops(f"{item}\n\n{inside}{LIST}") == ["tools.list"]
    assert ops(f"{item}\n{inside}```tool\n{inside}tools.list\n{inside}```") == ["tools.list"]
    assert reasons(f"{item}\n\n{code}{LIST}") == ["indented_code"]


@pytest.mark.parametrize(
    ("item", "columns"), [("- x", 2), ("-   x", 4), ("-     x", 2), ("10. x", 4), ("1.   x", 5), ("- - x", 4)]
)
def test_three_columns_more_than_an_item_are_text_and_four_are_code(item: str, columns: int) -> None:
    assert ops(f"{item}\n\n{' ' * (columns + 3)}{LIST}") == ["tools.list"]
    assert reasons(f"{item}\n\n{' ' * (columns + 4)}{LIST}") == ["indented_code"]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("a | b", "-|-"), ("| a | b |", "|:-|-:|"), ("| a |", "|---|"), ("a |", "-|"), ("|a", ":-:"),
        ("a||", "-|-"), ("a \\| b", "|-"), ("x\n| a |", "| - |\t"), ("a | b", "   :- | -"),
        ("a | b", ":-:\t|\t-"), ("|", "|-|"),
    ],
)  # fmt: skip
def test_a_row_of_a_table_is_an_inside_of_its_own(header: str, row: str) -> None:
    expected = [] if header == "|" else ["tools.list"]
    assert ops(f"{header}\n{row}\n“ a\n{LIST} ”") == expected


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("a | b", ":-"), ("a", "-|-"), ("a | b", "-|-|-"), ("a | b", "-|:"), ("a | b", "    -|-"),
        ("a | b", "-|-x"), ("a | b", ":- -|-"), ("a | b", "-||-"), ("a | b", ":::|-"), ("a \\| b", "-|-"),
    ],
)  # fmt: skip
def test_a_line_that_does_not_fit_the_one_before_makes_no_table(header: str, row: str) -> None:
    assert ops(f"“{header}\n{row}\n{LIST} ”") == []


def test_structure_is_followed_twice_as_deep_as_it_counts() -> None:
    assert ops("- " * 64 + f"# x\n{LIST}") == ["tools.list"]
    assert ops("- " * 65 + f"# x\n{LIST}") == []
    assert ops("- " * 65 + f"<!---->\n\n{LIST}") == ops("- " * 65 + f"<!-- x -->\n\n{LIST}") == ["tools.list"]
    assert ops("- " * 65 + f"<!---->\n{LIST}") == ops("- " * 65 + f"<!-- x\n\n{LIST}") == []
    policy = ScanPolicy(max_containers=2)
    assert ops(f"- - - - # x\n{LIST}", policy) == ["tools.list"]
    assert ops(f"- - - - - # x\n{LIST}", policy) == []
