"""The types of the vocabulary: what each kind of word says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class KnownOp:
    """An op of O 7.2 with the names of its arguments."""

    name: str
    side_effecting: bool
    required: tuple[str, ...]
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoxAction:
    """One of the 27 reads (O 7.1).

    `argument` names what its one argument is, None when it takes none. `synonyms` are the other names that
    `box.<action> {…}` may give that argument (GRAMMAR 5.1).
    """

    name: str
    argument: str | None
    synonyms: tuple[str, ...] = ()


class CurlRole(StrEnum):
    """What an option of curl is to us (GRAMMAR 6)."""

    FLAG = "flag"
    METHOD = "method"
    BODY = "body"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class CurlOption:
    """An option that a curl of our own `/exec` may carry."""

    name: str
    role: CurlRole

    @property
    def takes_value(self) -> bool:
        """Does a value follow the option?"""
        return self.role is not CurlRole.FLAG


@dataclass(frozen=True, slots=True)
class CallKeys:
    """The keys of a call object that hold its op, and those that hold its arguments (GRAMMAR 4)."""

    op: tuple[str, ...]
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """All of it. `arg_synonyms` has a row per op or family (`cron.*`), synonym -> argument; `native_openers`
    are beginnings of what opens a call in some model's native dialect (GRAMMAR 9).
    """

    known_ops: Mapping[str, KnownOp]
    op_aliases: Mapping[str, str]
    never_aliased: frozenset[str]
    arg_synonyms: Mapping[str, Mapping[str, str]]
    box_actions: Mapping[str, BoxAction]
    verdicts: Mapping[str, str]
    reasoning_tags: frozenset[str]
    inert_tags: frozenset[str]
    html_raw_tags: frozenset[str]
    html_block_tags: frozenset[str]
    quote_pairs: tuple[tuple[str, str], ...]
    native_openers: tuple[str, ...]
    call_fences: tuple[str, ...]
    shell_fences: tuple[str, ...]
    curl_options: Mapping[str, CurlOption]
    call_keys: CallKeys

    @property
    def bare_ops(self) -> frozenset[str]:
        """Ops without required arguments: those that `[TOOL op]` may call (GRAMMAR 1, F3)."""
        return frozenset(name for name, op in self.known_ops.items() if not op.required)
