"""The scanner's speed on replies as models write them, beside others: `bench/scanner.py [--peers DIR]`.

2,000 seeded replies of 1 to 20 KB, 30 % with one to three directives. Each reader gets the same ones in the
same run, whole and in pieces of 4, 64 and 1,024 characters, in process CPU time, the best of seven readings
of each reply. One that is slow reads as many as it can in its time. MB are 10^6 bytes of UTF-8.

Peers that read calls get them as `<tool_call>`, which they look for. None is installed with the project. To
measure them too:

    python3 -m pip install --target /tmp/peers agent-tool-parser markdown-it-py mistune json_repair openai
    python3 -m pip install --target /tmp/peers --no-deps llm-router-utils partial-json-parser orjson
    ./box bench scanner --peers /tmp/peers
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from time import process_time_ns
from typing import Any, Final, NamedTuple, TypeAlias

sys.path.append(str(Path(__file__).parent))  # run isolated: its own folder is not on the path

from _replies import Reply, replies  # type: ignore[import-not-found, unused-ignore]

from harvester.scanner import Scanner

WHOLE: Final = 1 << 30
PIECES: Final = (WHOLE, 1024, 64, 4)
_ROUNDS: Final = 7

Read: TypeAlias = Callable[[Sequence[str]], Any]


class Row(NamedTuple):
    """A reader, and which part of a reply it gets. One that cannot stream reads whole texts only."""

    name: str
    read: Read
    streams: bool = True
    texts: Callable[[Reply], list[str]] = lambda reply: [reply.text]


class Measured(NamedTuple):
    """MB a second, microseconds a reply, and how many replies it raised on, which do not count."""

    speed: float
    p50: float
    p99: float
    raised: int


def streamed(feed: Callable[[str], Any], pieces: Sequence[str]) -> list[Any]:
    """What a caller does with a stream: whatever comes of a piece is kept, and mostly nothing does."""
    return [come for piece in pieces if (come := feed(piece))]


def ours(pieces: Sequence[str]) -> Any:
    scanner = Scanner()
    return streamed(scanner.feed, pieces), scanner.close()


# ---- peers ---------------------------------------------------------------------------------------------

_TOOLS: Final = ("box.exec", "memory.write", "cron.create", "dm.send")


def _native(reply: Reply) -> list[str]:
    return [reply.native]


def agent_tool_parser(peer: Any) -> Row:
    def read(pieces: Sequence[str]) -> Any:
        return peer.try_parse_tool_calls(pieces[0])

    return Row("agent-tool-parser (Rust)", read, streams=False, texts=_native)


def llm_router_utils(peer: Any) -> Row:
    """SGLang's detector of `<tool_call>`."""
    protocol = import_module("llm_router_utils.sglang.srt.entrypoints.openai.protocol")
    tools = [protocol.Tool(type="function", function={"name": name, "parameters": {}}) for name in _TOOLS]

    def read(pieces: Sequence[str]) -> Any:
        calls = peer.FunctionCallParser(tools, "qwen25")
        if len(pieces) == 1:
            return calls.parse_non_stream(pieces[0])
        return streamed(calls.parse_stream_chunk, pieces)

    return Row("llm-router-utils (SGLang)", read, texts=_native)


def markdown_it(peer: Any) -> Row:
    reader = peer.MarkdownIt("commonmark").enable("table")
    return Row("markdown-it-py", lambda pieces: reader.parse(pieces[0]), streams=False)


def mistune(peer: Any) -> Row:
    reader = peer.create_markdown(renderer=None)
    return Row("mistune", lambda pieces: reader(pieces[0]), streams=False)


def json_repair(peer: Any) -> Row:
    def read(pieces: Sequence[str]) -> Any:
        return peer.loads(pieces[0])

    return Row("json_repair, payloads only", read, streams=False, texts=lambda reply: reply.payloads)


PEERS: Final = (
    ("agent_tool_parser", agent_tool_parser),
    ("llm_router_utils.sglang.srt.function_call.function_call_parser", llm_router_utils),
    ("markdown_it", markdown_it),
    ("mistune", mistune),
    ("json_repair", json_repair),
)

