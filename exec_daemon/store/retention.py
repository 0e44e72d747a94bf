"""How long journal, workers and audit are remembered, and what of them goes: pure rules, for each store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Fewer lines of the audit stay: to remove one adds the line that says so.
LEAST_LINES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """0 means without end. Jobs are counted for each identity: one that asks a lot pushes out nobody else's.

    A call id is remembered as long as its job: with the defaults a call that is sent again within 90 days is
    known, unless its identity has made 100,000 others since. So are workers that are over.
    """

    keep_days: int = 90
    keep_jobs: int = 100_000
    # The audit outlives the jobs: some 300 bytes a line.
    audit_days: int = 365
    audit_lines: int = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """What may go now: what is from before a time (empty: nothing for that), and what is over a number."""

    jobs_before: str = ""
    keep_jobs: int = 0
    lines_before: str = ""
    keep_lines: int = 0


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went."""

    jobs: int = 0
    lines: int = 0
    workers: int = 0

    def __bool__(self) -> bool:
        """Was there anything that could go?"""
        return bool(self.jobs or self.lines or self.workers)

    def plus(self, more: Pruned) -> Pruned:
        """Both together."""
        return Pruned(self.jobs + more.jobs, self.lines + more.lines, self.workers + more.workers)
