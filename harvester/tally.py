"""What was harvested, counted by kind, for the daemon's metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from harvester.parse import Parsed
from messaging import Result


class Tally:
    """Counts from several threads; `take` empties it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._directives: Counter[tuple[str, str]] = Counter()
        self._skipped: Counter[str] = Counter()

    def add(self, parsed: Parsed, results: Sequence[Result]) -> None:
        """One harvested reply. Calls without a result were not made: the thread had too many rounds."""
        outcomes = ["OK" if result.ok else _code(result) for result in results]
        outcomes += ["not_called"] * (len(parsed.calls) - len(results))
        with self._lock:
            self._directives.update(
                (str(found.form), outcome) for found, outcome in zip(parsed.calls, outcomes, strict=True)
            )
            self._skipped.update(str(place.reason) for place in parsed.skipped)

    def take(self) -> Mapping[str, list[dict[str, Any]]]:
        """The body of `POST /harvests`, empty lists where nothing came; begins again at nothing."""
        with self._lock:
            directives, self._directives = self._directives, Counter()
            skipped, self._skipped = self._skipped, Counter()
        return {
            "directives": [
                {"form": form, "outcome": outcome, "count": count}
                for (form, outcome), count in directives.items()
            ],
            "skipped": [{"reason": reason, "count": count} for reason, count in skipped.items()],
        }


def _code(result: Result) -> str:
    assert result.error is not None
    return str(result.error.code)
