"""DeepSeek V3.2, V4 and V4.1: DSML, invokes whose tags carry a token of their own.

Source of the format: `encoding/` in deepseek-ai/DeepSeek-V3.2, DeepSeek-V4-Flash and DeepSeek-V4.1-Flash. The
three differ in the name of the section and in a blank behind the token.
"""

from __future__ import annotations

from typing import Final

from harvester.dialects.invokes import Invokes, read_section
from harvester.dialects.reading import Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls

_MARK: Final = "｜DSML｜"

DSML_SIGN: Final = rf"<{_MARK} ?\w+"

# The name of the section, and what stands between the token and a name.
_SPELLINGS: Final = (("function_calls", ""), ("tool_calls", ""), ("calls", " "))


def _invokes(section: str, blank: str) -> Invokes:
    opened, closed = f"<{_MARK}{blank}", f"</{_MARK}{blank}"
    return Invokes(
        invoke=f"{opened}invoke ",
        end_invoke=f"{closed}invoke>",
        parameter=f"{opened}parameter ",
        end_parameter=f"{closed}parameter>",
        end_section=f"{closed}{section}>",
    )


def _calls(tags: Invokes) -> Calls:
    def read(reading: Reading, _start: int, position: int) -> Steps[int]:
        return read_section(reading, tags, position)

    return Calls(read=read, closers=marks(tags.end_section))


def dsml_calls() -> dict[str, Calls]:
    """The openers of all three spellings."""
    return {f"<{_MARK}{blank}{section}>": _calls(_invokes(section, blank)) for section, blank in _SPELLINGS}
