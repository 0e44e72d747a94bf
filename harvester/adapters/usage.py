"""Tokens and money: what is not reported is None, and stays None in every sum (A-02)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

Amount: TypeAlias = float | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens by kind and US dollars. `reasoning_tokens` are part of `output_tokens`.

    Whether `input_tokens` counts the cached ones is the provider's affair: Anthropic leaves them out,
    OpenAI and Google put them in. They are passed on as reported.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None

    def plus(self, more: Spent) -> Spent:
        """Both together."""
        return self._with(more, lambda a, b: a + b)

    def at_least(self, total: Spent) -> Spent:
        """The later of two running totals. They only grow: a smaller one is a run that counted nothing."""
        return self._with(total, max)

    def to_json(self) -> dict[str, Any]:
        """All fields; null is "not reported"."""
        return asdict(self)

    def _with(self, other: Spent, joined: Callable[[Any, Any], Any]) -> Spent:
        return Spent(
            **{
                one.name: _joined(getattr(self, one.name), getattr(other, one.name), joined)
                for one in fields(Spent)
            }
        )


def _joined(first: Amount, second: Amount, joined: Callable[[Any, Any], Any]) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return joined(first, second)
