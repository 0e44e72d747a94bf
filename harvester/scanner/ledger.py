"""What a scan has found so far in one reply, and the limits that count over the whole of it."""

from __future__ import annotations

from collections.abc import Sequence

from harvester.events import Directive, Event, Skipped, SkipReason, Span, Verdict
from harvester.policy import ScanPolicy


class Ledger:
    """Events that wait to be handed out. `dead` is set between a broken directive and a blank line.

    `lost`: it took too long to tell which reasoning tags count, so everything from there on is reasoning.
    """

    __slots__ = ("_calls", "_full", "dead", "events", "lost", "orphans", "policy")

    def __init__(self, policy: ScanPolicy) -> None:
        self.policy = policy
        self.dead = False
        self.lost = False
        self.orphans: list[int] | None = None  # ends of closing reasoning tags that count, if asked for
        self.events: list[Event] = []
        self._calls = 0
        self._full = False

    def run_one(self, directive: Directive) -> None:
        """Note a directive."""
        self.run((directive,), directive.span)

    def run(self, directives: Sequence[Directive], span: Span) -> None:
        """All of a block; nothing after the one that would pass the limit (GRAMMAR 5.4)."""
        self._calls += len(directives)
        self._full = self._full or self._calls > self.policy.max_calls
        if self._full:
            self.skip(SkipReason.LIMIT_CALLS, span)
        else:
            self.events.extend(directives)

    def skip(self, reason: SkipReason, span: Span) -> None:
        """Note a place that does not run."""
        self.events.append(Skipped(reason, span))

    def judge(self, verdict: Verdict) -> None:
        """Note a verdict."""
        self.events.append(verdict)

    def orphan(self, end: int) -> None:
        """Note a closing reasoning tag that counts where an opening one would (GRAMMAR 2)."""
        if self.orphans is not None:
            self.orphans.append(end)

    def take(self) -> list[Event]:
        """The events since the last time."""
        events, self.events = self.events, []
        return events
