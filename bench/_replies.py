"""Seeded replies as models write them: prose, lists, tables, code; some with directives, some not ASCII."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Final, NamedTuple

SHORTEST: Final = 1_000
LONGEST: Final = 20_000
_WITH_DIRECTIVES: Final = 0.3
_MOST_DIRECTIVES: Final = 3

_ENGLISH: Final = (
    "the job ran again after a timeout and left its log in place so we can compare both runs before we "
    "change anything here because the service was slow at night while the disk filled up with old core "
    "files which nobody had looked at since the last release of that tool it's worth a check don't you "
    'think? "retry" is (probably) enough; see below: one test per case, no more.'
).split()
# What makes a text wider than a byte a character: accents, letters of other scripts, an emoji.
_OTHER: Final = (
    "Größe übrigens läuft wieder – café naïve",
    "ログを確認しました 再起動は不要です",
    "проверка прошла успешно ✅ 🚀",
)
_CODE: Final = (
    "def total(rows):\n    return sum(row[0] for row in rows if row[1] != 'x')\n",
    'for name in ["a", "b"]:\n    print(f"{name}: {sizes[name]:>8}")\n',
    "$ journalctl -u nginx --since today | tail -n 20\n$ df -h /var\n",
    '{"name": "web", "ports": [80, 443], "env": {"LEVEL": "info"}}\n',
    "SELECT id, name\n  FROM runs\n WHERE state = 'failed' AND took_ms > 1000;\n",
)
_LANGUAGES: Final = ("python", "py", "", "json", "sql", "text")


class Reply(NamedTuple):
    """A reply, the same one with its calls as `<tool_call>` for readers of that, and their JSON."""

    text: str
    native: str
    payloads: list[str]


class Call(NamedTuple):
    """A directive, the same call as `<tool_call>`, and its JSON."""

    text: str
    native: str
    payload: str


def _sentence(chance: random.Random, words: list[str]) -> str:
    return " ".join(chance.choices(words, k=chance.randint(6, 18))).capitalize() + "."


def _paragraph(chance: random.Random, words: list[str]) -> str:
    sentences = [_sentence(chance, words) for _ in range(chance.randint(2, 6))]
    extra = (
        "",
        " See [the notes](https://example.org/notes).",
        " It is `rows[0]` then.",
        " **Mind** the *gap*.",
    )
    return " ".join(sentences) + chance.choice(extra)


def _list(chance: random.Random, words: list[str]) -> str:
    return "\n".join(f"- {_sentence(chance, words)}" for _ in range(chance.randint(2, 6)))


def _steps(chance: random.Random, words: list[str]) -> str:
    return "\n".join(f"{place}. {_sentence(chance, words)}" for place in range(1, chance.randint(3, 6)))


def _heading(chance: random.Random, words: list[str]) -> str:
    return "#" * chance.randint(1, 3) + " " + " ".join(chance.choices(words, k=4)).capitalize()


def _quote(chance: random.Random, words: list[str]) -> str:
    return "> " + _sentence(chance, words)


def _fence(chance: random.Random, _words: list[str]) -> str:
    return f"```{chance.choice(_LANGUAGES)}\n{''.join(chance.choices(_CODE, k=chance.randint(1, 4)))}```"


def _table(chance: random.Random, words: list[str]) -> str:
    rows = [f"| {chance.choice(words)} | {chance.randint(1, 999)} |" for _ in range(chance.randint(2, 6))]
    return "\n".join(["| name | count |", "|---|---|", *rows])


_BLOCKS: Final[dict[Callable[[random.Random, list[str]], str], int]] = {
    _paragraph: 10, _list: 3, _steps: 1, _heading: 2, _quote: 1, _fence: 3, _table: 1,
}  # fmt: skip


def _call(chance: random.Random, words: list[str]) -> Call:
    text = _sentence(chance, words)
    engine, op, args = chance.choice(
        (
            ("TOOL box.exec", "box.exec", {"action": "disk"}),
            ("EXEC memory.write", "memory.write", {"key": "night", "value": text, "tags": ["ops", "night"]}),
            ("DM", "dm.send", {"to": "heron", "text": text}),
            ("TOOL cron.create", "cron.create", {"schedule": "0 7 * * 1", "limits": {"runs": 3}}),
        )
    )
    payload = json.dumps(args, ensure_ascii=False)
    native = f'<tool_call>\n{{"name": "{op}", "arguments": {payload}}}\n</tool_call>'
    return Call(f"[{engine} {payload}]", native, payload)


def _reply(chance: random.Random) -> Reply:
    words = list(_ENGLISH)
    if chance.random() < _WITH_DIRECTIVES:  # as many, and not the same ones, are not in ASCII
        words += chance.choice(_OTHER).split() * 3
    target, blocks, size = chance.randint(SHORTEST, LONGEST), list[str](), 0
    kinds, weights = list(_BLOCKS), list(_BLOCKS.values())
    while size < target:
        blocks.append(chance.choices(kinds, weights)[0](chance, words))
        size += len(blocks[-1]) + 2
    some = chance.random() < _WITH_DIRECTIVES
    calls = [_call(chance, words) for _ in range(chance.randint(1, _MOST_DIRECTIVES) if some else 0)]
    places = [chance.randint(1, len(blocks)) for _ in calls]
    return Reply(
        _joined(blocks, places, [call.text for call in calls]),
        _joined(blocks, places, [call.native for call in calls]),
        [call.payload for call in calls],
    )


def _joined(blocks: list[str], places: list[int], calls: list[str]) -> str:
    """The blocks with the calls among them, each before the block at its place."""
    blocks = blocks.copy()
    for place, call in sorted(zip(places, calls, strict=True), reverse=True):
        blocks.insert(place, call)
    return "\n\n".join(blocks) + "\n"


def replies(count: int, seed: int) -> list[Reply]:
    """`count` replies, the same ones for a seed."""
    chance = random.Random(seed)  # noqa: S311 (the same replies in each run)
    return [_reply(chance) for _ in range(count)]
