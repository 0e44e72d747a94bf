"""What is a tag, an autolink or a comment, and what it hides (GRAMMAR 2.6, CommonMark 6.4 to 6.6)."""

from __future__ import annotations

import pytest

from harvester.parse import parse
from tests.harvester._asked import LIST, ops

# Each holds one backtick: in a tag it begins no code, so that the one behind the call pairs with nothing.
TAGS = (
    "<a`@b5-c.d>", "<a`@bC.XyZ>", "<aMzZ`@m>",
    "<a.!#$%&'*+/=?^_`{|}~-Z09@x-y.z>", "<https://x`>", "<x+.-1:`>", f"<{'a' * 32}:`>",
    "<A1:`>", "<i a='`'>", '<i a="`">', "<i\ta=\n'`'\t>", "<i a='`'/>", "<b-1 _:.-9a='`' b c=d>",
    "<i a=\"'`'\" b='\"'>", "<i a = b c='`'>", "<Z :a='`'>", "<i a='`\n'>", "<!-- ` -->",
    "<!--\n`\n-->", "<!X`>", "<!xY ` z>", "<? ` ?>", "<?`?>", "<![CDATA[`]]>", "<![CDATA[ ]`]> ]]>",
    "<![CDATA[ ]] ` ]]>",
    "<? > ` ?>", "<!-- > -- ` -->", "<i a='>`'>",
)  # fmt: skip
NO_TAGS = (
    "<a`@b_c>", "<a`@>", "<`@ b>", "<a:`>", f"<{'a' * 33}:`>", "<1a:`>", "<https:// `>", "<https:`<>",
    "<aü`@b>", "<i a='`\">", "<i a=`>", "<i 1a='`'>", "<1 a='`'>", "<i a='`'b='c'>", "<i a==`>",
    "< i a='`'>", "<_ a='`'>", "<i a='`' / >", "</i a='`'>", "<i a ='`' =b>", "<!1 `>", "<![CDATA `]]>",
    "<![cdata[`]]>", "<!`>", "<>`", "<!-->`", "<!--->`", "<? `", "<!X `", "<![CDATA[ `", "<i a='`",
    "<https://x`\n>", "<i a.='`'b>", "<i *='`'>",
)  # fmt: skip


@pytest.mark.parametrize("tag", TAGS)
def test_a_backtick_in_a_tag_begins_no_code(tag: str) -> None:
    assert ops(f"x {tag} {LIST} `") == ["tools.list"]


@pytest.mark.parametrize("text", NO_TAGS)
def test_a_backtick_in_what_is_no_tag_begins_code(text: str) -> None:
    assert ops(f"x {text} {LIST} `") == []


@pytest.mark.parametrize("tag", ["<!-- x", "<!-- x --", "<!--- x", "<!---", "<!--"])
def test_a_comment_that_nothing_closes_goes_to_the_paragraphs_end(tag: str) -> None:
    assert ops(f"x {tag} {LIST}\n{LIST}") == []
    assert ops(f"x {tag} {LIST}\n\n{LIST}") == ["tools.list"]


@pytest.mark.parametrize(
    "name", ["code", "PRE", "kbd", "samp", "q", "blockquote", "del", "S", "script", "style"]
)
def test_what_stands_in_such_an_element_is_inert_up_to_its_own_closing_tag(name: str) -> None:
    assert ops(f"x <{name} a> {LIST} </{name}x> {LIST} </{name.lower()} \n    > {LIST}") == ["tools.list"]
    assert ops(f"x <{name}x> {LIST}") == ["tools.list"]
    assert ops(f"x <{name}><{name}> {LIST} </{name}> {LIST} </{name}> {LIST}") == ["tools.list"]
    assert ops(f"x </{name}> {LIST}") == ["tools.list"]


@pytest.mark.parametrize(
    "tag", ["<Think>", "<THINKING\ta>", "<analysis x='>'>", "<reflection a=b c>", "<thought  >"]
)
def test_a_reasoning_tag_in_a_line_takes_all_up_to_its_closing_tag(tag: str) -> None:
    name = tag[1:].split(maxsplit=1)[0].rstrip(">")
    text = (
        f"{LIST} {tag} {LIST}\n\n{LIST} </{name}x> </ {name}> </{name}a> {LIST} </{name.lower()} \t> {LIST}"
    )
    assert ops(text) == ["tools.list"] * 2
    assert ops(f"x\n{tag}{LIST}\n\n</{name.upper()}>{LIST}") == ["tools.list"]


@pytest.mark.parametrize(
    "tag", ["<think/>", "<thinks>", "<think\na>", "<think a=>", "< think>", "<think", "<athink>"]
)
def test_what_is_no_reasoning_tag_takes_nothing(tag: str) -> None:
    assert ops(f"x {tag}x {LIST}") == ["tools.list"]


# Each holds all behind it: to tell which of them are links takes longer than is allowed.
LINKS = "[TOOL{}][TOOL{" * 80


@pytest.mark.parametrize("tag", ["<think>", "</think> <think>"])
def test_where_it_takes_too_long_to_tell_which_tags_count_all_behind_is_reasoning(tag: str) -> None:
    assert ops(f"{LIST}\n\n{LINKS} {tag}\n\n{LIST}\n\n</think>\n\n{LIST}") == ["tools.list"]


def test_so_is_all_of_a_whole_reply_whose_closing_tag_may_count() -> None:
    assert parse(f"{LIST}\n\n{LINKS} </think>{LIST}\n\n{LIST}").calls == ()
    assert len(parse(f"{LIST}\n\n{LINKS} <b>\n\n{LIST}").calls) == 2
