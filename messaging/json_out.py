"""JSON out: compact text, by an encoder that is made once.

`json.JSONEncoder.encode` makes one anew for each text, which takes longer than to write a short one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder as made_by
from typing import Any


def compact(
    *, ascii_only: bool = False, sort_keys: bool = False, allow_nan: bool = False
) -> Callable[[Any], str]:
    """The function that writes a value; it raises TypeError or ValueError for what is not JSON.

    `allow_nan` writes NaN and the infinities, which are no JSON, for who looks for them afterwards.
    """
    plain = json.JSONEncoder(
        ensure_ascii=ascii_only,
        allow_nan=allow_nan,
        sort_keys=sort_keys,
        separators=(",", ":"),
        check_circular=False,
    )
    text = made_by.encode_basestring_ascii if ascii_only else made_by.encode_basestring
    made = made_by.c_make_encoder  # type: ignore[attr-defined]  # what `json` itself uses, and no stub names
    pieces = made(None, plain.default, text, None, ":", ",", sort_keys, False, allow_nan)  # noqa: FBT003 - positional only

    def write(value: Any) -> str:
        try:
            return "".join(pieces(value, 0))
        except RecursionError:
            raise ValueError("nests too deeply, or holds itself") from None

    return write
