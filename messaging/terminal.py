"""Terminal control codes out of text: what a program printed is shown, never obeyed.

ECMA-48: CSI, OSC, DCS, SOS, PM and APC sequences in their 7-bit and 8-bit forms, other escapes, and
control characters but tab and line feed. A bare CR would let text overwrite text, so it becomes LF. Tag
characters (U+E0000) spell words that models read and nobody sees.
"""

from __future__ import annotations

import re
from typing import Final

_SEQUENCES: Final = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    "|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"  # OSC DCS SOS PM APC
    "|\x1b[ -/]*[0-~]?"
)
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
_LINE_ENDS: Final = re.compile("\r\n?")


def strip_terminal(text: str) -> str:
    """`text` without control sequences, control characters and bidirectional overrides; lines end in LF."""
    return _CONTROLS.sub("", _LINE_ENDS.sub("\n", _SEQUENCES.sub("", text)))
