"""Secrets out of text before anyone reads it: one table for the whole product (M-44, M-46).

A pattern that has a group named `keep` keeps what it matched; the rest becomes `[REDACTED]`. Each row
begins with words, in lower case, without which its pattern cannot match: most text is dealt with by
looking for those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

MARK: Final = "[REDACTED]"

# A private key without its end line (cut output) is covered as far as a key could reach.
_KEY_BEGINS, _KEY_ENDS = (rf"-----{edge} [A-Z ]{{0,40}}PRIVATE KEY-----" for edge in ("BEGIN", "END"))
_NAMES: Final = "password|passwd|secret|token|api[_-]?key"


@dataclass(frozen=True, slots=True)
class _Secret:
    """`needs`: one of these stands in any text that the pattern matches, in some case."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]


def _secret(needs: str, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> _Secret:
    return _Secret(tuple(needs.split()), re.compile(pattern, flags))


_SECRETS: Final = (
    _secret("-----begin", rf"{_KEY_BEGINS}(?:[\s\S]{{0,16384}}?{_KEY_ENDS}|[\s\S]{{0,16384}})"),
    _secret("inband_", r"\binband_[A-Za-z0-9_-]{16,}"),
    _secret("sk-", r"\bsk-[A-Za-z0-9_-]{16,}"),
    _secret("bearer", r"(?P<keep>\bBearer\s{1,8})[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE),
    _secret("--", r"(?P<keep>--(?:token|password|secret|api-?key)[= ])\S+", re.IGNORECASE),
    _secret("eyj", r"\beyJ[A-Za-z0-9._-]{20,}"),
    _secret("akia asia", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _secret("ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    _secret("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    _secret("xox", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    _secret("glpat-", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    _secret("://", r"(?P<keep>://)[^\s/:@]{0,256}:[^\s/@]{1,256}(?=@)"),
    # M-85: a pre-signed URL; whoever has its query may do what it was made for.
    _secret("x-amz-", r"(?P<keep>[?&])X-Amz-[^\s\"'<>]+", re.IGNORECASE),
    _secret(
        "password passwd secret token apikey api_key api-key",
        rf"(?P<keep>(?:{_NAMES})[\"']?\s{{0,4}}[=:]\s{{0,4}}[\"']?)(?!\[REDACTED\])[^\s\"',;]+",
        re.IGNORECASE,
    ),
)

_NEEDED: Final = [(word, number) for number, secret in enumerate(_SECRETS) for word in secret.needs]

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
    lower = text.lower()
    for number in sorted({number for word, number in _NEEDED if word in lower}):
        text = _SECRETS[number].pattern.sub(_cover, text)
    return text


def clip(text: str, most_chars: int) -> str:
    """The first `most_chars` characters, and `…` where some are missing. Redact first (M-45)."""
    return text if len(text) <= most_chars else text[:most_chars] + "…"
