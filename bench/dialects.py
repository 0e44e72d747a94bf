"""Readers of native dialects on the conformance suite: `bench/dialects.py [--peers DIR] [--rounds N]`.

Each reader gets the same texts in the same run, whole and in pieces of one to eight characters, and is told
as much as it can be told. Columns: outputs whose calls it got right, and those of which it got everything
right by the suite's own strict checks; then microseconds an output, the median over the rounds.

Peers are not installed with the project, some weigh gigabytes. To measure them too:

    python3 -m pip install --target /tmp/peers agent-tool-parser llm-beacon llm-router-utils
    ./box bench dialects --peers /tmp/peers
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from canitoolcall.adapters.sglang import resolve_parsers
from canitoolcall.fixtures import Fixture, load_fixtures
from canitoolcall.pytest_plugin import assert_conforms, family_for
from canitoolcall.results import ParsedToolCall, ParseResult

from harvester.dialects import Completion, Reader


class Job(NamedTuple):
    """One output to read."""

    fixture: Fixture
    prompt: str
    pieces: tuple[str, ...]


Read: TypeAlias = Callable[[Job, Sequence[str]], Any]


class Row(NamedTuple):
    """A reader, and what makes the suite's result of what it gives, which is not timed.

    One that cannot stream is measured on whole texts only.
    """

    name: str
    read: Read
    convert: Callable[[Any], ParseResult]
    streams: bool = True


def jobs() -> list[Job]:
    return [Job(fixture, prompt_of(fixture), tuple(pieces_of(fixture))) for fixture in load_fixtures()]


def prompt_of(fixture: Fixture) -> str:
    family = family_for(fixture)
    model = family.reference_for(fixture.reference_model) if family else None
    default = model.default_generation_prompt if model else None
    return (default if fixture.generation_prompt is None else fixture.generation_prompt) or ""


def pieces_of(fixture: Fixture) -> Iterator[str]:
    chance, position = random.Random(fixture.id), 0  # noqa: S311 (the same pieces in each run)
    while position < len(fixture.raw_output):
        size = chance.randint(1, 8)
        yield fixture.raw_output[position : position + size]
        position += size


def result(content: str | None, reasoning: str | None, calls: list[tuple[str, Any]]) -> ParseResult:
    found = tuple(
        ParsedToolCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        for name, arguments in calls
    )
    return ParseResult(content=content, reasoning_content=reasoning, tool_calls=found)


def ours(dialect: str | None = None) -> Read:
    def read(job: Job, pieces: Sequence[str]) -> Completion:
        reader = Reader(
            dialect or job.fixture.family,
            tools=job.fixture.tools,
            generation_prompt=job.prompt,
            truncated=job.fixture.truncated,
        )
        said = [found for piece in pieces for found in reader.feed(piece)]
        return Completion.of([*said, *reader.close()])

    return read


def of_ours(completion: Completion) -> ParseResult:
    calls: list[tuple[str, Any]] = [(call.name, call.arguments) for call in completion.calls]
    return result(completion.content, completion.reasoning, calls)


def agent_tool_parser(peer: Any) -> Row:
    def read(_job: Job, pieces: Sequence[str]) -> Any:
        return peer.try_parse_tool_calls("".join(pieces))

    def convert(calls: Any) -> ParseResult:
        return result(None, None, [(call.name, call.args) for call in calls])

    return Row("agent-tool-parser", read, convert, streams=False)


def llm_beacon(peer: Any) -> Row:
    def read(_job: Job, pieces: Sequence[str]) -> Any:
        try:
            return peer.parse_tool_calls("".join(pieces))
        except ValueError:
            return []

    def convert(calls: Any) -> ParseResult:
        return result(None, None, [(call["name"], call["arguments"]) for call in calls])

    return Row("llm-beacon", read, convert, streams=False)


def llm_router_utils(peer: Any) -> Row:
    """SGLang's parsers as its server chains them: reasoning first, what is left to the calls."""
    reasoning = import_module("llm_router_utils.sglang.srt.parser.reasoning_parser").ReasoningParser
    tool = import_module("llm_router_utils.sglang.srt.entrypoints.openai.protocol").Tool
    offered = {fixture.id: [tool(**row) for row in fixture.tools] for fixture in load_fixtures()}

    def read(job: Job, pieces: Sequence[str]) -> Any:
        rule = resolve_parsers(job.fixture.family, job.fixture.reference_model)
        names = (rule.tool_call_parser or "deepseekv41", rule.reasoning_parser) if rule else ("hermes", None)
        calls = peer.FunctionCallParser(offered[job.fixture.id], names[0])
        opened = job.prompt.rstrip().endswith(("<think>", "<|open|>think<|sep|>"))
        thinks = reasoning(names[1], force_reasoning=opened) if names[1] else None
        return _whole(thinks, calls, pieces[0]) if len(pieces) == 1 else _streamed(thinks, calls, pieces)

    return Row("llm-router-utils", read, lambda found: result(*found))


