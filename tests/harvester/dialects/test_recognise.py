"""`auto`: the dialect of a reply by its signs, measured on the conformance suite (GRAMMAR 9)."""

import pytest
from canitoolcall.pytest_plugin import assert_conforms

from harvester.dialects import AUTO, parse, recognise
from tests.harvester.dialects._suite import prompt_of, result

# What reads an output of the family as well: a list of Python calls has no sign of its family, and a reply
# that was cut off at `<tool_call>` may go on in any of three.
ALSO = {"llama": {"pythonic"}, "qwen3-xml": {"qwen3-hermes"}}


def test_an_output_of_the_suite_is_recognised_or_calls_nothing(canitoolcall_fixture):
    fixture = canitoolcall_fixture
    name = recognise(fixture.raw_output).name
    assert name in {fixture.family, "plain"} | ALSO.get(fixture.family, set())
    if name == "plain":
        assert not (fixture.expected and fixture.expected.tool_calls)


def test_an_output_of_the_suite_reads_as_expected_though_nobody_named_its_dialect(canitoolcall_fixture):
    fixture = canitoolcall_fixture
    completion = parse(
        fixture.raw_output,
        dialect=AUTO,
        tools=fixture.tools,
        generation_prompt=prompt_of(fixture),
        truncated=fixture.truncated,
    )
    assert_conforms(fixture, result(completion))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hello.", "plain"),
        ('{"tool_calls": [{"function": {"name": "x"}}]}', "openai"),
        ('[{"type": "function", "function": {"name": "x"}}]', "openai"),
        ('Ok. <invoke name="x">', "anthropic"),
        ("Thought: x\nAction: y\nAction Input: {}", "react"),
        ("<function=x>{}</function>", "function"),
        ("<function=x>\n<parameter=y>", "qwen3-xml"),
        ("[x(y=1)]", "pythonic"),
        ('{"a": 1}', "plain"),
    ],
)
def test_signs(text, name):
    assert recognise(text).name == name
