"""What the tests of the conformance suite share: its fixtures read by us, and what we read as its results."""

import json
import random
from collections.abc import Iterable, Iterator

from canitoolcall.fixtures import Fixture
from canitoolcall.pytest_plugin import family_for
from canitoolcall.results import ParsedToolCall, ParseResult

from harvester.dialects import Completion, Reader


def prompt_of(fixture: Fixture) -> str | None:
    """The generation prompt that the suite says this output followed."""
    if fixture.generation_prompt is not None:
        return fixture.generation_prompt
    family = family_for(fixture)
    model = family.reference_for(fixture.reference_model) if family else None
    return model.default_generation_prompt if model else None


def read(fixture: Fixture, pieces: Iterable[str]) -> Completion:
    """The output of `fixture`, read in these pieces."""
    reader = Reader(
        fixture.family,
        tools=fixture.tools,
        generation_prompt=prompt_of(fixture),
        truncated=fixture.truncated,
    )
    said = [found for piece in pieces for found in reader.feed(piece)]
    return Completion.of([*said, *reader.close()])


def facts(completion: Completion) -> tuple[object, ...]:
    """What must not depend on how the text came in."""
    return completion.content, completion.reasoning, completion.calls


def result(completion: Completion) -> ParseResult:
    """As the suite's checks want it."""
    return ParseResult(
        content=completion.content,
        reasoning_content=completion.reasoning,
        tool_calls=tuple(
            ParsedToolCall(call.name, json.dumps(call.arguments, ensure_ascii=False))
            for call in completion.calls
        ),
    )


def random_pieces(text: str, seed: int, most: int = 8) -> Iterator[str]:
    """`text` in pieces of one to `most` characters."""
    chance, position = random.Random(seed), 0
    while position < len(text):
        size = chance.randint(1, most)
        yield text[position : position + size]
        position += size
