"""A reply that the model could not end, at any place: no call that is not whole, no marker in the text."""

import random

import pytest
from canitoolcall.pytest_plugin import family_for

from harvester.dialects import Completion, Reader, parse
from tests.harvester.dialects._suite import prompt_of

CUTS = 12
UNMARKED = "llama"  # nothing tells there that a text was going to be a call


def test_what_was_whole_before_the_cut_is_all_that_is_called(canitoolcall_fixture):
    fixture, text = canitoolcall_fixture, canitoolcall_fixture.raw_output

    def read(text, *, truncated):
        return parse(
            text,
            dialect=fixture.family,
            tools=fixture.tools,
            generation_prompt=prompt_of(fixture),
            truncated=truncated,
        )

    whole = read(text, truncated=fixture.truncated)
    family, chance = family_for(fixture), random.Random(fixture.id)
    for cut in sorted(chance.sample(range(len(text)), min(CUTS, len(text)))):
        short = read(text[:cut], truncated=True)
        assert [*map(meant, short.calls)] == [*map(meant, whole.calls)][: len(short.calls)], cut
        for marker in family.markers if family and fixture.family != UNMARKED else ():
            assert marker not in (short.content or "") or marker in whole.content, cut
            assert marker not in (short.reasoning or "") or marker in whole.reasoning, cut


def meant(call):
    return call.name, call.arguments


# A marker of several tokens, or the first words behind one, that the end of the reply cuts.
BEGUN = {
    "deepseek": ("Hi", "\n\n<｜DSML｜tool_ca", ""),
    "gemma4": ("Hi", "<|channel>tho", ""),
    "gpt-oss": ("Hi", "<|end|> <|sta", "<|start|>assistant<|channel|>final<|message|>"),
    "kimi": ("Hi", "<|close|>respo", ""),
    "mistral": ("Hi", "[TOOL_CALLS]send[AR", ""),
    "qwen3-xml": ("Hi", "\n\n<tool_call>\n<func", ""),
}


@pytest.mark.parametrize("dialect", BEGUN)
@pytest.mark.parametrize("truncated", [True, False])
def test_a_marker_that_was_begun_is_no_text(dialect, truncated):
    content, begun, prompt = BEGUN[dialect]
    for pieces in ([content + begun], content + begun):
        reader = Reader(dialect, generation_prompt=prompt, truncated=truncated)
        said = [found for piece in pieces for found in reader.feed(piece)]
        completion = Completion.of([*said, *reader.close()])
        assert (completion.content or "").rstrip() == content
        assert completion.calls == ()


def test_what_is_no_token_of_the_markup_is_text_at_the_end_too():
    text = "is 3 < 4? yes <"
    for dialect in BEGUN:
        assert parse(text, dialect=dialect, generation_prompt="", truncated=True).content == text


def test_a_marker_in_a_value_that_was_cut_off_ends_no_call():
    begun = "<tool_call>send<arg_key>text</arg_key><arg_value>a call ends with </tool_call>"
    assert parse(begun, dialect="glm", generation_prompt="", truncated=True).calls == ()


@pytest.mark.parametrize("mention", ["[TOOL_CALLS]hello world", "[TOOL_CALLS]or so {x}", "[TOOL_CALLS]!"])
def test_a_marker_that_no_name_of_a_tool_follows_is_text(mention):
    assert parse(mention, dialect="mistral", generation_prompt="").content == mention
