"""Secrets out of text before anyone reads it: one table for the whole product (M-44, M-46).

A pattern that has a group named `keep` keeps what it matched; the rest becomes `[REDACTED]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

MARK: Final = "[REDACTED]"

# A private key without its end line (cut output) is covered as far as a key could reach.
_KEY_BEGINS, _KEY_ENDS = (rf"-----{edge} [A-Z ]{{0,40}}PRIVATE KEY-----" for edge in ("BEGIN", "END"))
_ASSIGNED: Final = (
    r"(?P<keep>\b[\w-]{0,64}(?:password|passwd|secret|token|api[_-]?key)[\"']?\s{0,4}[=:]\s{0,4}[\"']?)"
)

_PATTERNS: Final = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (rf"{_KEY_BEGINS}(?:[\s\S]{{0,16384}}?{_KEY_ENDS}|[\s\S]{{0,16384}})", 0),
        (r"\bsk-[A-Za-z0-9_-]{16,}", 0),
        (r"(?P<keep>\bBearer\s{1,8})[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE),
        (r"(?P<keep>--(?:token|password|secret|api-?key)[= ])\S+", re.IGNORECASE),
        (r"\beyJ[A-Za-z0-9._-]{20,}", 0),
        (r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", 0),
        (r"\bgh[pousr]_[A-Za-z0-9]{20,}", 0),
        (r"\bgithub_pat_[A-Za-z0-9_]{20,}", 0),
        (r"\bxox[abprs]-[A-Za-z0-9-]{10,}", 0),
        (r"\bglpat-[A-Za-z0-9_-]{16,}", 0),
        (r"(?P<keep>\b[a-z][a-z0-9+.-]{0,30}://)[^\s/:@]{0,256}:[^\s/@]{1,256}(?=@)", re.IGNORECASE),
        (rf"{_ASSIGNED}(?!\[REDACTED\])[^\s\"',;]+", re.IGNORECASE),
    )
)

# Names of environment variables whose values are secrets (M-46).
_SECRET_NAME: Final = re.compile(r"(?:_TOKEN|_KEY|_SECRET|_PASSWORD)\Z")
# Shorter values ("1", "yes") would black out ordinary words.
_LEAST_SECRET_CHARS: Final = 8


def _cover(match: re.Match[str]) -> str:
    return (match.groupdict().get("keep") or "") + MARK


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values in `environment` that are secrets by their names, longest first."""
    found = {v for k, v in environment.items() if _SECRET_NAME.search(k) and len(v) >= _LEAST_SECRET_CHARS}
    return tuple(sorted(found, key=len, reverse=True))


def redact(text: str, literals: Iterable[str] = ()) -> str:
    """`text` with each secret replaced by `[REDACTED]`; `literals` are secrets that are known by value."""
    for literal in literals:
        text = text.replace(literal, MARK)
    for pattern in _PATTERNS:
        text = pattern.sub(_cover, text)
    return text
