"""Untrusted text and trees made safe to show: no terminal codes, no secrets, always valid UTF-8.

Everything that a read returns goes through here once, at the end, so that no read can forget it. Text of
several lines goes through `clean_lines` first: a key that spans lines is a secret only as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from messaging import redact, strip_terminal


def clean(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` as a person may see it. Bytes of /proc that were no UTF-8 become `?`."""
    valid = text.encode("utf-8", "replace").decode("utf-8")
    return redact(strip_terminal(valid), secrets)


def clean_lines(text: str, secrets: Iterable[str], most: int) -> list[str]:
    """The last `most` lines of `text`, cleaned as a whole before it is split."""
    return clean(text, secrets).rstrip("\n").split("\n")[-most:] if text else []


def clean_tree(value: Any, secrets: Iterable[str] = ()) -> Any:
    """A fresh copy of a JSON value with every string in it cleaned, keys too; tuples become lists."""
    if isinstance(value, str):
        return clean(value, secrets)
    if isinstance(value, Mapping):
        return {clean(str(key), secrets): clean_tree(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_tree(item, secrets) for item in value]
    return value
