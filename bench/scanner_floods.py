"""How the scanner's time grows on hostile text: `python -m bench.scanner_floods [NAME …]`.

For each flood, whole and in pieces of four characters: nanoseconds a character at SMALL and at LARGE repeats,
and the exponent of growth between them (1.0 is linear). The limit of a reply is lifted: it would cut them
off. That of a paragraph is not: behind it most floods cost next to nothing, so look at SMALL repeats.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Final

from harvester.policy import ScanPolicy
from harvester.scanner import Scanner

SMALL: Final = 10_000
LARGE: Final = 100_000
_POLICY: Final = ScanPolicy(max_reply_bytes=1 << 30)


def _ladder(total: int) -> str:
    """Backtick runs that grow, so that none has a partner."""
    return " ".join("`" * length for length in range(1, int(math.sqrt(2 * total))))


FLOODS: Final[dict[str, Callable[[int], str]]] = {
    "plain text": lambda n: "Some words of prose, and some more.\n" * n,
    "one opener, then prose": lambda n: "[TOOL tools.list]\n\n" + "Some words of prose.\n" * n,
    "[TOOL a {": lambda n: "[TOOL a {" * n,
    "[TOOL a": lambda n: "[TOOL a " * n,
    "[TOOL a { a line": lambda n: "[TOOL a {x\n" * n,
    "[TOOL a { a paragraph": lambda n: "[TOOL a {x\n\n" * n,
    "broken that ends its line": lambda n: '[TOOL a {"x"}]\n' * n,
    '{"a":': lambda n: "[TOOL x " + '{"a":' * n,
    "one long string": lambda n: '[TOOL x {"k":"' + "x" * 8 * n,
    "long strings in openers": lambda n: '[TOOL x {"k":"[TOOL x {\\"k' * n,
    '[TOOL x {"k":': lambda n: '[TOOL x {"k":' * n,
    "```tool": lambda n: "```tool\n" * n,
    "[": lambda n: "[" * n,
    "[DM after [DM": lambda n: '[DM {"a":1}]' * n,
    "links": lambda n: '[DM {"a":1}](' * n,
    "<think> then [TOOL a {": lambda n: "<think>" + "[TOOL a {" * n,
    "<think> alone": lambda n: "<think>\n" * n,
    "<think></think>": lambda n: "<think></think>" * n,
    "a <think></think>": lambda n: "a <think></think>" * n,
    "a <think></think> a line": lambda n: "a <think></think>\n" * n,
    "` <think> a line": lambda n: "` “<think></think>\n" * n,
    "</think>": lambda n: "a </think>" * n,
    "`- ` nest, many lines": lambda n: "- " * 300 + "x\n" + ("\n" + "  " * 40 + "[TOOL a {\n") * (n // 10),
    "`- ` nest": lambda n: "- " * n + "[TOOL a {",
    "`> ` nest": lambda n: "> " * n + "[TOOL a {",
    "`- ` nest, blank lines": lambda n: "- " * 300 + "[TOOL a]" + "\n" * n,
    "quotation marks": lambda n: "“" * n + "[TOOL a]" + "”" * n,
    "straight marks": lambda n: 'a "b ' * n + "[TOOL a]",
    "mixed marks": lambda n: "“«„" * n + "[TOOL a]" + "”“»" * n,
    "<code>": lambda n: "<code>" * n + "[TOOL a]",
    "<code></code>": lambda n: "<code>[TOOL a]</code>" * n,
    "valid calls": lambda n: '[TOOL tools.list {"filter": "x"}]\n' * n,
    "valid calls of an unknown op": lambda n: '[TOOL no.such {"a": 1}] ' * n,
    "one backtick run": lambda n: "`" * n + "[TOOL a]",
    "call, then broken": lambda n: "[TOOL a {}][TOOL {" * n,
    "backtick ladder": lambda n: "[TOOL a] " + _ladder(8 * n),
    "fences of changing length": lambda n: "```\n````\n" * n + "[TOOL a]",
    "] in arrays": lambda n: '[TOOL a {"x": [' + "[]," * n,
    "deep JSON": lambda n: ('[TOOL a {"x": ' + "[" * 62 + "]" * 62 + "}]\n") * (n // 10),
    "too deep JSON": lambda n: ('[TOOL a {"x": ' + "[" * 900 + "]" * 900 + "}]\n") * (n // 100),
    "backslashes": lambda n: "\\" * n + "[TOOL a]",
    "backslashes and openers": lambda n: "\\[TOOL a" * n,
    "long digits": lambda n: '[TOOL a {"x": ' + "9" * n + "}]",
    "many digits": lambda n: ('[TOOL a {"x": ' + "9" * 4299 + "}]\n") * (n // 100),
    "~~x": lambda n: "~~x " * n + "[TOOL a]",
    "closed fences": lambda n: "```\nx\n```\n" * n + "[TOOL a]",
    "<!--": lambda n: "<!--" * n + "[TOOL a]",
    "a <!--": lambda n: "a <!-- " * n + "[TOOL a]",
    "<? without an end": lambda n: "a <?" * n + "[TOOL a]",
    "<a x=": lambda n: '<a x="' * n + "[TOOL a]",
    "attributes": lambda n: "a <a " + "b " * n + "[TOOL a]",
    "one line of 10 MB": lambda n: "x" * 100 * n + "[TOOL tools.list]",
    "one line, many openers": lambda n: "[RESULT [DM [EXEC " * n,
    "curl": lambda n: "curl x\n" * n,
    "curl, continued": lambda n: "curl x \\\n" * n,
    "table rows": lambda n: "| a |\n|---|\n" + "| “[TOOL a] |\n" * n,
    "delimiter rows": lambda n: "a\n" + "|-|-|\n" * n + "[TOOL a]",
    "carriage returns": lambda n: "a\r" * n + "[TOOL a]",
    "blanks": lambda n: " " * n + "[TOOL a]" + " " * n,
    "tabs": lambda n: "- a\n" + "\t" * n + "[TOOL a]",
    "box lines": lambda n: "```box\n" + "disk\n" * n + "```\n",
    "blank box lines": lambda n: "```box\n" + " " * n + "\ndisk\n```\n",
}


def _seconds(text: str, size: int) -> float:
    """What the scanner takes for a text in pieces of that size; the best of two readings."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    took = []
    for _ in range(2):
        scanner = Scanner(_POLICY)
        start = time.process_time()
        for piece in pieces:
            scanner.feed(piece)
        scanner.close()
        took.append(time.process_time() - start)
    return min(took)


def _row(name: str, make: Callable[[int], str]) -> str:
    small, large = make(SMALL), make(LARGE)
    cells = [f"{name:30}"]
    for size in (len(large), 4):
        short, long = _seconds(small, size), _seconds(large, size)
        exponent = math.log(long / short) / math.log(len(large) / len(small))
        cells += [f"{short / len(small) * 1e9:8.0f} {long / len(large) * 1e9:8.0f} {exponent:6.2f}"]
    return "   ".join(cells)


def main(names: list[str]) -> None:
    head = f"{SMALL:8,} {LARGE:8,} {'exp.':>6}"
    print(f"{'ns a character, at repeats':30}   {'whole':24}   in fours\n{'flood':30}   {head}   {head}")
    for name, make in FLOODS.items():
        if not names or name in names:
            print(_row(name, make), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
