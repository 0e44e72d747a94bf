"""The public conformance suite `canitoolcall`, strictly: every fixture whole and in pieces.

`./box fuzz dialects` reads every fixture at every two-way split; here a seeded sample of them has to do.
"""

import random

from canitoolcall.pytest_plugin import assert_conforms

from harvester.dialects import parse
from tests.harvester.dialects._suite import facts, prompt_of, random_pieces, read, result

SPLITS = 24


def test_a_recorded_output_is_read_as_the_suite_expects(canitoolcall_fixture):
    fixture = canitoolcall_fixture
    completion = parse(
        fixture.raw_output,
        dialect=fixture.family,
        tools=fixture.tools,
        generation_prompt=prompt_of(fixture),
        truncated=fixture.truncated,
    )
    assert_conforms(fixture, result(completion))


def test_a_recorded_output_reads_the_same_however_it_comes_in(canitoolcall_fixture):
    fixture, text = canitoolcall_fixture, canitoolcall_fixture.raw_output
    whole = facts(read(fixture, [text]))
    assert facts(read(fixture, text)) == whole
    chance = random.Random(fixture.id)
    for cut in sorted(chance.sample(range(len(text)), min(SPLITS, len(text)))):
        assert facts(read(fixture, [text[:cut], text[cut:]])) == whole, cut
    for seed in range(3):
        assert facts(read(fixture, random_pieces(text, seed))) == whole, seed
