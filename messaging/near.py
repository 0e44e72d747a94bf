"""Near matches: what somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Up to `most` of the `known` names that are spelled like `word`, best first.

    A longer word is clipped first: comparing is quadratic in its length, and no name is that long.
    """
    return get_close_matches(word[:64].casefold(), list(known), n=most, cutoff=0.6)


def did_you_mean(names: Iterable[str]) -> str:
    """` Did you mean a or b?`, or nothing."""
    found = " or ".join(names)
    return f" Did you mean {found}?" if found else ""