# ---- floors --------------------------------------------------------------------------------------------

_NAIVE: Final = re.compile(r"\[(?:TOOL|EXEC|DM)\s*([\w.]*)\s*(\{.*?\})\s*\]", re.DOTALL)
_PREFIX: Final = re.compile(r"\[(?:TOOL|EXEC|DM|RESULT)")


def naive_regex(pieces: Sequence[str]) -> Any:
    return [(op, json.loads(args)) for op, args in _NAIVE.findall(pieces[0])]


def find(pieces: Sequence[str]) -> Any:
    return [piece.find("[TOOL") for piece in pieces]


def one_regex(pieces: Sequence[str]) -> Any:
    return streamed(_PREFIX.search, pieces)


def append_only(pieces: Sequence[str]) -> Any:
    parts: list[str] = []
    append = parts.append
    for piece in pieces:
        append(piece)
    return "".join(parts)


FLOORS: Final = (
    Row("naive regex and json.loads", naive_regex, streams=False),
    Row("one regex with a literal prefix", one_regex),
    Row("str.find", find),
    Row("append and join", append_only),
)


def rows() -> Iterator[Row]:
    yield Row("inband", ours)
    for module, make in PEERS:
        try:
            yield make(import_module(module))
        except ImportError:
            print(f"{make.__name__}: not installed; --help says how")
    yield from FLOORS


# ---- measuring -----------------------------------------------------------------------------------------


def best_ns(read: Read, pieces: Sequence[str]) -> int:
    """0 if it raised: a panic of compiled code is no Exception."""
    spent = []
    for _ in range(_ROUNDS):
        begun = process_time_ns()
        try:
            read(pieces)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001
            return 0
        spent.append(process_time_ns() - begun)
    return min(spent)


def measured(row: Row, texts: Sequence[str], size: int, most_ns: float) -> Measured:
    """The reader on these texts in pieces of `size` characters, for as long as it may take."""
    until, took = process_time_ns() + most_ns, list[tuple[int, int]]()
    for text in texts:
        spent = best_ns(row.read, [text[at : at + size] for at in range(0, len(text), size)])
        took.append((spent, len(text.encode())))
        if process_time_ns() > until:
            break
    good = sorted(one for one in took if one[0])
    total, read_bytes = (sum(column) for column in zip(*good, strict=True))
    p50, p99 = (good[len(good) * percent // 100][0] / 1e3 for percent in (50, 99))
    return Measured(read_bytes / total * 1e3, p50, p99, len(took) - len(good))


def line(row: Row, corpus: Sequence[Reply], seconds: float, first: list[Measured]) -> str:
    """A line of the table; `first` are the speeds that the others are divided by."""
    texts = [text for reply in corpus for text in row.texts(reply)]
    sizes = PIECES if row.streams else PIECES[:1]
    found = [measured(row, texts, size, seconds * 1e9) for size in sizes]
    first.extend(found if not first else [])
    cells = [f"{one.speed:,.1f} ({first[place].speed / one.speed:.2g})" for place, one in enumerate(found)]
    cells += ["–"] * (len(PIECES) - len(found))
    raised = f", raises on {found[0].raised}" if found[0].raised else ""
    return f"| {row.name}{raised} | {' | '.join(cells)} | {found[0].p50:,.1f} | {found[0].p99:,.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, help="folder that peers were installed into")
    parser.add_argument("--replies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10, help="the most that a reader may take at a size")
    options = parser.parse_args()
    if options.peers:
        sys.path.append(str(options.peers))
    corpus = replies(options.replies, options.seed)
    size, some = sum(len(reply.text.encode()) for reply in corpus), sum(bool(one.payloads) for one in corpus)
    print(f"{len(corpus)} replies, {size / 1e6:.1f} MB, {some} of them with directives\n")
    print("| MB/s (inband is so many times as fast) | whole | 1,024 | 64 | 4 | p50 us | p99 us |")
    print("|---|---|---|---|---|---|---|")
    first: list[Measured] = []
    for row in rows():
        print(line(row, corpus, options.seconds, first), flush=True)


if __name__ == "__main__":
    main()
