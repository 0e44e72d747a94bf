"""How the scanner's time grows on hostile text: `python -m bench.scanner_floods [NAME …]`.

For each flood: nanoseconds a character whole and in pieces of four characters, and the exponent of growth
between SMALL and LARGE repeats (1.0 is linear). The limit of a reply is lifted: it would cut them off.
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


def _seconds(text: str, piece: int) -> float:
    scanner = Scanner(_POLICY)
    start = time.process_time()
    for begin in range(0, len(text), piece):
        scanner.feed(text[begin : begin + piece])
    scanner.close()
    return time.process_time() - start


def _row(name: str, make: Callable[[int], str]) -> str:
    small, large = make(SMALL), make(LARGE)
    cells = [f"{name:30} {len(large):>10,}"]
    for piece in (len(large), 4):
        short, long = min(_seconds(small, piece) for _ in range(2)), _seconds(large, piece)
        exponent = math.log(long / short) / math.log(len(large) / len(small))
        cells.append(f"{long / len(large) * 1e9:8.1f} {exponent:8.2f}")
    return "  ".join(cells)


def main(names: list[str]) -> None:
    print(f"{'flood':30} {'characters':>10}  {'ns/char':>8} {'exponent':>8}  {'in fours':>8} {'exponent':>8}")
    for name, make in FLOODS.items():
        if not names or name in names:
            print(_row(name, make), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