def _whole(thinks: Any, calls: Any, text: str) -> tuple[Any, ...]:
    thought, rest = thinks.parse_non_stream(text) if thinks else (None, text)
    content, found = calls.parse_non_stream(rest or "")
    return content, thought, [(call.name, call.parameters) for call in found]


def _streamed(thinks: Any, calls: Any, pieces: Sequence[str]) -> tuple[Any, ...]:
    content, thoughts, found = "", "", dict[int, list[str]]()
    for piece in pieces:
        thought, rest = thinks.parse_stream_chunk(piece) if thinks else ("", piece)
        thoughts += thought or ""
        text, deltas = calls.parse_stream_chunk(rest or "")
        content += text or ""
        for delta in deltas:
            row = found.setdefault(delta.tool_index, ["", ""])
            row[0] += delta.name or ""
            row[1] += delta.parameters or ""
    return content, thoughts, [(name, arguments) for name, arguments in found.values()]


PEERS = (
    ("agent_tool_parser", agent_tool_parser),
    ("beacon", llm_beacon),
    ("llm_router_utils.sglang.srt.function_call.function_call_parser", llm_router_utils),
)


def rows() -> Iterator[Row]:
    yield Row("inband", ours(), of_ours)
    yield Row("inband, auto", ours("auto"), of_ours)
    for module, make in PEERS:
        try:
            yield make(import_module(module))
        except ImportError:
            print(f"{make.__name__}: not installed")


def safely(read: Read, job: Job, pieces: Sequence[str]) -> Any:
    """What it gives, or what it raised: a panic of compiled code is no Exception."""
    try:
        return read(job, pieces)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # noqa: BLE001
        return raised


def converted(row: Row, found: Any) -> ParseResult:
    if isinstance(found, BaseException):
        return ParseResult(exception=f"{type(found).__name__}: {found}")
    return row.convert(found)


def expected(fixture: Fixture) -> list[tuple[str, Any]]:
    return (
        [(call.name, dict(call.arguments)) for call in fixture.expected.tool_calls]
        if fixture.expected
        else []
    )


def right(job: Job, found: ParseResult) -> tuple[bool, bool]:
    """Are the calls right; is everything?"""
    try:
        calls = [(call.name, json.loads(call.arguments_raw or "")) for call in found.tool_calls]
    except (ValueError, TypeError):
        return False, False
    try:
        assert_conforms(job.fixture, found)
    except AssertionError:
        return calls == expected(job.fixture) and found.exception is None, False
    return True, True


def measured(row: Row, todo: list[Job], rounds: int, *, whole: bool) -> str:
    def texts(job: Job) -> Sequence[str]:
        return (job.fixture.raw_output,) if whole else job.pieces

    found = [right(job, converted(row, safely(row.read, job, texts(job)))) for job in todo]
    spent = []
    for _ in range(rounds):
        begun = time.perf_counter()
        for job in todo:
            safely(row.read, job, texts(job))
        spent.append((time.perf_counter() - begun) / len(todo) * 1e6)
    calls, everything = (sum(column) for column in zip(*found, strict=True))
    return f"{calls:>5} {everything:>5} {statistics.median(spent):>8.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, help="folder that peers were installed into")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    logging.disable()  # peers warn of every output that they cannot read
    if options.peers:
        sys.path.append(str(options.peers))
    todo = jobs()
    head = f"{'calls':>5} {'all':>5} {'us':>8}"
    print(f"{len(todo)} outputs, {sum(len(job.fixture.raw_output) for job in todo)} characters")
    print(f"{'':<20} {'whole':<22} in pieces\n{'':<20} {head}  {head}")
    for row in rows():
        columns = [measured(row, todo, options.rounds, whole=True)]
        columns += (
            [measured(row, todo, options.rounds, whole=False)] if row.streams else ["    -     -        -"]
        )
        print(f"{row.name:<20} {'  '.join(columns)}", flush=True)


if __name__ == "__main__":
    main()
