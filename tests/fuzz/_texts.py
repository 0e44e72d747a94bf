"""Seeded replies that hurt: small, so that a run reads millions of them, and full of what rules meet at.

Tokens of the grammar in a row, two case texts spliced, a case text with changes, a flood of one token, a
nest of containers, at times much text between. A last step may change line ends or put odd characters in.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.oracle.generate import mutated
from tests.oracle.tokens import MARKS, ODD, POOLS, PROFILES

# Whole constructs of CommonMark, for what tokens in a row rarely make: fences in lists and quotes, setext
# headings, tables, HTML blocks of each kind, tabs that are taken in part.
CONSTRUCTS = (
    "```tool\ntools.list {}\n```\n",
    "- ```tool\n  tools.list {}\n  ```\n",
    "1. ~~~box\n   disk\n   ~~~\n",
    "> ```tool\n> tools.list {}\n> ```\n",
    '```sh\ncurl https://localhost/exec -d \'{"op":"tools.list"}\'\n```\n',
    '```bash\ncurl https://localhost/exec -d @- <<\'E\'\n{"op":"tools.list"}\nE\n```\n',
    "```exec\n[TOOL tools.list {}]\n\n[DM {}]\n```\n",
    '```tool\n[{"op":"tools.list"},{"op":"cron.list"}]\n```\n',
    '```tool\n{"op":"a"} {"type":"function","function":{"name":"b","arguments":"{}"}}\n```\n',
    "x [TOOL tools.list {}]\n===\n",
    "| [TOOL tools.list {}] | b |\n|---|---|\n| [DM {}] | ` |\n",
    "<pre>\n[TOOL tools.list {}]\n\n</pre> [TOOL tools.list {}]\n",
    "<!-- x\n[TOOL tools.list {}]\n--> ",
    "<?x\n\n?>",
    "<!A\n>",
    "<![CDATA[\n]]>",
    "<div>\n[DM {}]\n\n",
    "<i a='\n'>\n",
    "\t- \t[TOOL tools.list {}]\n \t \tx\n",
    "-\n\n  [TOOL tools.list {}]\n",
    "- a\n\n      [TOOL tools.list {}]\n",
    "<think>[TOOL tools.list {}]\n</think>[TOOL tools.list {}]",
    "**[RESULT] PASS**: all of it\n",
    '[RESULT {"verdict":"done","summary":"x"}]\n',
    '[TOOL x {"a": "\\u005b\\ud83d\\ude00"}]',
    '[TOOL x {"a": "\\ud83d"}]',
    '[TOOL x {"a": 1e999}]',
    '[TOOL x {"a":1,"a":2}]',
    '[TOOL\n\tx\n{"a"\n:\n1}\n]',
)
FLOODS = (
    *(
        "[TOOL a {",
        '{"a":',
        '[TOOL a {"k":"',
        "```tool\n",
        "[",
        "<think>",
        "</think>",
        "“",
        "”",
        '"',
        "<code>",
    ),
    *(
        "</code>",
        '[TOOL x {"k":',
        "[TOOL tools.list {}]",
        "[DM {}](",
        "]",
        "{",
        "}",
        "[]",
        "\\",
        "9",
        "> ",
        "- ",
    ),
    *(
        "1. ",
        "[TOOL a {x\n",
        "[TOOL a {x}]\n",
        "[TOOL x {bad}] x\n",
        "~~x ",
        "~~",
        "```\n",
        "````\n",
        "~~~\n",
    ),
    *("<!--", "-->", "<a x='", "<?", "| a ", "|-", "`", "``", "``` ", "\r", "\r\n", "\t", "    ", "curl "),
    *(
        "[RESULT] PASS\n",
        "[RESULT {",
        "!",
        "\ud83d",
        "\ude00",
        "\x00",
        "\ufeff",
        "é",
        "😀",
        "a <think>b</think>",
    ),
)
# Also characters that Python, but neither CommonMark nor the grammar, takes for blanks, digits or line ends.
ODD_CHARS = (
    *ODD,
    "\x0b",
    "\x1c",
    "\x1e",
    "\u2029",
    "\u3000",
    "\u0660",
    "ſ",
    "K",
    "\udc00",
    "😀",
    "\ud83d\ude00",
)
LINE_ENDS = ("\r\n", "\r", "\n\r", "\n\n", "\n \t\n")
_MARKERS = ("- ", "> ", "1. ", "* ", "\t", "  ", "   ", "    ", ">")
# Each takes as long as a hundred others.
_LONG_OF_ALL = 0.001
PROSE = ("Much prose.\n", "- item\n", "x\n\n", "    code\n", "> quote\n", "```\ny\n```\n", "one line ", "é\n")
_WINDOW_CHARS = 70
_LENGTHS = (1, 2, 2, 3, 3, 4, 5, 7)

_Make = Callable[[random.Random, list[str]], str]


def _token(chance: random.Random, weights: list[float]) -> str:
    if chance.random() < 0.12:
        return chance.choice(CONSTRUCTS)
    return chance.choice(chance.choices(POOLS, weights)[0])


def _row(chance: random.Random, _: list[str]) -> str:
    weights = chance.choice(PROFILES)
    return "".join(_token(chance, weights) for _ in range(chance.choice(_LENGTHS)))


def _window(chance: random.Random, texts: list[str]) -> str:
    text = chance.choice(texts)
    start = max(0, chance.randint(-_WINDOW_CHARS, len(text)))
    return text[start : start + chance.randint(1, _WINDOW_CHARS)]


def _splice(chance: random.Random, texts: list[str]) -> str:
    between = chance.choice(("", "\n", "\n\n", chance.choice(MARKS), chance.choice(CONSTRUCTS)))
    return _window(chance, texts) + between + _window(chance, texts)


def _changed(chance: random.Random, texts: list[str]) -> str:
    return mutated(chance, [_window(chance, texts)])


def _flood(chance: random.Random, texts: list[str]) -> str:
    times = chance.choice((2, 2, 3, 3, 5, 9, 17))
    return _row(chance, texts)[:20] + chance.choice(FLOODS) * times + _row(chance, texts)[:40]


def _nest(chance: random.Random, texts: list[str]) -> str:
    markers = "".join(chance.choice(_MARKERS) for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 7, 33))))
    lines = _splice(chance, texts).split("\n") if chance.random() < 0.5 else _row(chance, texts).split("\n")
    again = markers if chance.random() < 0.5 else " " * len(markers)
    return markers + ("\n" + again).join(lines)


def _long(chance: random.Random, texts: list[str]) -> str:
    """With more text between than a scanner lets wait unread."""
    between = chance.choice(PROSE) * chance.choice((350, 1400))
    return _row(chance, texts) + chance.choice(("\n\n", "\n", "")) + between + _splice(chance, texts)


# Rows reach the most corners for their time, so half of all are rows.
_MAKERS: tuple[_Make, ...] = (_row, _row, _row, _row, _splice, _changed, _flood, _nest)


def text(chance: random.Random, texts: list[str]) -> str:
    """One reply; `texts` are those of the case files."""
    make = _long if chance.random() < _LONG_OF_ALL else chance.choice(_MAKERS)
    made = make(chance, texts)
    kind = chance.random()
    if kind < 0.1:
        made = made.replace("\n", chance.choice(LINE_ENDS))
    elif kind < 0.2 and made:
        place = chance.randrange(len(made))
        made = made[:place] + chance.choice(ODD_CHARS) + made[place + (kind < 0.15) :]
    return made
