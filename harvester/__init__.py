"""Text in, calls, results in the thread.

Public names: `parse` and what it gives; `Scanner` with its policy and events; `normalise`; `DaemonClient`;
`harvest_reply`, `Harvester` and `Watcher`; the errors. What needs the network is loaded when it is first
used, so that reading text loads no network module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from harvester.errors import ClientError, HarvesterError, ScannerClosed
from harvester.events import Directive, Event, Form, Skipped, SkipReason, Span, Verdict
from harvester.parse import Notice, Parsed, ParsedCall, parse
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from messaging.normalise import Names, names_for, normalise

if TYPE_CHECKING:
    from harvester.client import DaemonClient
    from harvester.harvest import Harvested, Harvester, harvest_reply
    from harvester.watch import Watcher

_MODULE_OF: Final = {
    "DaemonClient": "harvester.client",
    "Harvested": "harvester.harvest",
    "Harvester": "harvester.harvest",
    "Watcher": "harvester.watch",
    "harvest_reply": "harvester.harvest",
}

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
    return getattr(import_module(_MODULE_OF[name]), name)
