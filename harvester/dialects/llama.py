"""Llama 3 and 4: a JSON object, or a list of Python calls, in place of an answer; and `<|python_tag|>`.

Source of the formats: Meta's prompt format pages for Llama 3.1 to 4 and the chat template of Llama 3.3. The
object has `parameters`; models write `arguments` as well. `pythonic` is the list without Llama's markers.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.unmarked import Unmarked, any_calls, json_calls, python_calls, read_unmarked

_JSON_SIGN: Final = r'\A\s*\{\s*"(?:name|type|parameters|arguments)"\s*:'
_PYTHON_SIGN: Final = r"\A\s*\[\s*[A-Za-z_][\w.-]*\("

LLAMA: Final = Dialect(
    name="llama",
    machine=partial(
        read_unmarked,
        Unmarked(
            decode={"{": json_calls, "[": any_calls},
            markers=("<|python_tag|>", "<|python_start|>"),
            silent=("<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>"),
        ),
    ),
    signs=(r"<\|python_(?:tag|start)\|>", _JSON_SIGN),
)

PYTHONIC: Final = Dialect(
    name="pythonic",
    machine=partial(read_unmarked, Unmarked(decode={"[": python_calls})),
    signs=(_PYTHON_SIGN,),
)
