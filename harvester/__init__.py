"""Text in, calls, results in the thread.

Public names: `parse` and what it gives; `Scanner` with its policy and events; `normalise`; `DaemonClient`;
`harvest_reply`, `Harvester` and `Watcher`; the errors. Each is loaded when it is first used, so that reading
text loads no network module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harvester.client import DaemonClient
    from harvester.errors import ClientError, HarvesterError, ScannerClosed
    from harvester.events import Directive, Event, Form, Skipped, SkipReason, Span, Verdict
    from harvester.harvest import Harvested, Harvester, harvest_reply
    from harvester.parse import Notice, Parsed, ParsedCall, parse
    from harvester.policy import ScanPolicy
    from harvester.scanner import Scanner
    from harvester.watch import Watcher
    from messaging.normalise import Names, names_for, normalise

_HOME = {
    "harvester.client": ("DaemonClient",),
    "harvester.errors": ("ClientError", "HarvesterError", "ScannerClosed"),
    "harvester.events": ("Directive", "Event", "Form", "SkipReason", "Skipped", "Span", "Verdict"),
    "harvester.harvest": ("Harvested", "Harvester", "harvest_reply"),
    "harvester.parse": ("Notice", "Parsed", "ParsedCall", "parse"),
    "harvester.policy": ("ScanPolicy",),
    "harvester.scanner": ("Scanner",),
    "harvester.watch": ("Watcher",),
    "messaging.normalise": ("Names", "names_for", "normalise"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "ClientError",
    "DaemonClient",
    "Directive",
    "Event",
    "Form",
    "Harvested",
    "Harvester",
    "HarvesterError",
    "Names",
    "Notice",
    "Parsed",
    "ParsedCall",
    "ScanPolicy",
    "Scanner",
    "ScannerClosed",
    "SkipReason",
    "Skipped",
    "Span",
    "Verdict",
    "Watcher",
    "harvest_reply",
    "names_for",
    "normalise",
    "parse",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
