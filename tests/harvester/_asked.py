"""Short questions to the scanner, for tests that are tables of texts."""

from __future__ import annotations

from harvester.events import Directive, Event, Skipped, Verdict
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner

LIST = "[TOOL tools.list {}]"


def scan(text: str, policy: ScanPolicy | None = None) -> list[Event]:
    """All events of a text, without the check for an orphan closing tag."""
    scanner = Scanner(policy)
    return scanner.feed(text) + scanner.close()


def ops(text: str, policy: ScanPolicy | None = None) -> list[str]:
    """The ops that run."""
    return [event.op for event in scan(text, policy) if isinstance(event, Directive)]


def reasons(text: str, policy: ScanPolicy | None = None) -> list[str]:
    """Why each place that does not run does not."""
    return [event.reason.value for event in scan(text, policy) if isinstance(event, Skipped)]


def verdicts(text: str) -> list[Verdict]:
    """The verdicts."""
    return [event for event in scan(text) if isinstance(event, Verdict)]
